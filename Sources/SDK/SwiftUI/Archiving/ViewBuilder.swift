// SPDX-License-Identifier: Apache-2.0

package import Archive

/// Source: `SwiftUI.EmptyView`.
nonisolated public struct EmptyView: View, ArchivedView, Sendable {
  public typealias Body = Never
  public init() {}
  package func archive(in context: ArchivingContext) -> ViewArchive { .empty }
}

/// Source: `SwiftUI.TupleView`.
nonisolated public struct TupleView<T>: View, ArchivedView {
  public typealias Body = Never
  public var value: T
  private let views: [any View]

  init<each Content: View>(views: repeat each Content) where T == (repeat each Content) {
    value = (repeat each views)
    var all: [any View] = []
    for view in repeat each views { all.append(view) }
    self.views = all
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var children: [ViewArchive] = []
    for view in views { children += try context.children(of: view) }
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

  func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    switch storage {
    case .trueContent(let view): view
    case .falseContent(let view): view
    }
  }
}

extension Optional: View where Wrapped: View {
  public typealias Body = Never
}

extension Optional: WrappingView where Wrapped: View {
  func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    if let self { self } else { EmptyView() }
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
