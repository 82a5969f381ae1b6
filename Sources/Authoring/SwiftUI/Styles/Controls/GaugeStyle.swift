import Archive

/// How gauges are drawn. Source: `SwiftUI.GaugeStyle`.
@MainActor @preconcurrency public protocol GaugeStyle {
  /// What one is drawn with.
  associatedtype Body: View
  /// What is drawn.
  typealias Configuration = GaugeStyleConfiguration
  /// Draws one.
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension GaugeStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// What is drawn. Source: `SwiftUI.GaugeStyleConfiguration`.
public struct GaugeStyleConfiguration {
  /// The gauge's label.
  nonisolated public struct Label: View, StyleLabel {
    /// There is none.
    public typealias Body = Never
    let view: any View
  }
  /// The value's label.
  nonisolated public struct CurrentValueLabel: View, StyleLabel {
    /// There is none.
    public typealias Body = Never
    let view: any View
  }
  /// The least value's label.
  nonisolated public struct MinimumValueLabel: View, StyleLabel {
    /// There is none.
    public typealias Body = Never
    let view: any View
  }
  /// The greatest value's label.
  nonisolated public struct MaximumValueLabel: View, StyleLabel {
    /// There is none.
    public typealias Body = Never
    let view: any View
  }
  /// From 0 to 1.
  public let value: Double
  /// The gauge's label.
  public let label: Label
  /// The value's label.
  public let currentValueLabel: CurrentValueLabel?
  /// The least value's label.
  public let minimumValueLabel: MinimumValueLabel?
  /// The greatest value's label.
  public let maximumValueLabel: MaximumValueLabel?
}

private struct GaugeStyleKey: EnvironmentKey {
  static var defaultValue: (any GaugeStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's own; `nil`: one of the system's.
  var gaugeStyle: (any GaugeStyle)? {
    get { self[GaugeStyleKey.self] }
    set { self[GaugeStyleKey.self] = newValue }
  }
}

extension View {
  /// How gauges in the view are drawn.
  nonisolated public func gaugeStyle<S: GaugeStyle>(_ style: S) -> some View {
    let known = style as? any SystemStyle
    return modified("gaugeStyle", ["style": .string(known?.name ?? "\(S.self)")]) {
      $0.gaugeStyle = known == nil ? style : nil
    }
  }
}

/// The system's. Source: `SwiftUI.DefaultGaugeStyle`.
nonisolated public struct DefaultGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "automatic" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == DefaultGaugeStyle {
  /// The system's.
  nonisolated public static var automatic: DefaultGaugeStyle { DefaultGaugeStyle() }
}

/// An open ring with a mark. Source: `SwiftUI.AccessoryCircularGaugeStyle`.
nonisolated public struct AccessoryCircularGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "accessoryCircular" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == AccessoryCircularGaugeStyle {
  /// An open ring with a mark.
  nonisolated public static var accessoryCircular: AccessoryCircularGaugeStyle { AccessoryCircularGaugeStyle() }
}

/// A ring, filled as far as the value. Source: `SwiftUI.AccessoryCircularCapacityGaugeStyle`.
nonisolated public struct AccessoryCircularCapacityGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "accessoryCircularCapacity" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == AccessoryCircularCapacityGaugeStyle {
  /// A ring, filled as far as the value.
  nonisolated public static var accessoryCircularCapacity: AccessoryCircularCapacityGaugeStyle {
    AccessoryCircularCapacityGaugeStyle()
  }
}

/// A bar with a mark. Source: `SwiftUI.AccessoryLinearGaugeStyle`.
nonisolated public struct AccessoryLinearGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "accessoryLinear" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == AccessoryLinearGaugeStyle {
  /// A bar with a mark.
  nonisolated public static var accessoryLinear: AccessoryLinearGaugeStyle { AccessoryLinearGaugeStyle() }
}

/// A bar, filled as far as the value. Source: `SwiftUI.AccessoryLinearCapacityGaugeStyle`.
nonisolated public struct AccessoryLinearCapacityGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "accessoryLinearCapacity" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == AccessoryLinearCapacityGaugeStyle {
  /// A bar, filled as far as the value.
  nonisolated public static var accessoryLinearCapacity: AccessoryLinearCapacityGaugeStyle {
    AccessoryLinearCapacityGaugeStyle()
  }
}

/// A bar, filled as far as the value. Source: `SwiftUI.LinearCapacityGaugeStyle`.
nonisolated public struct LinearCapacityGaugeStyle: GaugeStyle, SystemStyle {
  var name: String { "linearCapacity" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension GaugeStyle where Self == LinearCapacityGaugeStyle {
  /// A bar, filled as far as the value.
  nonisolated public static var linearCapacity: LinearCapacityGaugeStyle { LinearCapacityGaugeStyle() }
}
