// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A colour. Source: `UIKit.UIColor`; only what widgets use.
public final class UIColor: Hashable, Sendable, _ExpressibleByColorLiteral {
  /// How the colour is specified.
  package enum Known: Hashable, Sendable {
    case name(String)
    case asset(BundleAssets.Name)
    case parts(red: Double, green: Double, blue: Double)
    case dynamic(DynamicColor)
  }

  package let known: Known
  /// From 0 to 1.
  package let alpha: Double

  init(_ known: Known, alpha: Double = 1) {
    self.known = known
    self.alpha = alpha
  }

  /// Components from 0 to 1.
  public convenience init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    self.init(.parts(red: Double(red), green: Double(green), blue: Double(blue)), alpha: Double(alpha))
  }
  public convenience init(white: CGFloat, alpha: CGFloat) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }
  public convenience init?(named name: String) { self.init(named: name, in: nil, compatibleWith: nil) }
  /// - Parameters:
  ///   - bundle: `nil` for the main bundle.
  ///   - traitCollection: has no effect: the colour has the appearance of the view that shows it.
  public convenience init?(named name: String, in bundle: Bundle?, compatibleWith traitCollection: UITraitCollection?) {
    self.init(.asset(BundleAssets.Name(name, in: bundle)))
  }
  /// The colour of `#colorLiteral`, with components from 0 to 1.
  public convenience init(_colorLiteralRed red: Float, green: Float, blue: Float, alpha: Float) {
    self.init(red: CGFloat(red), green: CGFloat(green), blue: CGFloat(blue), alpha: CGFloat(alpha))
  }

  public func withAlphaComponent(_ alpha: CGFloat) -> UIColor { UIColor(known, alpha: Double(alpha)) }

  public static func == (lhs: UIColor, rhs: UIColor) -> Bool { lhs.known == rhs.known && lhs.alpha == rhs.alpha }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(known)
    hasher.combine(alpha)
  }
}

extension UIColor {
  private static func named(_ name: String) -> UIColor { UIColor(.name(name)) }

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation, DontRepeatTypeInStaticProperties
  public static let black = named("black"), darkGray = named("darkGray"), lightGray = named("lightGray"),
    white = named("white"), gray = named("gray"), red = named("red"), green = named("green"), blue = named("blue"),
    cyan = named("cyan"), yellow = named("yellow"), magenta = named("magenta"), orange = named("orange"),
    purple = named("purple"), brown = named("brown"), clear = named("clear"), systemRed = named("systemRed"),
    systemGreen = named("systemGreen"), systemBlue = named("systemBlue"), systemOrange = named("systemOrange"),
    systemYellow = named("systemYellow"), systemPink = named("systemPink"), systemPurple = named("systemPurple"),
    systemTeal = named("systemTeal"), systemIndigo = named("systemIndigo"), systemBrown = named("systemBrown"),
    systemMint = named("systemMint"), systemCyan = named("systemCyan"), systemGray = named("systemGray"),
    systemGray2 = named("systemGray2"), systemGray3 = named("systemGray3"), systemGray4 = named("systemGray4"),
    systemGray5 = named("systemGray5"), systemGray6 = named("systemGray6"), label = named("label"),
    secondaryLabel = named("secondaryLabel"), tertiaryLabel = named("tertiaryLabel"),
    quaternaryLabel = named("quaternaryLabel"), placeholderText = named("placeholderText"), link = named("link"),
    separator = named("separator"), opaqueSeparator = named("opaqueSeparator"), tintColor = named("tintColor"),
    systemFill = named("systemFill"), secondarySystemFill = named("secondarySystemFill"),
    tertiarySystemFill = named("tertiarySystemFill"), quaternarySystemFill = named("quaternarySystemFill"),
    systemBackground = named("systemBackground"), secondarySystemBackground = named("secondarySystemBackground"),
    tertiarySystemBackground = named("tertiarySystemBackground"),
    systemGroupedBackground = named("systemGroupedBackground"),
    secondarySystemGroupedBackground = named("secondarySystemGroupedBackground"),
    tertiarySystemGroupedBackground = named("tertiarySystemGroupedBackground"), darkText = named("darkText"),
    lightText = named("lightText")
}
