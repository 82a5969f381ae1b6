// SPDX-License-Identifier: Apache-2.0

package import Archive

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

/// The rules of Unicode for texts. A layout calls them on one thread, and often for the same text.
package protocol TextRules {
  /// Where a line may end, and where it has to: the places in the text's UTF-8, in ascending order. The last one is the end
  /// of the text. Source: Unicode Standard Annex 14.
  func lineEnds(of text: String) -> [Int]

  /// The directions of the characters. Each paragraph has the direction of its first letter.
  /// Source: Unicode Standard Annex 9.
  ///
  /// - Parameter isRightToLeft: the direction of a paragraph without letters.
  /// - Returns: `nil` for a text that has only one direction, from left to right.
  func directions(of text: String, isRightToLeft: Bool) -> TextDirections?
}

/// The directions within a text. An even level is from left to right, an odd one from right to left.
package struct TextDirections: Hashable, Sendable {
  /// A part of the text with one level, up to the next part.
  package struct Part: Hashable, Sendable {
    /// The place in the text's UTF-8.
    package var start: Int
    package var level: Int

    package init(start: Int, level: Int) {
      self.start = start
      self.level = level
    }
  }

  /// In ascending order; the first begins at 0.
  package var parts: [Part]
  /// The same for the paragraphs.
  package var paragraphs: [Part]

  package init(parts: [Part], paragraphs: [Part]) {
    self.parts = parts
    self.paragraphs = paragraphs
  }

  /// The level of the paragraph that contains a place.
  func paragraphLevel(at place: Int) -> Int { paragraphs.last { $0.start <= place }?.level ?? 0 }

  /// The parts of a range of the text's UTF-8.
  func parts(in range: Range<Int>) -> [(range: Range<Int>, level: Int)] {
    // The last part that begins at or before the range.
    var (lower, upper) = (0, parts.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if parts[middle].start <= range.lowerBound { lower = middle + 1 } else { upper = middle }
    }
    var foundRuns: [(range: Range<Int>, level: Int)] = []
    var start = range.lowerBound
    for index in max(0, lower - 1)..<parts.count where start < range.upperBound {
      let end = index + 1 < parts.count ? min(parts[index + 1].start, range.upperBound) : range.upperBound
      if start < end { foundRuns.append((start..<end, parts[index].level)) }
      start = max(start, end)
    }
    return foundRuns
  }

  /// The order from left to right of parts with these levels. Source: Unicode Standard Annex 9, rule L2.
  static func visualOrder(_ levels: [Int]) -> [Int] {
    var order = Array(levels.indices)
    guard let most = levels.max(), let least = levels.filter({ $0 % 2 == 1 }).min() else { return order }
    for level in stride(from: most, through: least, by: -1) {
      var start = 0
      while start < order.count {
        guard levels[order[start]] >= level else {
          start += 1
          continue
        }
        let end = order[start...].firstIndex { levels[$0] < level } ?? order.count
        order[start..<end].reverse()
        start = end
      }
    }
    return order
  }
}

/// The font sizes of the text styles. Source: Human Interface Guidelines, "Typography", Dynamic Type sizes.
package enum TypeSizes {
  /// In points, in the order of `TextSizeName.allCases`.
  private static let sizes: [String: [Double]] = [
    "largeTitle": [31, 32, 33, 34, 36, 38, 40, 44, 48, 52, 56, 60],
    "title": [25, 26, 27, 28, 30, 32, 34, 38, 43, 48, 53, 58],
    "title2": [19, 20, 21, 22, 24, 26, 28, 34, 39, 44, 50, 56],
    "title3": [17, 18, 19, 20, 22, 24, 26, 31, 37, 43, 49, 55],
    "headline": [14, 15, 16, 17, 19, 21, 23, 28, 33, 40, 47, 53],
    "body": [14, 15, 16, 17, 19, 21, 23, 28, 33, 40, 47, 53],
    "callout": [13, 14, 15, 16, 18, 20, 22, 26, 32, 38, 44, 51],
    "subheadline": [12, 13, 14, 15, 17, 19, 21, 25, 30, 36, 42, 49],
    "footnote": [12, 12, 12, 13, 15, 17, 19, 23, 27, 33, 38, 44],
    "caption": [11, 11, 11, 12, 14, 16, 18, 22, 26, 32, 37, 43],
    "caption2": [11, 11, 11, 11, 13, 15, 17, 20, 24, 29, 34, 40],
  ]

  /// The size of a text style in points; `nil` for an unknown style.
  package static func size(of style: String, at textSize: TextSizeName) -> Double? {
    guard let row = sizes[style], let column = TextSizeName.allCases.firstIndex(of: textSize) else { return nil }
    return row[column]
  }

  /// The weight of a text style.
  package static func weight(of style: String) -> FontDescription.Weight { style == "headline" ? .semibold : .regular }

  /// The weight of a bold text in a style.
  package static func boldWeight(of style: String) -> FontDescription.Weight {
    ["largeTitle", "title", "title2"].contains(style) ? .bold : .semibold
  }

  /// A size of the author for the usual text size, scaled as a text style is. Source: `Font.custom(_:size:relativeTo:)`.
  static func scaled(_ size: Double, as style: String, at textSize: TextSizeName) -> Double {
    guard let now = self.size(of: style, at: textSize), let usual = self.size(of: style, at: .large) else {
      return size
    }
    return size * now / usual
  }
}
