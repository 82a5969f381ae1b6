import Archive

/// How progress views are drawn. Source: `SwiftUI.ProgressViewStyle`.
@MainActor @preconcurrency public protocol ProgressViewStyle {
  /// What one is drawn with.
  associatedtype Body: View
  /// What is drawn.
  typealias Configuration = ProgressViewStyleConfiguration
  /// Draws one.
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension ProgressViewStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// What is drawn. Source: `SwiftUI.ProgressViewStyleConfiguration`.
public struct ProgressViewStyleConfiguration {
  /// The label.
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
  /// From 0 to 1.
  public let fractionCompleted: Double?
  /// The label.
  public let label: Label?
  /// The value's label.
  public let currentValueLabel: CurrentValueLabel?
}

private struct ProgressViewStyleKey: EnvironmentKey {
  static var defaultValue: (any ProgressViewStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's own; `nil`: one of the system's.
  var progressViewStyle: (any ProgressViewStyle)? {
    get { self[ProgressViewStyleKey.self] }
    set { self[ProgressViewStyleKey.self] = newValue }
  }
}

extension View {
  /// How progress views in the view are drawn.
  nonisolated public func progressViewStyle<S: ProgressViewStyle>(_ style: S) -> some View {
    let known = style as? any SystemStyle
    return modified("progressViewStyle", ["style": .string(known?.name ?? "\(S.self)")]) {
      $0.progressViewStyle = known == nil ? style : nil
    }
  }
}

/// The system's. Source: `SwiftUI.DefaultProgressViewStyle`.
nonisolated public struct DefaultProgressViewStyle: ProgressViewStyle, SystemStyle {
  var name: String { "automatic" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ProgressViewStyle where Self == DefaultProgressViewStyle {
  /// The system's.
  nonisolated public static var automatic: DefaultProgressViewStyle { DefaultProgressViewStyle() }
}

/// A bar. Source: `SwiftUI.LinearProgressViewStyle`.
nonisolated public struct LinearProgressViewStyle: ProgressViewStyle, SystemStyle {
  var name: String { "linear" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ProgressViewStyle where Self == LinearProgressViewStyle {
  /// A bar.
  nonisolated public static var linear: LinearProgressViewStyle { LinearProgressViewStyle() }
}

/// A ring. Source: `SwiftUI.CircularProgressViewStyle`.
nonisolated public struct CircularProgressViewStyle: ProgressViewStyle, SystemStyle {
  var name: String { "circular" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension ProgressViewStyle where Self == CircularProgressViewStyle {
  /// A ring.
  nonisolated public static var circular: CircularProgressViewStyle { CircularProgressViewStyle() }
}
