// SPDX-License-Identifier: Apache-2.0

package import Layout

/// A font that measures and draws. It is used on one thread.
package protocol GlyphSource: TextMeasure {
  /// The glyphs of a text on one line from an origin on its baseline, from left to right, and the characters without a glyph.
  ///
  /// - Parameter isRightToLeft: the direction of the whole text.
  func glyphs(
    of text: String, in font: FontDescription, at origin: Point, isRightToLeft: Bool
  ) -> (glyphs: [PlacedGlyph], missing: String)
  /// Sentences about characters without a glyph.
  func notices(missing text: String) -> [String]
  /// The outline of a glyph in units of its face, with y downwards.
  func outline(of key: GlyphKey) -> Path
}

extension GlyphSource {
  /// The glyphs of a text that is written from left to right.
  package func glyphs(
    of text: String, in font: FontDescription, at origin: Point
  ) -> (glyphs: [PlacedGlyph], missing: String) {
    glyphs(of: text, in: font, at: origin, isRightToLeft: false)
  }
}
