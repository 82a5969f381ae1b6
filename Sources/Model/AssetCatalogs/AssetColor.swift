// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A colour of a colour set.
package enum AssetColor: Hashable, Sendable {
  /// Components of sRGB, from 0 to 1.
  case components(red: Double, green: Double, blue: Double, opacity: Double)
  /// A colour of the system, such as `systemBlueColor`.
  case system(String)

  /// - Throws: `AssetFault.contents`.
  init(_ color: [String: Any]) throws(AssetFault) {
    if let reference = color["reference"] as? String {
      self = .system(reference)
      return
    }
    guard let parts = color["components"] as? [String: Any] else { throw .contents("a colour has no components") }
    func part(_ name: String) throws(AssetFault) -> Double {
      guard let value = parts[name].flatMap(Self.number) else { throw .contents("a colour has no \(name)") }
      return value
    }
    let space = color["color-space"] as? String ?? "srgb"
    let opacity = min(max(parts["alpha"].flatMap(Self.number) ?? 1, 0), 1)
    var rgb: [Double]
    switch space {
    case "gray-gamma-22", "extended-gray": rgb = Array(repeating: try part("white"), count: 3)
    case "srgb", "extended-srgb": rgb = [try part("red"), try part("green"), try part("blue")]
    case "extended-linear-srgb":
      rgb = [try part("red"), try part("green"), try part("blue")].map(Self.encoded)
    case "display-p3": rgb = Self.fromP3([try part("red"), try part("green"), try part("blue")])
    default: throw .contents("the colour space \(space.prefix(40)) is not known")
    }
    rgb = rgb.map { min(max($0, 0), 1) }
    self = .components(red: rgb[0], green: rgb[1], blue: rgb[2], opacity: opacity)
  }

  /// A component in one of Xcode's three notations: `0.5`, `0x7F` and `127`. A JSON number is from 0 to 1.
  private static func number(_ value: Any) -> Double? {
    let number: Double?
    if let text = value as? String {
      if text.hasPrefix("0x") || text.hasPrefix("0X") {
        number = Int(text.dropFirst(2), radix: 16).map { Double($0) / 255 }
      } else if text.contains(".") {
        number = Double(text)
      } else {
        number = Int(text).map { Double($0) / 255 }
      }
    } else {
      number = (value as? NSNumber)?.doubleValue
    }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }

  /// The gamma of sRGB, which is also that of Display P3. Source: IEC 61966-2-1.
  private static func encoded(_ value: Double) -> Double {
    value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
  }

  private static func decoded(_ value: Double) -> Double {
    value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  /// The nearest colour of sRGB, component by component. Source: the primaries of Display P3 and sRGB, white D65.
  private static func fromP3(_ parts: [Double]) -> [Double] {
    let linear = parts.map { decoded(max(0, $0)) }
    let rows = [[1.2249401, -0.2249404, 0], [-0.0420569, 1.0420571, 0], [-0.0196376, -0.0786361, 1.0982735]]
    return rows.map { row in encoded(max(0, row[0] * linear[0] + row[1] * linear[1] + row[2] * linear[2])) }
  }
}
