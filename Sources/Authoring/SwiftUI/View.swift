package import Archive

/// A part of a widget's picture. Source: `SwiftUI.View`.
@MainActor @preconcurrency public protocol View {
  /// What the view is made of.
  associatedtype Body: View
  /// The view's content.
  @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

/// A view that the archive knows by itself.
@MainActor package protocol ArchivedView {
  /// The view as the host keeps and draws it.
  var archive: ViewArchive { get }
}

extension View {
  /// The view as the host keeps and draws it: its own archive, or that of its body.
  package var archived: ViewArchive {
    if let view = self as? any ArchivedView { return view.archive }
    guard Body.self != Never.self else {
      preconditionFailure("\(Self.self) has neither a body nor an archive")
    }
    return body.archived
  }
}

extension Never: View {
  /// There is none.
  public var body: Never { fatalError("Never has no instance") }
}

/// A view that shows nothing. Source: `SwiftUI.EmptyView`.
@MainActor @preconcurrency public struct EmptyView: View, ArchivedView {
  /// A view that shows nothing.
  public nonisolated init() {}
  /// There is none.
  public var body: Never { fatalError("EmptyView has no body") }
  package var archive: ViewArchive { .empty }
}

/// Several views one after the other. Source: `SwiftUI.TupleView`.
@MainActor @preconcurrency public struct TupleView<T>: View, ArchivedView {
  /// The views.
  public var value: T
  private let archives: @MainActor () -> [ViewArchive]

  init<each Content: View>(views: repeat each Content) where T == (repeat each Content) {
    value = (repeat each views)
    archives = {
      var all: [ViewArchive] = []
      for view in repeat each views { all.append(view.archived) }
      return all
    }
  }

  /// There is none.
  public var body: Never { fatalError("TupleView has no body") }
  package var archive: ViewArchive { .group(archives()) }
}

/// One of two views. Source: `SwiftUI._ConditionalContent`.
@MainActor @preconcurrency public struct _ConditionalContent<TrueContent: View, FalseContent: View>: View, ArchivedView
{
  enum Storage {
    case trueContent(TrueContent)
    case falseContent(FalseContent)
  }

  let storage: Storage

  /// There is none.
  public var body: Never { fatalError("_ConditionalContent has no body") }
  package var archive: ViewArchive {
    switch storage {
    case .trueContent(let view): view.archived
    case .falseContent(let view): view.archived
    }
  }
}

extension Optional: View where Wrapped: View {
  /// There is none.
  public var body: Never { fatalError("Optional has no body") }
}

extension Optional: ArchivedView where Wrapped: View {
  package var archive: ViewArchive { self?.archived ?? .empty }
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
  @MainActor public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> {
    TupleView(views: repeat each content)
  }
  /// `if` without `else`.
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  /// `if`.
  @MainActor public static func buildEither<TrueContent: View, FalseContent: View>(
    first: TrueContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .trueContent(first))
  }
  /// `else`.
  @MainActor public static func buildEither<TrueContent: View, FalseContent: View>(
    second: FalseContent
  ) -> _ConditionalContent<TrueContent, FalseContent> {
    _ConditionalContent(storage: .falseContent(second))
  }
}
