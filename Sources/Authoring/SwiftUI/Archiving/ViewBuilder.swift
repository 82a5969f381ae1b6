package import Archive

/// A view that shows nothing. Source: `SwiftUI.EmptyView`.
nonisolated public struct EmptyView: View, ArchivedView, Sendable {
  /// There is none.
  public typealias Body = Never
  /// A view that shows nothing.
  public init() {}
  package func archive(in context: ArchivingContext) -> ViewArchive { .empty }
}

/// Several views one after the other. Source: `SwiftUI.TupleView`.
nonisolated public struct TupleView<T>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  /// The views.
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

/// One of two views. Source: `SwiftUI._ConditionalContent`.
nonisolated public struct _ConditionalContent<TrueContent, FalseContent> {
  enum Storage {
    case trueContent(TrueContent)
    case falseContent(FalseContent)
  }

  let storage: Storage
}

extension _ConditionalContent: View, WrappingView where TrueContent: View, FalseContent: View {
  /// There is none.
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
  /// There is none.
  public typealias Body = Never
}

extension Optional: WrappingView where Wrapped: View {
  func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    if let self { self } else { EmptyView() }
  }
}

/// Makes one view of several. Source: `SwiftUI.ViewBuilder`.
@resultBuilder public struct ViewBuilder {
  /// A view as it stands.
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  /// No view.
  public static func buildBlock() -> EmptyView { EmptyView() }
  /// One view.
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  /// Several views.
  @_disfavoredOverload public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> {
    TupleView(views: repeat each content)
  }
  /// `if` without `else`.
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  /// `if`.
  public static func buildEither<TrueContent: View, FalseContent: View>(
    first: TrueContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .trueContent(first))
  }
  /// `else`.
  public static func buildEither<TrueContent: View, FalseContent: View>(
    second: FalseContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .falseContent(second))
  }
  /// `if #available`.
  public static func buildLimitedAvailability<Content: View>(_ content: Content) -> AnyView { AnyView(content) }
}
