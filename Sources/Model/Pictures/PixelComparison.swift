// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// How near a picture has to be to its reference. The names and the meaning are those of swift-snapshot-testing.
package struct PixelPrecision: Hashable, Sendable {
  /// The share that has to match, from 0 to 1: of the pixels, or of the bytes if `perceptual` is 1.
  package var share: Double
  /// How near a pixel has to be to match, from 0 to 1: 1 is equal, and 0.98 is about what the eye sees.
  package var perceptual: Double

  /// All pixels are equal.
  package static let exact = PixelPrecision(share: 1, perceptual: 1)

  /// Both from 0 to 1.
  package init(share: Double, perceptual: Double) { (self.share, self.perceptual) = (share, perceptual) }
}

/// A picture beside its reference.
package struct PixelComparison {
  /// Why the picture does not match; `nil`: it does.
  package private(set) var difference: String?
  /// The pixels that differ are red, all others are pale; `nil`: the sizes differ, or no pixel differs.
  package private(set) var image: Pixels?

  /// - Parameter other: the new picture.
  package init(_ reference: Pixels, _ other: Pixels, _ precision: PixelPrecision) {
    guard (reference.width, reference.height) == (other.width, other.height) else {
      difference =
        "it has \(other.width) × \(other.height) pixels, the reference has \(reference.width) × \(reference.height)"
      return
    }
    if reference.values == other.values { return }
    let pairs = zip(reference.values, other.values)
    image = Pixels(
      width: other.width, height: other.height, values: pairs.map { $0 == $1 ? Self.pale($1) : 0xFFFF_0000 })
    let count = reference.values.count
    if precision.perceptual < 1 {
      let limit = (1 - precision.perceptual) * 100
      var (far, largest) = (0, 0.0)
      for (one, two) in pairs where one != two {
        let distance = Self.distance(one, two)
        if distance > limit { far += 1 }
        largest = max(largest, distance)
      }
      let share = 1 - Double(far) / Double(count)
      guard share < precision.share else { return }
      difference =
        "\(Self.text(share)) of the pixels match, and \(Self.text(precision.share)) have to; the perceptual "
        + "precision of the farthest is \(Self.text(1 - largest / 100)), and \(Self.text(precision.perceptual)) matches"
    } else {
      let different = pairs.reduce(0) { sum, pair in sum + Self.differentBytes(pair.0, pair.1) }
      guard different > Int(saturating: (1 - precision.share) * Double(count * 4)) else { return }
      let share = 1 - Double(different) / Double(count * 4)
      let pixels = pairs.reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
      difference =
        "\(pixels) of \(count) pixels differ; \(Self.text(share)) of the bytes match, and "
        + "\(Self.text(precision.share)) have to"
    }
    if let difference, let made = reference.producer, let producer = other.producer, made != producer {
      self.difference = difference + "; the reference was made by \(made), and this by \(producer)"
    }
  }

  private static func text(_ share: Double) -> String {
    // Rounded down, so that a share below 1 is never shown as 1.
    let digits = String(Int(saturating: (share * 10_000).rounded(.down)) % 10_000)
    return share >= 1 ? "1" : "0." + String(repeating: "0", count: 4 - digits.count) + digits
  }

  private static func differentBytes(_ one: UInt32, _ two: UInt32) -> Int {
    [24, 16, 8, 0].reduce(0) { $0 + ((one >> $1 & 0xFF) == (two >> $1 & 0xFF) ? 0 : 1) }
  }

  /// An equal pixel, faded on white.
  private static func pale(_ pixel: UInt32) -> UInt32 {
    let white = 255 - (pixel >> 24)
    func byte(_ shift: UInt32) -> UInt32 { (191 + ((pixel >> shift & 0xFF) + white) / 4) << shift }
    return 0xFF00_0000 | byte(16) | byte(8) | byte(0)
  }

  // MARK: Colours

  /// The difference of two pixels as the eye sees it, from 0 to about 100: the larger one on white and on black.
  static func distance(_ one: UInt32, _ two: UInt32) -> Double {
    max(
      distance(Lab(one, below: 0), Lab(two, below: 0)), distance(Lab(one, below: 255), Lab(two, below: 255)))
  }

  /// CIE 1994, with the factors for graphic arts, as Apple's `CILabDeltaE` has it.
  private static func distance(_ one: Lab, _ two: Lab) -> Double {
    let (chroma, other) = (hypot(one.a, one.b), hypot(two.a, two.b))
    let (light, strength) = (one.lightness - two.lightness, chroma - other)
    let hue = max(pow(one.a - two.a, 2) + pow(one.b - two.b, 2) - strength * strength, 0)
    let (first, second) = (strength / (1 + 0.045 * chroma), hue / pow(1 + 0.015 * chroma, 2))
    return (light * light + first * first + second).squareRoot()
  }

  /// A colour in CIE L*a*b*, for the white D65.
  private struct Lab {
    let lightness: Double
    let a: Double
    let b: Double

    private static let linear: [Double] = (0...255).map { byte in
      let part = Double(byte) / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }

    /// - Parameter below: the gray that is seen through the pixel, from 0 to 255.
    init(_ pixel: UInt32, below: UInt32) {
      let rest = (255 - (pixel >> 24)) * below / 255
      func part(_ shift: UInt32) -> Double { Self.linear[min(Int((pixel >> shift & 0xFF) + rest), 255)] }
      let (red, green, blue) = (part(16), part(8), part(0))
      func root(_ value: Double) -> Double {
        value > 216.0 / 24389 ? cbrt(value) : (24389.0 / 27 * value + 16) / 116
      }
      let x = root((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047)
      let y = root(0.2126729 * red + 0.7151522 * green + 0.072175 * blue)
      let z = root((0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883)
      (lightness, a, b) = (116 * y - 16, 500 * (x - y), 200 * (y - z))
    }
  }
}
