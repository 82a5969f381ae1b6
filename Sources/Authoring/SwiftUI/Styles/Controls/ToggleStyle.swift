import Archive

/// How toggles are drawn. Source: `SwiftUI.ToggleStyle`.
@MainActor @preconcurrency public protocol ToggleStyle {
  /// What one is drawn with.
  associatedtype Body: View
  /// What is drawn.
  typealias Configuration = ToggleStyleConfiguration
  /// Draws one.
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension ToggleStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// What is drawn. Source: `SwiftUI.ToggleStyleConfiguration`.
public struct ToggleStyleConfiguration {
  /// The toggle's label.
  nonisolated public struct Label: View, StyleLabel {
    /// There is none.
    public typealias Body = Never
    let view: any View
  }
  /// The toggle's label.
  public let label: Label
  /// Whether it is on.
  @Binding public var isOn: Bool
}

private struct ToggleStyleKey: EnvironmentKey {
  static var defaultValue: (any ToggleStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's own; `nil`: one of the system's.
  var toggleStyle: (any ToggleStyle)? {
    get { self[ToggleStyleKey.self] }
    set { self[ToggleStyleKey.self] = newValue }
  }
}

extension View {
  /// How toggles in the view are drawn.
  nonisolated public func toggleStyle<S: ToggleStyle>(_ style: S) -> some View {
    let known = style as? any SystemStyle
    return modified("toggleStyle", ["style": .string(known?.name ?? "\(S.self)")]) {
      $0.toggleStyle = known == nil ? style : nil
    }
  }
}

/// The system's. Source: `SwiftUI.DefaultToggleStyle`.
nonisolated public struct DefaultToggleStyle: ToggleStyle, SystemStyle {
  var name: String { "automatic" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ToggleStyle where Self == DefaultToggleStyle {
  /// The system's.
  nonisolated public static var automatic: DefaultToggleStyle { DefaultToggleStyle() }
}

/// A switch. Source: `SwiftUI.SwitchToggleStyle`.
nonisolated public struct SwitchToggleStyle: ToggleStyle, SystemStyle {
  var name: String { "switch" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ToggleStyle where Self == SwitchToggleStyle {
  /// A switch.
  nonisolated public static var `switch`: SwitchToggleStyle { SwitchToggleStyle() }
}

/// A button. Source: `SwiftUI.ButtonToggleStyle`.
nonisolated public struct ButtonToggleStyle: ToggleStyle, SystemStyle {
  var name: String { "button" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ToggleStyle where Self == ButtonToggleStyle {
  /// A button.
  nonisolated public static var button: ButtonToggleStyle { ButtonToggleStyle() }
}
