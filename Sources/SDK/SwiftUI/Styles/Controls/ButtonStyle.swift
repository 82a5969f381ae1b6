// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// Source: `SwiftUI.ButtonStyle`.
@MainActor @preconcurrency public protocol ButtonStyle {
  associatedtype Body: View
  typealias Configuration = ButtonStyleConfiguration
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension ButtonStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// Source: `SwiftUI.ButtonStyleConfiguration`.
public struct ButtonStyleConfiguration {
  nonisolated public struct Label: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  public let role: ButtonRole?
  public let label: Label
  /// `false` while the view is archived.
  public let isPressed: Bool
}

private struct ButtonStyleKey: EnvironmentKey {
  static var defaultValue: (any ButtonStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's style; `nil`: one of the system's.
  var buttonStyle: (any ButtonStyle)? {
    get { self[ButtonStyleKey.self] }
    set { self[ButtonStyleKey.self] = newValue }
  }
}

extension View {
  nonisolated public func buttonStyle<S: ButtonStyle>(_ style: S) -> some View {
    modified(.style(.buttonStyle), [.style: .string("\(S.self)")]) { $0.buttonStyle = style }
  }
  nonisolated public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View {
    modified(.style(.buttonStyle), [.style: .string((style as? any SystemStyle)?.name ?? "\(S.self)")]) {
      $0.buttonStyle = nil
    }
  }
  nonisolated public func buttonBorderShape(_ shape: ButtonBorderShape) -> some View {
    modified(.style(.buttonBorderShape), [.shape: shape.archived])
  }
}

/// A style of the system, which is archived by its name.
nonisolated protocol SystemStyle {
  var name: String { get }
}

/// A style of the system that can have its own tint.
nonisolated protocol TintedStyle: SystemStyle {
  var tint: Color? { get }
}

extension View {
  /// The view with the tint of a style, if it has one.
  @ViewBuilder nonisolated func tinted(by style: Any) -> some View {
    if let tint = (style as? any TintedStyle)?.tint { self.tint(tint) } else { self }
  }
}

/// Source: `SwiftUI.PrimitiveButtonStyle`. A widget uses only the system's styles; for an author's style the archive
/// holds the name.
@MainActor @preconcurrency public protocol PrimitiveButtonStyle {
  associatedtype Body: View
  typealias Configuration = PrimitiveButtonStyleConfiguration
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

/// Source: `SwiftUI.PrimitiveButtonStyleConfiguration`.
public struct PrimitiveButtonStyleConfiguration {
  public let role: ButtonRole?
  public let label: ButtonStyleConfiguration.Label
  /// Does nothing.
  public func trigger() {}
}

/// Source: `SwiftUI.ButtonRole`.
public struct ButtonRole: Equatable, Sendable, NamedArgument {
  let name: String
  public static let destructive = ButtonRole(name: "destructive")
  public static let cancel = ButtonRole(name: "cancel")
}

/// Source: `SwiftUI.ButtonBorderShape`.
public struct ButtonBorderShape: Equatable, Sendable, NamedArgument {
  let name: String
  public static let automatic = ButtonBorderShape(name: "automatic")
  public static let capsule = ButtonBorderShape(name: "capsule")
  public static let roundedRectangle = ButtonBorderShape(name: "roundedRectangle")
  public static let circle = ButtonBorderShape(name: "circle")
  public static func roundedRectangle(radius: CGFloat) -> ButtonBorderShape {
    ButtonBorderShape(name: "roundedRectangle \(Double(radius))")
  }
}

/// Source: `SwiftUI.DefaultButtonStyle`.
nonisolated public struct DefaultButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "automatic" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == DefaultButtonStyle {
  nonisolated public static var automatic: DefaultButtonStyle { DefaultButtonStyle() }
}

/// Source: `SwiftUI.PlainButtonStyle`.
nonisolated public struct PlainButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "plain" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == PlainButtonStyle {
  nonisolated public static var plain: PlainButtonStyle { PlainButtonStyle() }
}

/// Source: `SwiftUI.BorderlessButtonStyle`.
nonisolated public struct BorderlessButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "borderless" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == BorderlessButtonStyle {
  nonisolated public static var borderless: BorderlessButtonStyle { BorderlessButtonStyle() }
}

/// Source: `SwiftUI.BorderedButtonStyle`.
nonisolated public struct BorderedButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "bordered" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == BorderedButtonStyle {
  nonisolated public static var bordered: BorderedButtonStyle { BorderedButtonStyle() }
}

/// Source: `SwiftUI.BorderedProminentButtonStyle`.
nonisolated public struct BorderedProminentButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "borderedProminent" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == BorderedProminentButtonStyle {
  nonisolated public static var borderedProminent: BorderedProminentButtonStyle { BorderedProminentButtonStyle() }
}

/// Source: `SwiftUI.GlassButtonStyle`. Drawn like `bordered`.
nonisolated public struct GlassButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "bordered" }
  public init() {}
  public init(_ glass: Glass) {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == GlassButtonStyle {
  nonisolated public static var glass: GlassButtonStyle { GlassButtonStyle() }
  nonisolated public static func glass(_ glass: Glass) -> GlassButtonStyle { GlassButtonStyle(glass) }
}

/// Source: `SwiftUI.GlassProminentButtonStyle`. Drawn like `borderedProminent`.
nonisolated public struct GlassProminentButtonStyle: PrimitiveButtonStyle, SystemStyle {
  var name: String { "borderedProminent" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { configuration.label }
}

extension PrimitiveButtonStyle where Self == GlassProminentButtonStyle {
  nonisolated public static var glassProminent: GlassProminentButtonStyle { GlassProminentButtonStyle() }
}

/// Source: `SwiftUI.ToggleStyle`.
@MainActor @preconcurrency public protocol ToggleStyle {
  associatedtype Body: View
  typealias Configuration = ToggleStyleConfiguration
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension ToggleStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// Source: `SwiftUI.ToggleStyleConfiguration`.
public struct ToggleStyleConfiguration {
  nonisolated public struct Label: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  public let label: Label
  @Binding public var isOn: Bool
}

private struct ToggleStyleKey: EnvironmentKey {
  static var defaultValue: (any ToggleStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's style; `nil`: one of the system's.
  var toggleStyle: (any ToggleStyle)? {
    get { self[ToggleStyleKey.self] }
    set { self[ToggleStyleKey.self] = newValue }
  }
}

extension View {
  nonisolated public func toggleStyle<S: ToggleStyle>(_ style: S) -> some View {
    let known = style as? any SystemStyle
    return modified(.style(.toggleStyle), [.style: .string(known?.name ?? "\(S.self)")]) {
      $0.toggleStyle = known == nil ? style : nil
    }.tinted(by: style)
  }
}

/// Source: `SwiftUI.DefaultToggleStyle`.
nonisolated public struct DefaultToggleStyle: ToggleStyle, SystemStyle {
  var name: String { "automatic" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ToggleStyle where Self == DefaultToggleStyle {
  nonisolated public static var automatic: DefaultToggleStyle { DefaultToggleStyle() }
}

/// Source: `SwiftUI.SwitchToggleStyle`.
nonisolated public struct SwitchToggleStyle: ToggleStyle, TintedStyle {
  var name: String { "switch" }
  let tint: Color?
  public init() { tint = nil }
  public init(tint: Color) { self.tint = tint }
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ToggleStyle where Self == SwitchToggleStyle {
  nonisolated public static var `switch`: SwitchToggleStyle { SwitchToggleStyle() }
}

/// Source: `SwiftUI.ButtonToggleStyle`.
nonisolated public struct ButtonToggleStyle: ToggleStyle, SystemStyle {
  var name: String { "button" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ToggleStyle where Self == ButtonToggleStyle {
  nonisolated public static var button: ButtonToggleStyle { ButtonToggleStyle() }
}
