// SPDX-License-Identifier: Apache-2.0

package import Layout

/// A font that measures and draws. It is used on one thread.
package protocol GlyphSource: TextMeasure {
  /// The glyphs of a text on one line from an origin on its baseline, and the characters without a glyph.
  func glyphs(of text: String, in font: FontDescription, at origin: Point) -> (glyphs: [PlacedGlyph], missing: String)
  /// The outline of a glyph in units of its face, with y downwards.
  func outline(of key: GlyphKey) -> Path
}
