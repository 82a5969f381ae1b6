// SPDX-License-Identifier: Apache-2.0

import Archive

/// How the system renders a widget. Source: `WidgetKit.WidgetRenderingMode`.
public struct WidgetRenderingMode: Equatable, Sendable, CustomStringConvertible {
  let name: RenderingModeName

  /// In the author's colours.
  public static let fullColor = WidgetRenderingMode(name: .fullColor)
  /// In two groups, each in one colour.
  public static let accented = WidgetRenderingMode(name: .accented)
  /// By brightness, in the colours of the background.
  public static let vibrant = WidgetRenderingMode(name: .vibrant)

  public var description: String { name.rawValue }
}

/// How an image is rendered in an accented widget. Source: `WidgetKit.WidgetAccentedRenderingMode`.
public struct WidgetAccentedRenderingMode: Hashable, Sendable {
  let name: String
  /// In the colour of the accented group.
  public static let accented = WidgetAccentedRenderingMode(name: "accented")
  /// Without colours.
  public static let desaturated = WidgetAccentedRenderingMode(name: "desaturated")
  /// Without colours, then in the colour of the accented group.
  public static let accentedDesaturated = WidgetAccentedRenderingMode(name: "accentedDesaturated")
  /// In its own colours.
  public static let fullColor = WidgetAccentedRenderingMode(name: "fullColor")
}

/// The level of detail for a viewing distance. Source: `WidgetKit.LevelOfDetail`; always the default outside visionOS.
public struct LevelOfDetail: Equatable, Sendable {
  let name: String
  /// For near viewing.
  public static let `default` = LevelOfDetail(name: "default")
  /// For distant viewing.
  public static let simplified = LevelOfDetail(name: "simplified")
}
