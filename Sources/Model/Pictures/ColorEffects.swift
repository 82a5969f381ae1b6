// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

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
