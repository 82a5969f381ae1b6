// SPDX-License-Identifier: Apache-2.0

import Archive

/// Source: `SwiftUI.GaugeStyle`.
@MainActor @preconcurrency public protocol GaugeStyle {
  associatedtype Body: View
  typealias Configuration = GaugeStyleConfiguration
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension GaugeStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// Source: `SwiftUI.GaugeStyleConfiguration`.
public struct GaugeStyleConfiguration {
  nonisolated public struct Label: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  nonisolated public struct CurrentValueLabel: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  nonisolated public struct MinimumValueLabel: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  nonisolated public struct MaximumValueLabel: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  /// From 0 to 1.
  public let value: Double
  public let label: Label
  public let currentValueLabel: CurrentValueLabel?
  public let minimumValueLabel: MinimumValueLabel?
  public let maximumValueLabel: MaximumValueLabel?
}

private struct GaugeStyleKey: EnvironmentKey {
  static var defaultValue: (any GaugeStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's style; `nil`: one of the system's.
  var gaugeStyle: (any GaugeStyle)? {
    get { self[GaugeStyleKey.self] }
    set { self[GaugeStyleKey.self] = newValue }
  }
}

extension View {
  nonisolated public func gaugeStyle<S: GaugeStyle>(_ style: S) -> some View {
    let known = style as? any SystemStyle
    return modified(.style(.gaugeStyle), [.style: .string(known?.name ?? "\(S.self)")]) {
      $0.gaugeStyle = known == nil ? style : nil
    }
  }
}

/// Source: `SwiftUI.DefaultGaugeStyle`.
nonisolated public struct DefaultGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "automatic" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == DefaultGaugeStyle {
  nonisolated public static var automatic: DefaultGaugeStyle { DefaultGaugeStyle() }
}

/// Source: `SwiftUI.AccessoryCircularGaugeStyle`.
nonisolated public struct AccessoryCircularGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "accessoryCircular" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == AccessoryCircularGaugeStyle {
  nonisolated public static var accessoryCircular: AccessoryCircularGaugeStyle { AccessoryCircularGaugeStyle() }
}

/// Source: `SwiftUI.AccessoryCircularCapacityGaugeStyle`.
nonisolated public struct AccessoryCircularCapacityGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "accessoryCircularCapacity" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == AccessoryCircularCapacityGaugeStyle {
  nonisolated public static var accessoryCircularCapacity: AccessoryCircularCapacityGaugeStyle {
    AccessoryCircularCapacityGaugeStyle()
  }
}

/// Source: `SwiftUI.AccessoryLinearGaugeStyle`.
nonisolated public struct AccessoryLinearGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "accessoryLinear" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == AccessoryLinearGaugeStyle {
  nonisolated public static var accessoryLinear: AccessoryLinearGaugeStyle { AccessoryLinearGaugeStyle() }
}

/// Source: `SwiftUI.AccessoryLinearCapacityGaugeStyle`.
nonisolated public struct AccessoryLinearCapacityGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "accessoryLinearCapacity" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == AccessoryLinearCapacityGaugeStyle {
  nonisolated public static var accessoryLinearCapacity: AccessoryLinearCapacityGaugeStyle {
    AccessoryLinearCapacityGaugeStyle()
  }
}

/// Source: `SwiftUI.LinearCapacityGaugeStyle`.
nonisolated public struct LinearCapacityGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "linearCapacity" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == LinearCapacityGaugeStyle {
  nonisolated public static var linearCapacity: LinearCapacityGaugeStyle { LinearCapacityGaugeStyle() }
}

/// Source: `SwiftUI.ProgressViewStyle`.
@MainActor @preconcurrency public protocol ProgressViewStyle {
  associatedtype Body: View
  typealias Configuration = ProgressViewStyleConfiguration
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension ProgressViewStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// Source: `SwiftUI.ProgressViewStyleConfiguration`.
public struct ProgressViewStyleConfiguration {
  nonisolated public struct Label: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  nonisolated public struct CurrentValueLabel: View, StyleLabel {
    public typealias Body = Never
    let view: any View
  }
  /// From 0 to 1.
  public let fractionCompleted: Double?
  public let label: Label?
  public let currentValueLabel: CurrentValueLabel?
}

private struct ProgressViewStyleKey: EnvironmentKey {
  static var defaultValue: (any ProgressViewStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's style; `nil`: one of the system's.
  var progressViewStyle: (any ProgressViewStyle)? {
    get { self[ProgressViewStyleKey.self] }
    set { self[ProgressViewStyleKey.self] = newValue }
  }
}

extension View {
  nonisolated public func progressViewStyle<S: ProgressViewStyle>(_ style: S) -> some View {
    let known = style as? any SystemStyle
    return modified(.style(.progressViewStyle), [.style: .string(known?.name ?? "\(S.self)")]) {
      $0.progressViewStyle = known == nil ? style : nil
    }.tinted(by: style)
  }
}

/// Source: `SwiftUI.DefaultProgressViewStyle`.
nonisolated public struct DefaultProgressViewStyle: ProgressViewStyle, SystemStyle {
  var name: String { "automatic" }
  public init() {}
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ProgressViewStyle where Self == DefaultProgressViewStyle {
  nonisolated public static var automatic: DefaultProgressViewStyle { DefaultProgressViewStyle() }
}

/// Source: `SwiftUI.LinearProgressViewStyle`.
nonisolated public struct LinearProgressViewStyle: ProgressViewStyle, TintedStyle {
  var name: String { "linear" }
  let tint: Color?
  public init() { tint = nil }
  public init(tint: Color) { self.tint = tint }
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ProgressViewStyle where Self == LinearProgressViewStyle {
  nonisolated public static var linear: LinearProgressViewStyle { LinearProgressViewStyle() }
}

/// Source: `SwiftUI.CircularProgressViewStyle`.
nonisolated public struct CircularProgressViewStyle: ProgressViewStyle, TintedStyle {
  var name: String { "circular" }
  let tint: Color?
  public init() { tint = nil }
  public init(tint: Color) { self.tint = tint }
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ProgressViewStyle where Self == CircularProgressViewStyle {
  nonisolated public static var circular: CircularProgressViewStyle { CircularProgressViewStyle() }
}
