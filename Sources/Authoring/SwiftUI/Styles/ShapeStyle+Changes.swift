import Archive
public import Foundation

/// A style with a change to it, or a rank of it.
nonisolated struct ChangedStyle<Style: ShapeStyle>: ShapeStyle, ArchivedStyle {
  let style: Style
  let change: String
  var amount: ArchivedValue?

  package var archived: ArchivedValue {
    let own = style.archived(in: .current)
    if let amount { return .record(["color": own, change: amount]) }
    return own.string.map { .string("\($0) \(change)") } ?? .record(["style": own, "rank": .string(change)])
  }
}

extension ShapeStyle {
  /// The style with less to see of it.
  public func opacity(_ opacity: Double) -> some ShapeStyle {
    ChangedStyle(style: self, change: "opacity", amount: opacity.archived)
  }
  /// How the style's colours meet those below.
  public func blendMode(_ mode: BlendMode) -> some ShapeStyle {
    ChangedStyle(style: self, change: "blendMode", amount: mode.archived)
  }
  /// The style with a shadow.
  public func shadow(_ style: ShadowStyle) -> some ShapeStyle {
    ChangedStyle(style: self, change: "shadow", amount: style.archived)
  }
  /// The second of the style.
  public var secondary: some ShapeStyle { ChangedStyle(style: self, change: "secondary") }
  /// The third of the style.
  public var tertiary: some ShapeStyle { ChangedStyle(style: self, change: "tertiary") }
  /// The fourth of the style.
  public var quaternary: some ShapeStyle { ChangedStyle(style: self, change: "quaternary") }
  /// The fifth of the style.
  public var quinary: some ShapeStyle { ChangedStyle(style: self, change: "quinary") }
}

/// What large forms are filled with. Source: `SwiftUI.FillShapeStyle`.
public struct FillShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "fill" }
  /// The system's.
  public init() {}
}

/// A colour of the window. Source: `SwiftUI.WindowBackgroundShapeStyle`.
public struct WindowBackgroundShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "windowBackground" }
  /// The system's.
  public init() {}
}

extension ShapeStyle where Self == FillShapeStyle {
  /// What large forms are filled with.
  public static var fill: FillShapeStyle { FillShapeStyle() }
}

extension ShapeStyle where Self == WindowBackgroundShapeStyle {
  /// A colour of the window.
  public static var windowBackground: WindowBackgroundShapeStyle { WindowBackgroundShapeStyle() }
}

/// A shadow. Source: `SwiftUI.ShadowStyle`.
public struct ShadowStyle: Equatable, Sendable {
  let archived: ArchivedValue

  private static func shadow(_ kind: String, _ color: Color, _ radius: CGFloat, _ x: CGFloat, _ y: CGFloat) -> Self {
    ShadowStyle(
      archived: .record([
        "kind": .string(kind), "color": color.value, "radius": radius.archived, "x": x.archived, "y": y.archived,
      ]))
  }
  /// Behind; points.
  public static func drop(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.33), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> ShadowStyle {
    shadow("drop", color, radius, x, y)
  }
  /// Within; points.
  public static func inner(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.55), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> ShadowStyle {
    shadow("inner", color, radius, x, y)
  }
}
