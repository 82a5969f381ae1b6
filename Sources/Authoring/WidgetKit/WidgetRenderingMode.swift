import Archive

/// How the system colours a widget. Source: `WidgetKit.WidgetRenderingMode`.
public struct WidgetRenderingMode: Equatable, Sendable, CustomStringConvertible {
  let name: RenderingModeName

  /// In the author's colours.
  public static let fullColor = WidgetRenderingMode(name: .fullColor)
  /// In two groups, each of one colour.
  public static let accented = WidgetRenderingMode(name: .accented)
  /// By brightness alone, in the colours of what lies behind.
  public static let vibrant = WidgetRenderingMode(name: .vibrant)

  /// The mode's name.
  public var description: String { name.rawValue }
}

/// What becomes of an image in a widget that is accented. Source: `WidgetKit.WidgetAccentedRenderingMode`.
public struct WidgetAccentedRenderingMode: Hashable, Sendable {
  let name: String
  /// It is coloured as the accented group is.
  public static let accented = WidgetAccentedRenderingMode(name: "accented")
  /// It loses its colours.
  public static let desaturated = WidgetAccentedRenderingMode(name: "desaturated")
  /// It loses its colours, then is coloured as the accented group is.
  public static let accentedDesaturated = WidgetAccentedRenderingMode(name: "accentedDesaturated")
  /// It keeps its colours.
  public static let fullColor = WidgetAccentedRenderingMode(name: "fullColor")
}

/// From how far a widget is seen. Source: `WidgetKit.LevelOfDetail`; outside visionOS always the default.
public struct LevelOfDetail: Equatable, Sendable {
  let name: String
  /// From near.
  public static let `default` = LevelOfDetail(name: "default")
  /// From afar.
  public static let simplified = LevelOfDetail(name: "simplified")
}
