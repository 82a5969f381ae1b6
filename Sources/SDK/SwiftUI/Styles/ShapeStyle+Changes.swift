// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// A style with a change, or one level of a hierarchical style.
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
  public func opacity(_ opacity: Double) -> some ShapeStyle {
    ChangedStyle(style: self, change: "opacity", amount: opacity.archived)
  }
  public func blendMode(_ mode: BlendMode) -> some ShapeStyle {
    ChangedStyle(style: self, change: "blendMode", amount: mode.archived)
  }
  public func shadow(_ style: ShadowStyle) -> some ShapeStyle {
    ChangedStyle(style: self, change: "shadow", amount: style.archived)
  }
  public var secondary: some ShapeStyle { ChangedStyle(style: self, change: "secondary") }
  public var tertiary: some ShapeStyle { ChangedStyle(style: self, change: "tertiary") }
  public var quaternary: some ShapeStyle { ChangedStyle(style: self, change: "quaternary") }
  public var quinary: some ShapeStyle { ChangedStyle(style: self, change: "quinary") }
}

/// Source: `SwiftUI.FillShapeStyle`.
public struct FillShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "fill" }
  public init() {}
}

/// Source: `SwiftUI.WindowBackgroundShapeStyle`.
public struct WindowBackgroundShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "windowBackground" }
  public init() {}
}

extension ShapeStyle where Self == FillShapeStyle {
  public static var fill: FillShapeStyle { FillShapeStyle() }
}

extension ShapeStyle where Self == WindowBackgroundShapeStyle {
  public static var windowBackground: WindowBackgroundShapeStyle { WindowBackgroundShapeStyle() }
}

/// Source: `SwiftUI.ShadowStyle`.
public struct ShadowStyle: Equatable, Sendable {
  let archived: ArchivedValue

  private static func shadow(_ kind: String, _ color: Color, _ radius: CGFloat, _ x: CGFloat, _ y: CGFloat) -> Self {
    ShadowStyle(
      archived: .record([
        "kind": .string(kind), "color": color.value, "radius": radius.archived, "x": x.archived, "y": y.archived,
      ]))
  }
  /// Lengths are in points.
  public static func drop(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.33), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> ShadowStyle {
    shadow("drop", color, radius, x, y)
  }
  /// Lengths are in points.
  public static func inner(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.55), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> ShadowStyle {
    shadow("inner", color, radius, x, y)
  }
}
