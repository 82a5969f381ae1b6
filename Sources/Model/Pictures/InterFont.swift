// SPDX-License-Identifier: Apache-2.0

import CLazyHarfBuzz
package import Foundation
package import Layout

/// Why the font cannot be used. Definite.
package struct FontFailure: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// HarfBuzz cannot be loaded.
    case library
    /// The font file is missing, or is no font.
    case file
  }

  package let code: Code
  package let description: String
}

/// The font Inter with the tracking and the lines of Apple's system font, which may not be distributed. HarfBuzz shapes its
/// texts. For one thread at a time.
///
/// Inter has the tracking of the Human Interface Guidelines up to 17 points, Inter Display none from 28 points on. Between
/// them the widths are blended, as those of Apple's two faces are.
package final class InterFont: GlyphSource {
  private enum Face: String, CaseIterable {
    case text = "Inter-roman.var.ttf"
    case display = "InterDisplay-roman.var.ttf"
  }

  private struct FontKey: Hashable {
    var face: Face
    var weight: Int
  }

  private struct TextKey: Hashable {
    var text: String
    var font: FontKey
    var hasMonospacedDigits: Bool
  }

  /// A shaped text in units of one em.
  private struct Shaped {
    var glyphs: [(glyph: UInt32, byte: Int, advance: Double, x: Double, y: Double)]
    var width: Double
  }

  /// The contents of the font files; they stay where they are as long as HarfBuzz uses them.
  private var files: [Face: UnsafeMutableRawBufferPointer] = [:]
  private var fonts: [FontKey: OpaquePointer] = [:]
  private var texts: [TextKey: Shaped] = [:]
  private var outlines: [GlyphKey: Path] = [:]

  /// The folder of the font files, beside the executable.
  package static var folder: URL {
    Bundle.main.bundleURL.appending(path: "WidgetLab_Pictures.resources", directoryHint: .isDirectory)
  }

  package init(folder: URL = InterFont.folder) throws(FontFailure) {
    if let reason = lazy_harfbuzz_load() {
      throw FontFailure(
        code: .library,
        description: "HarfBuzz cannot be loaded: \(String(cString: reason))")
    }
    for face in Face.allCases {
      let url = folder.appending(path: face.rawValue)
      guard let data = try? Data(contentsOf: url) else {
        throw FontFailure(code: .file, description: "the font file is missing: \(url.path)")
      }
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(data.count, 1), alignment: 16)
      data.copyBytes(to: buffer)
      files[face] = buffer
      guard font(FontKey(face: face, weight: 400)) != nil else {
        throw FontFailure(code: .file, description: "the file is no font: \(url.path)")
      }
    }
  }

  deinit {
    for font in fonts.values { lazy_font_free(font) }
    for file in files.values { file.deallocate() }
  }

  private func font(_ key: FontKey) -> OpaquePointer? {
    if let known = fonts[key] { return known }
    guard let file = files[key.face], let font = lazy_font_make(file.baseAddress, file.count, Float(key.weight)) else {
      return nil
    }
    fonts[key] = font
    return font
  }

  // MARK: Measuring

  package func metrics(of font: FontDescription) -> LineMetrics { .system(size: font.size) }

  package func width(of text: Substring, in font: FontDescription) -> Double {
    let text = String(text)
    let own = shaped(text, .text, font)
    let count = Double(own.glyphs.count)
    let blend = Self.blend(font.size)
    let small = own.width + Self.tracking(font.size) * count
    let width = blend > 0 ? small + (shaped(text, .display, font).width - small) * blend : small
    return max(0, width * font.size + font.tracking * count)
  }

  /// The share of the display face at a size.
  private static func blend(_ size: Double) -> Double { min(max((size - 17) / 11, 0), 1) }

  /// Tracking by size, in thousandths of an em. Source: Human Interface Guidelines, "Typography", tracking values.
  private static let trackings: [(size: Double, value: Double)] = [
    (8, 26), (10, 12), (11, 6), (12, 0), (13, -6), (14, -11), (15, -16), (16, -20), (17, -26), (18, -25), (19, -24),
    (20, -23), (21, -18), (22, -12), (23, -4), (24, 3), (26, 8), (28, 14), (30, 14), (34, 12), (40, 10), (48, 8),
    (60, 4), (72, 2), (80, 0),
  ]

  /// In ems.
  static func tracking(_ size: Double) -> Double {
    guard let upper = trackings.firstIndex(where: { $0.size >= size }) else { return 0 }
    let (one, other) = (trackings[max(upper - 1, 0)], trackings[upper])
    if one.size == other.size { return other.value / 1000 }
    return (one.value + (other.value - one.value) * (size - one.size) / (other.size - one.size)) / 1000
  }

  private func shaped(_ text: String, _ face: Face, _ description: FontDescription) -> Shaped {
    let font = FontKey(face: face, weight: description.weight.rawValue)
    let key = TextKey(text: text, font: font, hasMonospacedDigits: description.hasMonospacedDigits)
    if let known = texts[key] { return known }
    var result = Shaped(glyphs: [], width: 0)
    if let pointer = self.font(font) {
      let em = Double(lazy_font_units(pointer))
      var text = text
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          var glyphs: UnsafePointer<lazy_glyph>?
          let count = lazy_font_shape(
            pointer, characters.baseAddress, characters.count, key.hasMonospacedDigits ? 1 : 0, &glyphs)
          for glyph in UnsafeBufferPointer(start: glyphs, count: count) {
            result.glyphs.append(
              (
                glyph.glyph, Int(glyph.byte), Double(glyph.advance) / em, Double(glyph.x) / em, Double(glyph.y) / em
              ))
            result.width += Double(glyph.advance) / em
          }
        }
      }
    }
    if texts.count >= 10_000 { texts.removeAll() }
    texts[key] = result
    return result
  }

  // MARK: Drawing

  package func glyphs(
    of text: String, in font: FontDescription, at origin: Point
  ) -> (glyphs: [PlacedGlyph], missing: String) {
    let face = Self.blend(font.size) < 0.5 ? Face.text : .display
    let found = shaped(text, face, font)
    let width = self.width(of: text[...], in: font)
    // The glyphs fill the width that was measured.
    let extra = found.glyphs.isEmpty ? 0 : (width - found.width * font.size) / Double(found.glyphs.count)
    let units = fonts[FontKey(face: face, weight: font.weight.rawValue)].map { Double(lazy_font_units($0)) } ?? 1
    var (glyphs, missing, x) = ([PlacedGlyph](), "", origin.x)
    for glyph in found.glyphs {
      if glyph.glyph == 0 {
        let index = text.utf8.index(text.startIndex, offsetBy: glyph.byte)
        missing.unicodeScalars.append(text.unicodeScalars[index])
      }
      glyphs.append(
        PlacedGlyph(
          key: GlyphKey(face: face.rawValue, weight: font.weight.rawValue, glyph: glyph.glyph),
          origin: Point(x: x + glyph.x * font.size, y: origin.y - glyph.y * font.size), scale: font.size / units))
      x += glyph.advance * font.size + extra
    }
    return (glyphs, missing)
  }

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

  package func outline(of key: GlyphKey) -> Path {
    if let known = outlines[key] { return known }
    guard let face = Face(rawValue: key.face), let font = font(FontKey(face: face, weight: key.weight)) else {
      return Path()
    }
    let pen = Pen()
    lazy_font_outline(font, key.glyph, Unmanaged.passUnretained(pen).toOpaque()) { context, element, numbers in
      guard let context else { return }
      Unmanaged<Pen>.fromOpaque(context).takeUnretainedValue().add(element, numbers)
    }
    outlines[key] = pen.path
    return pen.path
  }
}
