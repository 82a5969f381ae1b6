import Archive
public import Foundation

/// How buttons are drawn. Source: `SwiftUI.ButtonStyle`.
@MainActor @preconcurrency public protocol ButtonStyle {
  /// What one is drawn with.
  associatedtype Body: View
  /// What is drawn.
  typealias Configuration = ButtonStyleConfiguration
  /// Draws one.
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension ButtonStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// What is drawn. Source: `SwiftUI.ButtonStyleConfiguration`.
public struct ButtonStyleConfiguration {
  /// The button's label.
  nonisolated public struct Label: View, StyleLabel {
    /// There is none.
    public typealias Body = Never
    let view: any View
  }
  /// What the button is for.
  public let role: ButtonRole?
  /// The button's label.
  public let label: Label
  /// Whether a person touches it. Not while it is archived.
  public let isPressed: Bool
}

private struct ButtonStyleKey: EnvironmentKey {
  static var defaultValue: (any ButtonStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's own; `nil`: one of the system's.
  var buttonStyle: (any ButtonStyle)? {
    get { self[ButtonStyleKey.self] }
    set { self[ButtonStyleKey.self] = newValue }
  }
}

extension View {
  /// How buttons in the view are drawn.
  nonisolated public func buttonStyle<S: ButtonStyle>(_ style: S) -> some View {
    modified("buttonStyle", ["style": .string("\(S.self)")]) { $0.buttonStyle = style }
  }
  /// How buttons in the view are drawn.
  nonisolated public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View {
    modified("buttonStyle", ["style": .string((style as? any SystemStyle)?.name ?? "\(S.self)")]) {
      $0.buttonStyle = nil
    }
  }
  /// What form buttons have.
  nonisolated public func buttonBorderShape(_ shape: ButtonBorderShape) -> some View {
    modified("buttonBorderShape", ["shape": shape.archived])
  }
}

/// A style of the system, which is known by its name.
nonisolated protocol SystemStyle {
  var name: String { get }
}

/// How buttons are drawn, and when they act. Source: `SwiftUI.PrimitiveButtonStyle`. A widget uses the system's alone: of
/// an author's own the name is kept.
@MainActor @preconcurrency public protocol PrimitiveButtonStyle {
  /// What one is drawn with.
  associatedtype Body: View
  /// What is drawn.
  typealias Configuration = PrimitiveButtonStyleConfiguration
  /// Draws one.
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

/// What is drawn. Source: `SwiftUI.PrimitiveButtonStyleConfiguration`.
public struct PrimitiveButtonStyleConfiguration {
  /// What the button is for.
  public let role: ButtonRole?
  /// The button's label.
  public let label: ButtonStyleConfiguration.Label
  /// Nothing.
  public func trigger() {}
}

/// What a button is for. Source: `SwiftUI.ButtonRole`.
public struct ButtonRole: Equatable, Sendable, NamedArgument {
  let name: String
  /// It takes something away.
  public static let destructive = ButtonRole(name: "destructive")
  /// It leaves all as it was.
  public static let cancel = ButtonRole(name: "cancel")
}

/// What form buttons have. Source: `SwiftUI.ButtonBorderShape`.
public struct ButtonBorderShape: Equatable, Sendable, NamedArgument {
  let name: String
  /// The system's.
  public static let automatic = ButtonBorderShape(name: "automatic")
  /// A capsule.
  public static let capsule = ButtonBorderShape(name: "capsule")
  /// A rectangle with round corners.
  public static let roundedRectangle = ButtonBorderShape(name: "roundedRectangle")
  /// A circle.
  public static let circle = ButtonBorderShape(name: "circle")
  /// A rectangle with corners of a radius.
  public static func roundedRectangle(radius: CGFloat) -> ButtonBorderShape {
    ButtonBorderShape(name: "roundedRectangle \(Double(radius))")
  }
}

/// The system's. Source: `SwiftUI.DefaultButtonStyle`.
nonisolated public struct DefaultButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "automatic" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == DefaultButtonStyle {
  /// The system's.
  nonisolated public static var automatic: DefaultButtonStyle { DefaultButtonStyle() }
}

/// The label alone. Source: `SwiftUI.PlainButtonStyle`.
nonisolated public struct PlainButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "plain" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == PlainButtonStyle {
  /// The label alone.
  nonisolated public static var plain: PlainButtonStyle { PlainButtonStyle() }
}

/// Without a border. Source: `SwiftUI.BorderlessButtonStyle`.
nonisolated public struct BorderlessButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "borderless" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == BorderlessButtonStyle {
  /// Without a border.
  nonisolated public static var borderless: BorderlessButtonStyle { BorderlessButtonStyle() }
}

/// With a border. Source: `SwiftUI.BorderedButtonStyle`.
nonisolated public struct BorderedButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "bordered" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == BorderedButtonStyle {
  /// With a border.
  nonisolated public static var bordered: BorderedButtonStyle { BorderedButtonStyle() }
}

/// With a border, and filled. Source: `SwiftUI.BorderedProminentButtonStyle`.
nonisolated public struct BorderedProminentButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "borderedProminent" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == BorderedProminentButtonStyle {
  /// With a border, and filled.
  nonisolated public static var borderedProminent: BorderedProminentButtonStyle { BorderedProminentButtonStyle() }
}
