// SPDX-License-Identifier: Apache-2.0

public import CoreGraphicsAPI
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

  package let knownColor: Known
  /// From 0 to 1.
  package let alpha: Double

  init(_ knownColor: Known, alpha: Double = 1) {
    self.knownColor = knownColor
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

  public func withAlphaComponent(_ alpha: CGFloat) -> UIColor { UIColor(knownColor, alpha: Double(alpha)) }

  public static func == (lhs: UIColor, rhs: UIColor) -> Bool {
    lhs.knownColor == rhs.knownColor && lhs.alpha == rhs.alpha
  }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(knownColor)
    hasher.combine(alpha)
  }
}

extension UIColor {
  private static func named(_ name: String) -> UIColor { UIColor(.name(name)) }
  /// Source: the header of UIColor.
  private static func fixed(_ red: Double, _ green: Double, _ blue: Double) -> UIColor {
    UIColor(.parts(red: red, green: green, blue: blue))
  }

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation, DontRepeatTypeInStaticProperties
  public static let black = named("black"), white = named("white"), clear = named("clear"),
    darkGray = UIColor(white: 1.0 / 3, alpha: 1), lightGray = UIColor(white: 2.0 / 3, alpha: 1),
    gray = UIColor(white: 0.5, alpha: 1), red = fixed(1, 0, 0), green = fixed(0, 1, 0), blue = fixed(0, 0, 1),
    cyan = fixed(0, 1, 1), yellow = fixed(1, 1, 0), magenta = fixed(1, 0, 1), orange = fixed(1, 0.5, 0),
    purple = fixed(0.5, 0, 0.5), brown = fixed(0.6, 0.4, 0.2), darkText = named("black"),
    lightText = named("white").withAlphaComponent(0.6)

  // swift-format-ignore: AllPublicDeclarationsHaveDocumentation, DontRepeatTypeInStaticProperties
  public static let systemRed = named("systemRed"), systemGreen = named("systemGreen"),
    systemBlue = named("systemBlue"), systemOrange = named("systemOrange"), systemYellow = named("systemYellow"),
    systemPink = named("systemPink"), systemPurple = named("systemPurple"), systemTeal = named("systemTeal"),
    systemIndigo = named("systemIndigo"), systemBrown = named("systemBrown"), systemMint = named("systemMint"),
    systemCyan = named("systemCyan"), systemGray = named("systemGray"), systemGray2 = named("systemGray2"),
    systemGray3 = named("systemGray3"), systemGray4 = named("systemGray4"), systemGray5 = named("systemGray5"),
    systemGray6 = named("systemGray6"), label = named("label"), secondaryLabel = named("secondaryLabel"),
    tertiaryLabel = named("tertiaryLabel"), quaternaryLabel = named("quaternaryLabel"),
    placeholderText = named("placeholderText"), link = named("link"), separator = named("separator"),
    opaqueSeparator = named("opaqueSeparator"), tintColor = named("tintColor"), systemFill = named("systemFill"),
    secondarySystemFill = named("secondarySystemFill"), tertiarySystemFill = named("tertiarySystemFill"),
    quaternarySystemFill = named("quaternarySystemFill"), systemBackground = named("systemBackground"),
    secondarySystemBackground = named("secondarySystemBackground"),
    tertiarySystemBackground = named("tertiarySystemBackground"),
    systemGroupedBackground = named("systemGroupedBackground"),
    secondarySystemGroupedBackground = named("secondarySystemGroupedBackground"),
    tertiarySystemGroupedBackground = named("tertiarySystemGroupedBackground")
}

/// A closure that makes the colour for a trait, such as a dark one. Two are equal if they are the same object.
package final class DynamicColor: Hashable, Sendable {
  // Called on the threads that the author's views are evaluated on, as UIKit does.
  nonisolated(unsafe) private let make: (UITraitCollection) -> UIColor

  init(_ make: @escaping (UITraitCollection) -> UIColor) { self.make = make }

  package func color(for traits: UITraitCollection) -> UIColor { make(traits) }

  package static func == (lhs: DynamicColor, rhs: DynamicColor) -> Bool { lhs === rhs }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UIColor {
  package convenience init(systemName: String) { self.init(.name(systemName)) }
  package convenience init(_ color: UIColor) { self.init(color.knownColor, alpha: color.alpha) }

  /// A colour that depends on the traits, such as the appearance.
  public convenience init(dynamicProvider: @escaping (UITraitCollection) -> UIColor) {
    self.init(.dynamic(DynamicColor(dynamicProvider)))
  }
  /// All values are from 0 to 1.
  public convenience init(hue: CGFloat, saturation: CGFloat, brightness: CGFloat, alpha: CGFloat) {
    func part(_ n: CGFloat) -> CGFloat {
      let k = (n + hue * 6).truncatingRemainder(dividingBy: 6)
      return brightness - brightness * saturation * max(0, min(k, 4 - k, 1))
    }
    self.init(red: part(5), green: part(3), blue: part(1), alpha: alpha)
  }
  public convenience init(cgColor: CGColor) {
    let parts = cgColor.components ?? []
    if parts.count < 4 {
      self.init(white: parts.first ?? 0, alpha: cgColor.alpha)
    } else {
      self.init(red: parts[0], green: parts[1], blue: parts[2], alpha: cgColor.alpha)
    }
  }

  /// The colour for traits.
  public func resolvedColor(with traitCollection: UITraitCollection) -> UIColor {
    guard case .dynamic(let color) = knownColor else { return self }
    let made = color.color(for: traitCollection).resolvedColor(with: traitCollection)
    return alpha == 1 ? made : made.withAlphaComponent(CGFloat(alpha))
  }

  /// From 0 to 1; `nil` for a colour of the system or of an asset catalog, whose values the process does not know.
  private var components: (red: CGFloat, green: CGFloat, blue: CGFloat)? {
    switch resolvedColor(with: .current).knownColor {
    case .parts(let red, let green, let blue): (CGFloat(red), CGFloat(green), CGFloat(blue))
    case .name("black"), .name("clear"): (0, 0, 0)
    case .name("white"): (1, 1, 1)
    default: nil
    }
  }

  /// Returns whether the components are known: not those of the system's and the asset catalog's colours.
  @discardableResult public func getRed(
    _ red: UnsafeMutablePointer<CGFloat>?, green: UnsafeMutablePointer<CGFloat>?, blue: UnsafeMutablePointer<CGFloat>?,
    alpha: UnsafeMutablePointer<CGFloat>?
  ) -> Bool {
    guard let parts = components else { return false }
    red?.pointee = parts.red
    green?.pointee = parts.green
    blue?.pointee = parts.blue
    alpha?.pointee = self == .clear ? 0 : CGFloat(self.alpha)
    return true
  }

  /// Ends the process for a colour of the system or of an asset catalog, whose components the process does not know.
  public var cgColor: CGColor {
    guard let parts = components else {
      fatalError("UIColor.cgColor: the components of \(knownColor) are known to the device and not to this process")
    }
    return CGColor(
      red: parts.red, green: parts.green, blue: parts.blue, alpha: self == .clear ? 0 : CGFloat(alpha))
  }
}

/// The type of `#colorLiteral` where the context demands none. Source: UIKit.
public typealias _ColorLiteralType = UIColor
/// The type of `#imageLiteral` where the context demands none. Source: UIKit.
public typealias _ImageLiteralType = UIImage
