// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Layout
import Testing

@testable import Pictures

/// Widths of six strings in Apple's font, compared with those in Inter.
@Suite(.timeLimit(.minutes(1))) struct `Widths of texts` {
  /// The strings, each with the largest error that is accepted, in percent.
  private static let texts: [(text: String, limit: Double)] = [
    ("0123456789", 8), ("AVAST Wavy To. LT", 5), ("Hello UIKit", 4), ("iiiiillll", 10),
    ("The quick brown fox jumps over the lazy dog", 3), ("WWWW MMMM", 6),
  ]

  /// Points, in the order of `texts`. Source: openuikit, `font_metrics_ios.json`, system font; read as facts.
  private static let measured: [(size: Double, weight: FontDescription.Weight, widths: [Double])] = [
    (8, .regular, [50.45, 76.00, 41.96, 19.80, 176.98, 63.02]),
    (8, .medium, [51.79, 77.42, 43.05, 20.88, 180.63, 63.81]),
    (8, .semibold, [52.77, 78.46, 43.85, 21.67, 183.29, 64.40]),
    (15, .regular, [88.45, 132.04, 71.90, 31.60, 305.38, 112.62]),
    (15, .medium, [90.96, 134.71, 73.96, 33.62, 312.23, 114.12]),
    (15, .semibold, [92.79, 136.64, 75.45, 35.09, 317.22, 115.21]),
    (15, .bold, [95.30, 139.31, 77.50, 37.12, 324.07, 116.70]),
    (15, .heavy, [98.95, 143.19, 80.49, 40.06, 334.04, 118.88]),
    (15, .black, [102.15, 146.58, 83.11, 42.64, 342.77, 120.79]),
    (17, .regular, [98.58, 146.82, 79.66, 34.32, 338.95, 126.14]),
    (17, .medium, [101.43, 149.85, 81.99, 36.61, 346.72, 127.84]),
    (17, .semibold, [103.50, 152.04, 83.68, 38.28, 352.37, 129.07]),
    (17, .bold, [106.35, 155.06, 86.01, 40.57, 360.14, 130.77]),
    (17, .heavy, [110.49, 159.46, 89.40, 43.91, 371.44, 133.24]),
    (17, .black, [114.11, 163.30, 92.36, 46.83, 381.33, 135.40]),
    (27, .regular, [158.99, 221.12, 122.28, 52.96, 511.39, 198.20]),
    (27, .medium, [162.91, 226.27, 126.00, 56.21, 526.83, 200.95]),
    (27, .semibold, [165.76, 230.01, 128.71, 58.56, 538.05, 202.96]),
    (27, .bold, [169.68, 235.16, 132.43, 61.81, 553.49, 205.72]),
    (27, .heavy, [175.38, 242.64, 137.85, 66.53, 575.95, 209.73]),
    (27, .black, [180.37, 249.19, 142.59, 70.65, 595.59, 213.24]),
  ]

  @Test(.rule("PICTURE-02")) func `six strings have nearly the widths of Apple's font, in each weight and size`() throws
  {
    let font = try InterFont()
    print("errors of widths in percent: \(Self.texts.map(\.text).joined(separator: ", "))")
    for (size, weight, widths) in Self.measured {
      var errors: [String] = []
      for ((text, limit), width) in zip(Self.texts, widths) {
        let found = font.width(of: text[...], in: FontDescription(size: size, weight: weight))
        let error = (found / width - 1) * 100
        errors.append(error.formatted(.number.precision(.fractionLength(1)).sign(strategy: .always())))
        #expect(abs(error) < limit, "\(text) in \(size) \(weight): \(error) %")
        // A line of text, at the sizes that widgets use.
        if size < 20, width > 150 { #expect(abs(error) < 1, "\(text) in \(size) \(weight): \(error) %") }
      }
      print("  \(size) \(weight): \(errors.joined(separator: " "))")
    }
  }
}
