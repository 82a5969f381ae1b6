// SPDX-License-Identifier: Apache-2.0

package import Archive

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
