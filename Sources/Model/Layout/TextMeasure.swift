// SPDX-License-Identifier: Apache-2.0

/// Measures text in a font. A layout calls it on one thread.
package protocol TextMeasure {
  /// The metrics of a line in the font, in points.
  func metrics(of font: FontDescription) -> LineMetrics
  /// The width of a text on one line, in points, with kerning and tracking.
  func width(of text: Substring, in font: FontDescription) -> Double
  /// The rules of Unicode.
  var rules: any TextRules { get }
}

/// The metrics of a line in points. All are positive.
package struct LineMetrics: Hashable, Sendable {
  /// From the baseline up to the line's top.
  package var ascent: Double
  /// From the baseline down to the line's bottom.
  package var descent: Double
  /// Additional space below a line, before the next.
  package var leading: Double
  /// The height of capital letters above the baseline.
  package var capHeight: Double

  package init(ascent: Double, descent: Double, leading: Double, capHeight: Double) {
    self.ascent = ascent
    self.descent = descent
    self.leading = leading
    self.capHeight = capHeight
  }

  /// The height of a line.
  package var height: Double { ascent + descent }

  /// The metrics of Apple's system font. Source: measured in the simulator by openuikit, `font_metrics_ios.json`.
  package static func system(size: Double) -> LineMetrics {
    LineMetrics(ascent: 0.952148 * size, descent: 0.241211 * size, leading: 0, capHeight: 0.704590 * size)
  }
}

/// A font by its properties.
package struct FontDescription: Hashable, Sendable {
  /// Source: `SwiftUI.Font.Weight`. The number is that of the font format: 100 to 900.
  package enum Weight: Int, Hashable, Sendable, CaseIterable {
    case ultraLight = 100
    case thin = 200
    case light = 300
    case regular = 400
    case medium = 500
    case semibold = 600
    case bold = 700
    case heavy = 800
    case black = 900

    init?(named name: String) {
      guard let weight = Self.allCases.first(where: { "\($0)" == name }) else { return nil }
      self = weight
    }
  }

  /// Points.
  package var size: Double
  package var weight = Weight.regular
  /// `default`, `serif`, `rounded` or `monospaced`.
  package var design = "default"
  /// 0 is the standard width. Source: `SwiftUI.Font.Width`.
  package var width = 0.0
  package var isItalic = false
  package var hasMonospacedDigits = false
  /// The author's additional space after each character, in points.
  package var tracking = 0.0
  /// The name of a font of the author.
  package var custom: String?

  package init(size: Double, weight: Weight = .regular) {
    self.size = size
    self.weight = weight
  }

  func scaled(_ factor: Double) -> FontDescription {
    var font = self
    font.size *= factor
    font.tracking *= factor
    return font
  }
}
