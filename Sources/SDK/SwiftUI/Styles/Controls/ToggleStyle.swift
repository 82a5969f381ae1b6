// SPDX-License-Identifier: Apache-2.0

import Archive

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
    return modified(.style(.toggleStyle), ["style": .string(known?.name ?? "\(S.self)")]) {
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
