import Archive

/// How labels are drawn. Source: `SwiftUI.LabelStyle`.
@MainActor @preconcurrency public protocol LabelStyle {
  /// What one is drawn with.
  associatedtype Body: View
  /// What is drawn.
  typealias Configuration = LabelStyleConfiguration
  /// Draws one.
  @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Self.Configuration) -> Self.Body
}

extension LabelStyle {
  func body(of configuration: Configuration) -> any View { makeBody(configuration: configuration) }
}

/// What is drawn. Source: `SwiftUI.LabelStyleConfiguration`.
public struct LabelStyleConfiguration {
  /// The text.
  nonisolated public struct Title: View, StyleLabel {
    /// There is none.
    public typealias Body = Never
    let view: any View
  }
  /// The picture.
  nonisolated public struct Icon: View, StyleLabel {
    /// There is none.
    public typealias Body = Never
    let view: any View
  }
  /// The text.
  public let title: Title
  /// The picture.
  public let icon: Icon
}

private struct LabelStyleKey: EnvironmentKey {
  static var defaultValue: (any LabelStyle)? { nil }
}

extension EnvironmentValues {
  /// The author's own; `nil`: one of the system's.
  var labelStyle: (any LabelStyle)? {
    get { self[LabelStyleKey.self] }
    set { self[LabelStyleKey.self] = newValue }
  }
}

extension View {
  /// How labels in the view are drawn.
  nonisolated public func labelStyle<S: LabelStyle>(_ style: S) -> some View {
    let known = style as? any SystemStyle
    return modified("labelStyle", ["style": .string(known?.name ?? "\(S.self)")]) {
      $0.labelStyle = known == nil ? style : nil
    }
  }
}

/// The system's. Source: `SwiftUI.DefaultLabelStyle`.
nonisolated public struct DefaultLabelStyle: LabelStyle, SystemStyle {
  var name: String { "automatic" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension LabelStyle where Self == DefaultLabelStyle {
  /// The system's.
  nonisolated public static var automatic: DefaultLabelStyle { DefaultLabelStyle() }
}

/// The picture alone. Source: `SwiftUI.IconOnlyLabelStyle`.
nonisolated public struct IconOnlyLabelStyle: LabelStyle, SystemStyle {
  var name: String { "iconOnly" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension LabelStyle where Self == IconOnlyLabelStyle {
  /// The picture alone.
  nonisolated public static var iconOnly: IconOnlyLabelStyle { IconOnlyLabelStyle() }
}

/// The text alone. Source: `SwiftUI.TitleOnlyLabelStyle`.
nonisolated public struct TitleOnlyLabelStyle: LabelStyle, SystemStyle {
  var name: String { "titleOnly" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension LabelStyle where Self == TitleOnlyLabelStyle {
  /// The text alone.
  nonisolated public static var titleOnly: TitleOnlyLabelStyle { TitleOnlyLabelStyle() }
}

/// Both. Source: `SwiftUI.TitleAndIconLabelStyle`.
nonisolated public struct TitleAndIconLabelStyle: LabelStyle, SystemStyle {
  var name: String { "titleAndIcon" }
  /// The style.
  public init() {}
  /// The system draws it.
  @MainActor public func makeBody(configuration: Configuration) -> some View { EmptyView() }
}

extension LabelStyle where Self == TitleAndIconLabelStyle {
  /// Both.
  nonisolated public static var titleAndIcon: TitleAndIconLabelStyle { TitleAndIconLabelStyle() }
}
