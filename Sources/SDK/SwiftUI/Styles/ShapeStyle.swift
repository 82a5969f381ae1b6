// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.ShapeStyle`.
public protocol ShapeStyle: Sendable {
  associatedtype Resolved: ShapeStyle = Never
  func resolve(in environment: EnvironmentValues) -> Resolved
}

extension Never: ShapeStyle {
  // `Never` resolves to itself; it has no values.
  public typealias Resolved = Never
}

extension ShapeStyle where Resolved == Never {
  /// Never called: the style is archived directly.
  public func resolve(in environment: EnvironmentValues) -> Never { fatalError("\(Self.self) is not resolved") }
}

/// A style with its own representation in the archive.
package protocol ArchivedStyle: ArchivedArgument {}

extension ShapeStyle {
  /// Returns the style without its Swift type: its own archive, or that of the style it resolves to in this
  /// environment.
  package func archived(in environment: EnvironmentValues) -> ArchivedValue {
    if let style = self as? any ArchivedStyle { return style.archived }
    guard Resolved.self != Never.self else { return .string("\(Self.self)") }
    return resolve(in: environment).archived(in: environment)
  }
}

/// Source: `SwiftUI.AnyShapeStyle`.
public struct AnyShapeStyle: ShapeStyle, ArchivedStyle {
  private let style: any ShapeStyle
  public init<S: ShapeStyle>(_ style: S) { self.style = style }
  package var archived: ArchivedValue { style.archived(in: .current) }
}

/// Source: `SwiftUI.HierarchicalShapeStyle`.
public struct HierarchicalShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  let name: String
}

/// Source: `SwiftUI.ForegroundStyle`.
public struct ForegroundStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "foreground" }
  public init() {}
}

/// Source: `SwiftUI.BackgroundStyle`.
public struct BackgroundStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "background" }
  public init() {}
}

/// Source: `SwiftUI.TintShapeStyle`.
public struct TintShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "tint" }
  public init() {}
}

/// Source: `SwiftUI.SeparatorShapeStyle`.
public struct SeparatorShapeStyle: ShapeStyle, ArchivedStyle, NamedArgument {
  var name: String { "separator" }
  public init() {}
}

/// Source: `SwiftUI.Material`.
public struct Material: ShapeStyle, ArchivedStyle, NamedArgument {
  let name: String
}

extension ShapeStyle where Self == HierarchicalShapeStyle {
  public static var primary: HierarchicalShapeStyle { .init(name: "primary") }
  public static var secondary: HierarchicalShapeStyle { .init(name: "secondary") }
  public static var tertiary: HierarchicalShapeStyle { .init(name: "tertiary") }
  public static var quaternary: HierarchicalShapeStyle { .init(name: "quaternary") }
  public static var quinary: HierarchicalShapeStyle { .init(name: "quinary") }
}

extension ShapeStyle where Self == ForegroundStyle {
  public static var foreground: ForegroundStyle { .init() }
}

extension ShapeStyle where Self == BackgroundStyle {
  public static var background: BackgroundStyle { .init() }
}

extension ShapeStyle where Self == TintShapeStyle {
  public static var tint: TintShapeStyle { .init() }
}

extension ShapeStyle where Self == SeparatorShapeStyle {
  public static var separator: SeparatorShapeStyle { .init() }
}

extension Material {
  public static let ultraThin = Material(name: "ultraThinMaterial"), thin = Material(name: "thinMaterial"),
    regular = Material(name: "regularMaterial"), thick = Material(name: "thickMaterial"),
    ultraThick = Material(name: "ultraThickMaterial"), bar = Material(name: "barMaterial")
}

extension ShapeStyle where Self == Material {
  public static var ultraThinMaterial: Material { .ultraThin }
  public static var thinMaterial: Material { .thin }
  public static var regularMaterial: Material { .regular }
  public static var thickMaterial: Material { .thick }
  public static var ultraThickMaterial: Material { .ultraThick }
  public static var bar: Material { .bar }
}

/// A style with a change, or one level of a hierarchical style.
nonisolated struct ChangedStyle<Style: ShapeStyle>: ShapeStyle, ArchivedStyle {
  enum Change: Sendable {
    case rank(String)
    case amount(ArgumentLabel, ArchivedValue)
  }

  let style: Style
  let change: Change

  package var archived: ArchivedValue {
    let own = style.archived(in: .current)
    switch change {
    case .amount(let label, let amount): return .record([.color: own, label: amount])
    case .rank(let rank):
      return own.string.map { .string("\($0) \(rank)") } ?? .record([.style: own, .rank: .string(rank)])
    }
  }
}

extension ShapeStyle {
  public func opacity(_ opacity: Double) -> some ShapeStyle {
    ChangedStyle(style: self, change: .amount(.opacity, opacity.archived))
  }
  public func blendMode(_ mode: BlendMode) -> some ShapeStyle {
    ChangedStyle(style: self, change: .amount(.blendMode, mode.archived))
  }
  public func shadow(_ style: ShadowStyle) -> some ShapeStyle {
    ChangedStyle(style: self, change: .amount(.shadow, style.archived))
  }
  public var secondary: some ShapeStyle { ChangedStyle(style: self, change: .rank("secondary")) }
  public var tertiary: some ShapeStyle { ChangedStyle(style: self, change: .rank("tertiary")) }
  public var quaternary: some ShapeStyle { ChangedStyle(style: self, change: .rank("quaternary")) }
  public var quinary: some ShapeStyle { ChangedStyle(style: self, change: .rank("quinary")) }
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

  private static func shadow(_ kind: String, color: Color, radius: CGFloat, x: CGFloat, y: CGFloat) -> Self {
    ShadowStyle(
      archived: .record([
        .kind: .string(kind), .color: color.value, .radius: radius.archived, .x: x.archived, .y: y.archived,
      ]))
  }
  /// Lengths are in points.
  public static func drop(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.33), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> ShadowStyle {
    shadow("drop", color: color, radius: radius, x: x, y: y)
  }
  /// Lengths are in points.
  public static func inner(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.55), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> ShadowStyle {
    shadow("inner", color: color, radius: radius, x: x, y: y)
  }
}

/// Repeats an image. Source: `SwiftUI.ImagePaint`. The picture of a widget does not show it, and notes that.
public struct ImagePaint: ShapeStyle, ArchivedStyle {
  public var image: Image
  /// In units of the image's size.
  public var sourceRect: CGRect
  public var scale: CGFloat

  public init(
    image: Image, sourceRect: CGRect = CGRect(x: 0, y: 0, width: 1, height: 1), scale: CGFloat = 1
  ) {
    self.image = image
    self.sourceRect = sourceRect
    self.scale = scale
  }

  package var archived: ArchivedValue { .record([.tiledImage: scale.archived]) }
}

extension ShapeStyle where Self == ImagePaint {
  public static func image(
    _ image: Image, sourceRect: CGRect = CGRect(x: 0, y: 0, width: 1, height: 1), scale: CGFloat = 1
  ) -> ImagePaint { ImagePaint(image: image, sourceRect: sourceRect, scale: scale) }
}
