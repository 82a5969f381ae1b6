// SPDX-License-Identifier: Apache-2.0

package import Archive

/// Source: `SwiftUI.EmptyView`.
nonisolated public struct EmptyView: View, ArchivedView, Sendable {
  public typealias Body = Never
  public init() {}
  package func archive(in context: ArchivingContext) -> ViewArchive { .empty }
}

/// Several views.
nonisolated protocol ViewTuple {
  var first: (any View)? { get }
}

/// Source: `SwiftUI.TupleView`.
nonisolated public struct TupleView<T>: View, ArchivedView, ViewTuple {
  public typealias Body = Never
  public var value: T
  private let views: [any View]

  var first: (any View)? { views.first }

  init<each Content: View>(views: repeat each Content) where T == (repeat each Content) {
    value = (repeat each views)
    var all: [any View] = []
    for view in repeat each views { all.append(view) }
    self.views = all
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var children: [ViewArchive] = []
    for (number, view) in views.enumerated() {
      children += try context.place(Self.self, number).children(of: view)
    }
    return .group(children)
  }
}

/// Source: `SwiftUI._ConditionalContent`.
nonisolated public struct _ConditionalContent<TrueContent, FalseContent> {
  enum Storage {
    case trueContent(TrueContent)
    case falseContent(FalseContent)
  }

  let storage: Storage
}

extension _ConditionalContent: View, WrappingView where TrueContent: View, FalseContent: View {
  public typealias Body = Never

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    switch storage {
    case .trueContent(let view):
      context.enter(Self.self, true)
      return view
    case .falseContent(let view):
      context.enter(Self.self, false)
      return view
    }
  }
}

extension Optional: View where Wrapped: View {
  public typealias Body = Never
}

extension Optional: WrappingView where Wrapped: View {
  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    guard let self else { return EmptyView() }
    context.enter(Self.self)
    return self
  }
}

/// Source: `SwiftUI.ViewBuilder`.
@resultBuilder public struct ViewBuilder {
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  @_disfavoredOverload public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> {
    TupleView(views: repeat each content)
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither<TrueContent: View, FalseContent: View>(
    first: TrueContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .trueContent(first))
  }
  public static func buildEither<TrueContent: View, FalseContent: View>(
    second: FalseContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .falseContent(second))
  }
  public static func buildLimitedAvailability<Content: View>(_ content: Content) -> AnyView { AnyView(content) }
}
