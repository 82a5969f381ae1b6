// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A font. Source: `UIKit.UIFont`. The metrics are those of Apple's system font, whatever the name.
public final class UIFont: NSObject, Sendable {
  /// Source: `UIKit.UIFont.Weight`.
  public struct Weight: Hashable, RawRepresentable, Sendable {
    public let rawValue: CGFloat
    public init(rawValue: CGFloat) { self.rawValue = rawValue }
    public static let ultraLight = Weight(rawValue: -0.8), thin = Weight(rawValue: -0.6),
      light = Weight(rawValue: -0.4),
      regular = Weight(rawValue: 0), medium = Weight(rawValue: 0.23), semibold = Weight(rawValue: 0.3),
      bold = Weight(rawValue: 0.4), heavy = Weight(rawValue: 0.56), black = Weight(rawValue: 0.62)
  }

  /// Source: `UIKit.UIFont.TextStyle`.
  public struct TextStyle: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let largeTitle = TextStyle(rawValue: "UICTFontTextStyleTitle0"),
      title1 = TextStyle(rawValue: "UICTFontTextStyleTitle1"), title2 = TextStyle(rawValue: "UICTFontTextStyleTitle2"),
      title3 = TextStyle(rawValue: "UICTFontTextStyleTitle3"),
      headline = TextStyle(rawValue: "UICTFontTextStyleHeadline"),
      subheadline = TextStyle(rawValue: "UICTFontTextStyleSubhead"),
      body = TextStyle(rawValue: "UICTFontTextStyleBody"),
      callout = TextStyle(rawValue: "UICTFontTextStyleCallout"),
      footnote = TextStyle(rawValue: "UICTFontTextStyleFootnote"),
      caption1 = TextStyle(rawValue: "UICTFontTextStyleCaption1"),
      caption2 = TextStyle(rawValue: "UICTFontTextStyleCaption2")

    /// In points, with the text size `large`. Source: Human Interface Guidelines, *Typography*.
    var size: CGFloat {
      switch self {
      case .largeTitle: 34
      case .title1: 28
      case .title2: 22
      case .title3: 20
      case .callout: 16
      case .subheadline: 15
      case .footnote: 13
      case .caption1: 12
      case .caption2: 11
      default: 17
      }
    }
  }

  /// The form of the letters.
  package enum Design: String, Sendable {
    case standard, monospaced, monospacedDigit, italic
  }

  public let pointSize: CGFloat
  public let fontName: String
  package let weight: Weight
  package let design: Design
  /// The name of a font of the author; `nil` for the system's.
  package let ownName: String?

  private init(_ size: CGFloat, _ weight: Weight, _ design: Design = .standard, named name: String? = nil) {
    pointSize = size
    self.weight = weight
    self.design = design
    ownName = name
    fontName = name ?? ".SFUI-Regular"
  }

  public convenience init?(name fontName: String, size fontSize: CGFloat) {
    guard !fontName.isEmpty else { return nil }
    self.init(fontSize, .regular, named: fontName)
  }

  /// The families of the fonts that the bundle registers with `UIAppFonts`, and that the process registers. The families
  /// of iOS do not exist here.
  public static var familyNames: [String] {
    Set(BundleFonts.main.families.keys).union(RegisteredFonts.shared.families.keys).sorted()
  }
  public static func fontNames(forFamilyName familyName: String) -> [String] {
    let bundled = BundleFonts.main.families[familyName] ?? []
    return Set(bundled).union(RegisteredFonts.shared.families[familyName] ?? []).sorted()
  }

  public static var systemFontSize: CGFloat { 14 }
  public static var smallSystemFontSize: CGFloat { 12 }
  public static var labelFontSize: CGFloat { 17 }

  public static func systemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(fontSize, .regular) }
  public static func systemFont(ofSize fontSize: CGFloat, weight: Weight) -> UIFont { UIFont(fontSize, weight) }
  public static func boldSystemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(fontSize, .semibold) }
  public static func italicSystemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(fontSize, .regular, .italic) }
  public static func monospacedSystemFont(ofSize fontSize: CGFloat, weight: Weight) -> UIFont {
    UIFont(fontSize, weight, .monospaced)
  }
  public static func monospacedDigitSystemFont(ofSize fontSize: CGFloat, weight: Weight) -> UIFont {
    UIFont(fontSize, weight, .monospacedDigit)
  }
  public static func preferredFont(forTextStyle style: TextStyle) -> UIFont {
    preferredFont(forTextStyle: style, compatibleWith: nil)
  }
  public static func preferredFont(
    forTextStyle style: TextStyle, compatibleWith traitCollection: UITraitCollection?
  ) -> UIFont {
    let size = UIFontMetrics(forTextStyle: style).scaledValue(for: style.size, compatibleWith: traitCollection)
    return UIFont(size, style == .headline ? .semibold : .regular)
  }

  public func withSize(_ fontSize: CGFloat) -> UIFont { UIFont(fontSize, weight, design, named: ownName) }

  public var familyName: String { ownName ?? ".AppleSystemUIFont" }
  public var ascender: CGFloat { pointSize * 0.952 }
  public var descender: CGFloat { pointSize * -0.241 }
  public var capHeight: CGFloat { pointSize * 0.705 }
  public var xHeight: CGFloat { pointSize * 0.526 }
  public var leading: CGFloat { 0 }
  public var lineHeight: CGFloat { pointSize * 1.193 }
}

/// Scales sizes by the user's text size. Source: `UIKit.UIFontMetrics`. All styles scale like `body`.
public final class UIFontMetrics: NSObject, Sendable {
  private let style: UIFont.TextStyle

  public init(forTextStyle textStyle: UIFont.TextStyle) { style = textStyle }
  public static let `default` = UIFontMetrics(forTextStyle: .body)

  /// The size of `body` by the text size. Source: Human Interface Guidelines, *Typography*.
  private static let sizes: [CGFloat] = [14, 15, 16, 17, 19, 21, 23, 28, 33, 40, 47, 53]

  public func scaledValue(for value: CGFloat) -> CGFloat { scaledValue(for: value, compatibleWith: nil) }
  public func scaledValue(for value: CGFloat, compatibleWith traitCollection: UITraitCollection?) -> CGFloat {
    let category = (traitCollection ?? .current).preferredContentSizeCategory
    let size = UIContentSizeCategory.all.firstIndex(of: category).map { Self.sizes[$0] } ?? 17
    return value * size / 17
  }
  public func scaledFont(for font: UIFont) -> UIFont { font.withSize(scaledValue(for: font.pointSize)) }
  public func scaledFont(for font: UIFont, maximumPointSize: CGFloat) -> UIFont {
    font.withSize(min(maximumPointSize, scaledValue(for: font.pointSize)))
  }
}
