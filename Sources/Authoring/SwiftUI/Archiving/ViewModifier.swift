import Archive

/// A change to views that has a name. Source: `SwiftUI.ViewModifier`.
@MainActor @preconcurrency public protocol ViewModifier {
  /// The changed view.
  associatedtype Body: View
  /// The view that is changed.
  typealias Content = _ViewModifier_Content<Self>
  /// The changed view.
  @ViewBuilder @MainActor @preconcurrency func body(content: Self.Content) -> Self.Body
}

/// The view that a modifier changes. Source: `SwiftUI._ViewModifier_Content`.
nonisolated public struct _ViewModifier_Content<Modifier: ViewModifier>: View, WrappingView {
  /// There is none.
  public typealias Body = Never
  fileprivate let view: any View

  func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    view
  }
}

/// A view and a change to it. Source: `SwiftUI.ModifiedContent`.
nonisolated public struct ModifiedContent<Content, Modifier> {
  /// The view.
  public var content: Content
  /// The change.
  public var modifier: Modifier
  /// A view and a change to it.
  public init(content: Content, modifier: Modifier) {
    self.content = content
    self.modifier = modifier
  }
}

extension ModifiedContent: View, WrappingView where Content: View, Modifier: ViewModifier {
  /// There is none.
  public typealias Body = Never

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View {
    try context.descend(into: self)
    return context.environment.during { modifier.body(content: _ViewModifier_Content(view: content)) }
  }
}

/// A change that changes nothing. Source: `SwiftUI.EmptyModifier`.
public struct EmptyModifier: ViewModifier {
  /// It changes nothing.
  public static let identity = EmptyModifier()
  /// It changes nothing.
  public init() {}
  /// The view as it is.
  public func body(content: Content) -> some View { content }
}

extension View {
  /// The view, changed.
  nonisolated public func modifier<T: ViewModifier>(_ modifier: T) -> ModifiedContent<Self, T> {
    ModifiedContent(content: self, modifier: modifier)
  }
}
