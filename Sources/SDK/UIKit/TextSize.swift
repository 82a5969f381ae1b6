// SPDX-License-Identifier: Apache-2.0

public import Foundation

// The sizes of texts in the author's process, which has no fonts: estimates.

extension NSAttributedString.Key {
  /// A `UIFont`. Source: `UIKit.NSAttributedString.Key`.
  public static let font = NSAttributedString.Key(rawValue: "NSFont")
  /// A `UIColor`. Source: `UIKit.NSAttributedString.Key`.
  public static let foregroundColor = NSAttributedString.Key(rawValue: "NSColor")
}

extension NSString {
  /// The size of one line. The height is that of the system's font; the width is an estimate: each kind of character has
  /// the mean width of Inter's. Source: `UIKit.NSString`.
  public func size(withAttributes attributes: [NSAttributedString.Key: Any]? = nil) -> CGSize {
    // Without a font UIKit takes Helvetica of 12 points.
    let font = attributes?[.font] as? UIFont ?? .systemFont(ofSize: 12)
    let lines = String(describing: self).split(separator: "\n", omittingEmptySubsequences: false)
    let widths = lines.map { line in line.reduce(0) { $0 + Self.width(of: $1) } }
    return CGSize(
      width: (widths.max() ?? 0) * Double(font.pointSize), height: Double(lines.count) * Double(font.lineHeight))
  }

  /// In parts of the font's size.
  private static func width(of character: Character) -> Double {
    guard character.isASCII else {
      let isWide = character.unicodeScalars.first.map { $0.value >= 0x1100 } ?? false
      return isWide ? 1 : 0.58
    }
    if character.isNumber { return 0.62 }
    if character.isUppercase { return 0.68 }
    return character.isLetter ? 0.56 : 0.3
  }
}
