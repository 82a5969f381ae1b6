// SPDX-License-Identifier: Apache-2.0

// `CGFloat`, `CGPoint`, `CGSize` and `CGRect` are Foundation's.
@_exported public import Foundation

/// The meaning of a colour's components. Source: `CoreGraphics.CGColorSpace`.
public final class CGColorSpace: Hashable, Sendable {
  public let name: CFStringName
  public let numberOfComponents: Int

  private init(_ name: CFStringName, _ components: Int) {
    self.name = name
    numberOfComponents = components
  }
  public convenience init?(name: CFStringName) { self.init(name, name == CGColorSpace.linearGray ? 1 : 3) }

  /// The name of a colour space.
  public typealias CFStringName = String
  public static let sRGB: CFStringName = "kCGColorSpaceSRGB"
  public static let extendedSRGB: CFStringName = "kCGColorSpaceExtendedSRGB"
  public static let displayP3: CFStringName = "kCGColorSpaceDisplayP3"
  public static let linearGray: CFStringName = "kCGColorSpaceLinearGray"

  static let deviceRGB = CGColorSpace("kCGColorSpaceDeviceRGB", 3)
  static let deviceGray = CGColorSpace("kCGColorSpaceDeviceGray", 1)

  public static func == (lhs: CGColorSpace, rhs: CGColorSpace) -> Bool { lhs.name == rhs.name }
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { .deviceRGB }
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace { .deviceGray }

/// A colour. Source: `CoreGraphics.CGColor`.
public final class CGColor: Hashable, Sendable {
  public let colorSpace: CGColorSpace?
  /// With the opacity as the last one.
  private let parts: [CGFloat]

  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    colorSpace = .deviceRGB
    parts = [red, green, blue, alpha]
  }
  public convenience init(srgbRed red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    self.init(red: red, green: green, blue: blue, alpha: alpha)
  }
  public init(gray: CGFloat, alpha: CGFloat) {
    colorSpace = .deviceGray
    parts = [gray, alpha]
  }
  /// - Parameter components: those of the space, and the opacity.
  public init?(colorSpace space: CGColorSpace, components: UnsafePointer<CGFloat>) {
    colorSpace = space
    parts = Array(UnsafeBufferPointer(start: components, count: space.numberOfComponents + 1))
  }

  public var components: [CGFloat]? { parts }
  public var numberOfComponents: Int { parts.count }
  public var alpha: CGFloat { parts.last ?? 1 }
  public func copy(alpha: CGFloat) -> CGColor? {
    parts.count == 2
      ? CGColor(gray: parts[0], alpha: alpha) : CGColor(red: parts[0], green: parts[1], blue: parts[2], alpha: alpha)
  }

  /// The colour in a space of another kind; the primaries of a space have no effect.
  ///
  /// - Parameters:
  ///   - intent: has no effect.
  ///   - options: has no effect.
  /// - Returns: `nil` for shades of grey of a colour.
  public func converted(to space: CGColorSpace, intent: CGColorRenderingIntent, options: [String: Any]?) -> CGColor? {
    let given = parts.count == 2 && space.numberOfComponents == 3 ? [parts[0], parts[0], parts[0], parts[1]] : parts
    guard given.count == space.numberOfComponents + 1 else { return nil }
    return given.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.flatMap { CGColor(colorSpace: space, components: $0) }
    }
  }

  public static func == (lhs: CGColor, rhs: CGColor) -> Bool {
    lhs.colorSpace == rhs.colorSpace && lhs.parts == rhs.parts
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(parts) }
}

/// Source: `CoreGraphics.CGColorRenderingIntent`.
public enum CGColorRenderingIntent: Int32, Sendable {
  case defaultIntent, absoluteColorimetric, relativeColorimetric, perceptual, saturation
}
