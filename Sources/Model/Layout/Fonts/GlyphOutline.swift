// SPDX-License-Identifier: Apache-2.0

import CLazy

/// Collects the elements of an outline. HarfBuzz calls it during one call.
private final class Pen {
  var path = Path()

  func add(_ element: CChar, _ numbers: UnsafePointer<Float>?) {
    func point(_ index: Int) -> Point {
      guard let numbers else { return Point(x: 0, y: 0) }
      return Point(x: Double(numbers[index * 2]), y: -Double(numbers[index * 2 + 1]))
    }
    switch UInt8(bitPattern: element) {
    case UInt8(ascii: "M"): path.elements.append(.move(point(0)))
    case UInt8(ascii: "L"): path.elements.append(.line(point(0)))
    case UInt8(ascii: "Q"): path.elements.append(.quad(point(1), control: point(0)))
    case UInt8(ascii: "C"): path.elements.append(.curve(point(2), control1: point(0), control2: point(1)))
    default: path.elements.append(.close)
    }
  }
}

extension Path {
  /// The outline of a glyph in units of its font, with y downwards.
  init(glyph: UInt32, of font: OpaquePointer) {
    let pen = Pen()
    lazy_font_outline(font, glyph, Unmanaged.passUnretained(pen).toOpaque()) { context, element, numbers in
      guard let context else { return }
      Unmanaged<Pen>.fromOpaque(context).takeUnretainedValue().add(element, numbers)
    }
    self = pen.path
  }
}

/// A face in a weight.
struct FaceKey<Face: Hashable>: Hashable {
  var face: Face
  var weight: Int
}

/// What determines the glyphs of a text.
struct ShapingKey<Face: Hashable>: Hashable {
  var text: String
  var font: FaceKey<Face>
  /// `nil`: the direction of the first letter's script.
  var isRightToLeft: Bool?
  var hasMonospacedDigits: Bool
}

/// A text as glyphs of one font, in units of one em, from left to right.
struct ShapedText {
  struct Glyph {
    /// 0: the font has no glyph for the character.
    var number: UInt32
    /// The place of its character in the text's UTF-8.
    var byte: Int
    var advance: Double
    var x: Double
    var y: Double
  }

  private(set) var glyphs: [Glyph] = []
  private(set) var width = 0.0

  var hasMissing: Bool { glyphs.contains { $0.number == 0 } }

  init() {}

  /// - Parameter isRightToLeft: `nil`: the direction of the first letter's script.
  init(_ text: String, in font: OpaquePointer, isRightToLeft: Bool?, hasMonospacedDigits: Bool) {
    let em = Double(lazy_font_units(font))
    let direction = isRightToLeft.map { UInt8(ascii: $0 ? "R" : "L") } ?? 0
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        var glyphList: UnsafePointer<lazy_glyph>?
        let count = lazy_font_shape(
          font, characters.baseAddress, characters.count, CChar(bitPattern: direction), hasMonospacedDigits ? 1 : 0,
          &glyphList)
        for glyph in UnsafeBufferPointer(start: glyphList, count: count) {
          let advance = Double(glyph.advance) / em
          glyphs.append(
            Glyph(
              number: glyph.glyph, byte: Int(glyph.byte), advance: advance, x: Double(glyph.x) / em,
              y: Double(glyph.y) / em))
          width += advance
        }
      }
    }
  }
}

/// A glyph of a face of the bundled font.
package struct GlyphKey: Hashable, Sendable {
  package var face: String
  package var weight: Int
  package var glyph: UInt32
}

/// A glyph with its place.
package struct PlacedGlyph: Hashable, Sendable {
  package var key: GlyphKey
  /// The origin on the baseline, in points.
  package var origin: Point
  /// Points for each unit of the outline.
  package var scale: Double
}

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
