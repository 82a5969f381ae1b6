// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

/// The colours of the system by their names.
struct SystemColors {
  let isDark: Bool
  let hasIncreasedContrast: Bool
  /// Whether the system is iOS 26 or later, which has other colours.
  let usesIOS26Colors: Bool

  /// Light, dark, light with increased contrast, dark with increased contrast. Source: the SDK of iOS 26, as two public
  /// tables of 2025 agree.
  private static let new: [String: [[Double]]] = [
    "red": [[255, 56, 60], [255, 66, 69], [233, 21, 45], [255, 97, 101]],
    "orange": [[255, 141, 40], [255, 146, 48], [197, 83, 0], [255, 160, 86]],
    "yellow": [[255, 204, 0], [255, 214, 0], [161, 106, 0], [254, 223, 67]],
    "green": [[52, 199, 89], [48, 209, 88], [0, 137, 50], [74, 217, 104]],
    "mint": [[0, 200, 179], [0, 218, 195], [0, 133, 117], [84, 223, 203]],
    "teal": [[0, 195, 208], [0, 210, 224], [0, 129, 152], [59, 221, 236]],
    "cyan": [[0, 192, 232], [60, 211, 254], [0, 126, 174], [109, 217, 255]],
    "blue": [[0, 136, 255], [0, 145, 255], [30, 110, 244], [92, 184, 255]],
    "indigo": [[97, 85, 245], [109, 124, 255], [86, 74, 222], [167, 170, 255]],
    "purple": [[203, 48, 224], [219, 52, 242], [176, 47, 194], [234, 141, 255]],
    "pink": [[255, 45, 85], [255, 55, 95], [231, 18, 77], [255, 138, 196]],
    "brown": [[172, 127, 94], [183, 138, 102], [149, 109, 81], [219, 166, 121]],
    "gray": [[142, 142, 147], [142, 142, 147], [108, 108, 112], [174, 174, 178]],
  ]

  /// The same. Source: OpenSwiftUI, `Graphic/Color/SystemColors.swift`, for iOS 13 to 18.
  private static let old: [String: [[Double]]] = [
    "red": [[255, 59, 48], [255, 69, 58], [215, 0, 21], [255, 105, 97]],
    "orange": [[255, 149, 0], [255, 159, 10], [201, 52, 0], [255, 179, 64]],
    "yellow": [[255, 204, 0], [255, 214, 10], [178, 80, 0], [255, 212, 38]],
    "green": [[52, 199, 89], [48, 209, 88], [36, 138, 61], [48, 219, 91]],
    "mint": [[0, 199, 190], [99, 230, 226], [12, 129, 123], [99, 230, 226]],
    "teal": [[48, 176, 199], [64, 200, 224], [0, 130, 153], [93, 230, 255]],
    "cyan": [[50, 173, 230], [100, 210, 255], [0, 113, 164], [10, 215, 255]],
    "blue": [[0, 122, 255], [10, 132, 255], [0, 64, 221], [64, 156, 255]],
    "indigo": [[88, 86, 214], [94, 92, 230], [54, 52, 163], [125, 122, 255]],
    "purple": [[175, 82, 222], [191, 90, 242], [137, 68, 171], [218, 143, 255]],
    "pink": [[255, 45, 85], [255, 55, 95], [211, 15, 69], [255, 100, 130]],
    "brown": [[162, 132, 94], [172, 142, 104], [127, 101, 69], [181, 148, 105]],
    "gray": [[142, 142, 147], [142, 142, 147], [108, 108, 112], [174, 174, 178]],
  ]

  /// UIKit's other colours, in the same order. Source: the SDK of iOS 13 to 26, as public tables agree; ours: a dark background
  /// has the elevated level, as `background` has.
  private static let surfaces: [String: [[Double]]] = [
    "gray2": [[174, 174, 178], [99, 99, 102], [142, 142, 147], [124, 124, 128]],
    "gray3": [[199, 199, 204], [72, 72, 74], [174, 174, 178], [84, 84, 86]],
    "gray4": [[209, 209, 214], [58, 58, 60], [188, 188, 192], [68, 68, 70]],
    "gray5": [[229, 229, 234], [44, 44, 46], [216, 216, 220], [54, 54, 56]],
    "gray6": [[242, 242, 247], [28, 28, 30], [235, 235, 240], [36, 36, 38]],
    "groupedBackground": [[242, 242, 247], [28, 28, 30], [235, 235, 240], [36, 36, 38]],
    "secondarySystemBackground": [[242, 242, 247], [44, 44, 46], [235, 235, 240], [54, 54, 56]],
    "secondarySystemGroupedBackground": [[255, 255, 255], [44, 44, 46], [255, 255, 255], [54, 54, 56]],
    "tertiarySystemBackground": [[255, 255, 255], [58, 58, 60], [255, 255, 255], [68, 68, 70]],
    "tertiarySystemGroupedBackground": [[242, 242, 247], [58, 58, 60], [235, 235, 240], [68, 68, 70]],
    "opaqueSeparator": [[198, 198, 200], [56, 56, 58], [198, 198, 200], [56, 56, 58]],
  ]

  /// The opacity of the levels below the first, as usual and with increased contrast.
  private static let levels: [String: (light: (Double, Double), dark: (Double, Double))] = [
    "secondary": ((0.6, 0.8), (0.6, 0.7)), "tertiary": ((0.3, 0.7), (0.3, 0.55)),
    "quaternary": ((0.18, 0.55), (0.16, 0.4)), "quinary": ((0.18, 0.55), (0.16, 0.4)),
  ]

