/// A part of a widget's picture. Source: `SwiftUI.View`.
@MainActor @preconcurrency public protocol View {
  /// What the view is made of.
  associatedtype Body: View
  /// The view's content.
  @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View {
  /// There is none.
  public typealias Body = Never
  /// There is none.
  public var body: Never { fatalError("Never has no instance") }
}

extension View where Body == Never {
  /// There is none: the archive knows the view by itself.
  public var body: Never { fatalError("\(Self.self) has no body") }
}