  /// The opacity of a level of another style.
  static let opacities = ["primary": 1, "secondary": 0.5, "tertiary": 0.25, "quaternary": 0.18, "quinary": 0.18]

  /// The colour with this name; `nil` for an unknown one.
  subscript(name: String) -> RGBA? {
    if let row = (usesIOS26Colors ? Self.new : Self.old)[name] ?? Self.surfaces[name] {
      let parts = row[(isDark ? 1 : 0) + (hasIncreasedContrast ? 2 : 0)]
      return RGBA(bytes: parts[0], parts[1], parts[2])
    }
    if let level = Self.levels[name] {
      let opacities = isDark ? level.dark : level.light
      let opacity = hasIncreasedContrast ? opacities.1 : opacities.0
      return isDark ? RGBA(bytes: 235, 235, 245, opacity: opacity) : RGBA(bytes: 60, 60, 67, opacity: opacity)
    }
    switch name {
    case "primary", "foreground": return isDark ? RGBA(1, 1, 1) : RGBA(0, 0, 0)
    case "background", "windowBackground": return isDark ? RGBA(bytes: 28, 28, 30) : RGBA(1, 1, 1)
    case "white": return RGBA(1, 1, 1)
    case "black": return RGBA(0, 0, 0)
    case "clear": return RGBA(0, 0, 0, opacity: 0)
    case "accentColor", "tint", "link": return self["blue"]
    case "placeholderText": return self["tertiary"]
    case "separator": return isDark ? RGBA(bytes: 84, 84, 88, opacity: 0.6) : RGBA(bytes: 60, 60, 67, opacity: 0.29)
    case "fill": return RGBA(bytes: 120, 120, 128, opacity: isDark ? 0.36 : 0.2)
    case "secondarySystemFill": return RGBA(bytes: 120, 120, 128, opacity: isDark ? 0.32 : 0.16)
    case "tertiarySystemFill": return RGBA(bytes: 118, 118, 128, opacity: isDark ? 0.24 : 0.12)
    case "quaternarySystemFill":
      let part = isDark ? 118.0 : 116
      return RGBA(bytes: part, part, 128, opacity: isDark ? 0.18 : 0.08)
    default: return nil
    }
  }
}

extension Drawing.ColorMap {
  /// The shares of red, green and blue in the luminance of a colour. Source: Rec. 709; OpenSwiftUI,
  /// `Graphic/Color/ColorMatrix.swift`.
  static let shares = [0.2126, 0.7152, 0.0722]

  /// Each new component is a factor times the old one, and a sum.
  static func scale(_ factors: [Double], plus sum: Double = 0, opacity: Double = 1) -> Self {
    var rows = Array(repeating: 0.0, count: 20)
    for index in 0..<3 {
      rows[index * 6] = factors[index]
      rows[index * 5 + 4] = sum
    }
    rows[18] = opacity
    return .matrix(rows)
  }

  /// Each new component is a sum of the three old ones; the opacity stays.
  private static func mix(_ factor: (_ row: Int, _ column: Int) -> Double) -> Self {
    var rows = Array(repeating: 0.0, count: 20)
    for row in 0..<3 { for column in 0..<3 { rows[row * 5 + column] = factor(row, column) } }
    rows[18] = 1
    return .matrix(rows)
  }

  static func saturation(_ amount: Double) -> Self {
    mix { row, column in shares[column] * (1 - amount) + (row == column ? amount : 0) }
  }

  /// A turn of the colours about the axis of the grays, which keeps the luminance. Source of the numbers: W3C, "Filter
  /// Effects Module Level 1", `hueRotate`.
  static func hueRotation(degrees: Double) -> Self {
    let (sine, cosine) = (sinOfDegrees(degrees), sinOfDegrees(degrees + 90))
    let sines = [-0.2126, -0.7152, 0.9278, 0.143, 0.14, -0.283, -0.7873, 0.7152, 0.0722]
    return mix { row, column in
      shares[column] + cosine * ((row == column ? 1 : 0) - shares[column]) + sine * sines[row * 3 + column]
    }
  }

  /// The pixel becomes this colour, and keeps its opacity.
  static func replacement(_ color: RGBA) -> Self {
    var rows = Array(repeating: 0.0, count: 20)
    (rows[4], rows[9], rows[14], rows[18]) = (color.red, color.green, color.blue, color.opacity)
    return .matrix(rows)
  }

  /// The map of a colour effect; `nil` for `blendMode`, and for `colorMultiply` without a colour.
  ///
  /// - Parameters:
  ///   - amount: the number of the effect: its amount, or degrees.
  ///   - color: of `colorMultiply`.
  init?(_ name: ColorModifier, amount: Double?, color: RGBA?) {
    // The numbers stay small enough for a picture in any format.
    let amount = amount.map { $0.isFinite ? min(max($0, -1000), 1000) : 0 }
    switch name {
    case .brightness: self = .scale([1, 1, 1], plus: amount ?? 0)
    case .contrast: self = .scale(Array(repeating: amount ?? 1, count: 3), plus: (1 - (amount ?? 1)) / 2)
    case .saturation: self = .saturation(max(0, amount ?? 1))
    case .grayscale: self = .saturation(1 - min(max(amount ?? 0, 0), 1))
    case .hueRotation: self = .hueRotation(degrees: amount ?? 0)
    case .colorInvert: self = .scale([-1, -1, -1], plus: 1)
    case .colorMultiply:
      guard let color else { return nil }
      self = .scale([color.red, color.green, color.blue], opacity: color.opacity)
    case .luminanceToAlpha:
      self = .matrix(Array(repeating: 0, count: 15) + Self.shares + [0, 0])
    case .blendMode: return nil
    }
  }
}
