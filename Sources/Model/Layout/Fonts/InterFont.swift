// SPDX-License-Identifier: Apache-2.0

import CLazy
package import Foundation

/// Why the font cannot be used. Definite.
package struct FontFailure: Error, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// HarfBuzz cannot be loaded.
    case library
    /// The font file is missing, or is no font.
    case file
    /// The folder of the user's fonts cannot be read.
    case folder
    /// The Swift runtime has no rules of Unicode.
    case rules
  }

  package let code: Code
  package let description: String
}

/// The font Inter with the tracking and the lines of Apple's system font, which may not be distributed. HarfBuzz shapes its
/// texts. For one thread at a time. Characters that Inter does not have are taken from the fonts in a folder of the
/// user, if one is given.
///
/// Inter has the tracking of the Human Interface Guidelines up to 17 points, Inter Display none from 28 points on. Between
/// them the widths are blended, as Apple blends its two faces.
package final class InterFont: GlyphSource {
  private enum Face: String, CaseIterable {
    case text = "Inter-roman.var.ttf"
    case display = "InterDisplay-roman.var.ttf"
  }

  private typealias FontKey = FaceKey<Face>
  private typealias TextKey = ShapingKey<Face>

  /// The contents of the font files; they stay where they are as long as HarfBuzz uses them.
  private var files: [Face: UnsafeMutableRawBufferPointer] = [:]
  private var fonts: [FontKey: OpaquePointer] = [:]
  private var texts: [TextKey: ShapedText] = [:]
  private var outlines: [GlyphKey: Path] = [:]
  private let fallback: FallbackFonts?

  package let rules: any TextRules

  /// The folder of the font files, beside the executable.
  package static var folder: URL {
    Bundle.main.bundleURL.appending(path: "WidgetLab_Layout.resources", directoryHint: .isDirectory)
  }

  /// - Parameter fallback: a folder of font files; `nil`: Inter only, so that the same views have the same picture on each
  ///   machine.
  package init(folder: URL = InterFont.folder, fallback: URL? = nil) throws(FontFailure) {
    if let reason = lazy_harfbuzz_load() {
      throw FontFailure(
        code: .library,
        description: "HarfBuzz cannot be loaded: \(String(cString: reason))")
    }
    let rules = try UnicodeRules()
    self.rules = rules
    var foundFonts: FallbackFonts?
    if let fallback { foundFonts = try FallbackFonts(folder: fallback, rules: rules) }
    self.fallback = foundFonts
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
    // The direction matters only where the font of the text has letters from right to left.
    let isRightToLeft: Bool? = text.utf8.allSatisfy { $0 < 0xD6 } ? false : nil
    guard let parts = parts(of: text, font, isRightToLeft: isRightToLeft) else {
      return max(0, width(of: text, font, isRightToLeft: isRightToLeft))
    }
    return max(0, parts.reduce(0) { $0 + width(of: $1, font, isRightToLeft: isRightToLeft) })
  }

  /// The parts of a text by their fonts; `nil`: Inter has all characters, or no other font is given.
  private func parts(
    of text: String, _ font: FontDescription, isRightToLeft: Bool?
  ) -> [FallbackFonts.Part]? {
    guard let fallback, shaped(text, face: .text, description: font, isRightToLeft: isRightToLeft).hasMissing,
      let inter = self.font(FontKey(face: .text, weight: font.weight.rawValue))
    else { return nil }
    return fallback.parts(of: text, weight: font.weight.rawValue) { lazy_font_glyph(inter, $0.value) }
  }

  private func width(of part: FallbackFonts.Part, _ font: FontDescription, isRightToLeft: Bool?) -> Double {
    guard let fallback, let face = part.face else { return width(of: part.text, font, isRightToLeft: isRightToLeft) }
    let shaped = fallback.shaped(part, in: font, face: face, isRightToLeft: isRightToLeft)
    return shaped.width * font.size + font.tracking * Double(shaped.glyphs.count)
  }

  /// The width of a text in Inter.
  private func width(of text: String, _ font: FontDescription, isRightToLeft: Bool?) -> Double {
    let ownText = shaped(text, face: .text, description: font, isRightToLeft: isRightToLeft)
    let count = Double(ownText.glyphs.count)
    let blend = Self.blend(font.size)
    let correction = Self.corrections[font.weight] ?? (text: 0, display: 0)
    let small = ownText.width + (Self.tracking(font.size) + correction.text / 1000) * count
    guard blend > 0 else { return small * font.size + font.tracking * count }
    let large =
      shaped(text, face: .display, description: font, isRightToLeft: isRightToLeft).width + correction.display / 1000
      * count
    return (small + (large - small) * blend) * font.size + font.tracking * count
  }

  /// The tracking that a weight has in addition, in thousandths of an em, for Inter and Inter Display. Apple's letters
  /// become wider with the weight than Inter's. Ours, from the widths of six strings in openuikit,
  /// `font_metrics_ios.json`: a line of text has the width that Apple's font gives it.
  private static let corrections: [FontDescription.Weight: (text: Double, display: Double)] = [
    .medium: (5, 0), .semibold: (8, 0), .bold: (14, 5), .heavy: (25, 16), .black: (34, 26),
  ]

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

  private func shaped(
    _ text: String, face: Face, description: FontDescription, isRightToLeft: Bool?
  ) -> ShapedText {
    let font = FontKey(face: face, weight: description.weight.rawValue)
    let key = TextKey(
      text: text, font: font, isRightToLeft: isRightToLeft, hasMonospacedDigits: description.hasMonospacedDigits)
    if let known = texts[key] { return known }
    var result = ShapedText()
    if let pointer = self.font(font) {
      result = ShapedText(
        text, in: pointer, isRightToLeft: isRightToLeft, hasMonospacedDigits: key.hasMonospacedDigits)
    }
    if texts.count >= 10_000 { texts.removeAll() }
    texts[key] = result
    return result
  }

  // MARK: Drawing

  package func glyphs(
    of text: String, in font: FontDescription, at origin: Point, isRightToLeft: Bool
  ) -> (glyphs: [PlacedGlyph], missing: String) {
    var (glyphs, x) = ([PlacedGlyph](), origin.x)
    var missing: [(place: Int, scalar: Unicode.Scalar)] = []
    let parts = parts(of: text, font, isRightToLeft: isRightToLeft) ?? [FallbackFonts.Part(text: text, start: 0)]
    for part in isRightToLeft ? parts.reversed() : parts {
      // The glyphs fill the width that was measured.
      let width = width(of: part, font, isRightToLeft: isRightToLeft)
      let foundText: ShapedText
      let units: Double
      let key: (UInt32) -> GlyphKey
      let weight = font.weight.rawValue
      if let fallback, let face = part.face {
        foundText = fallback.shaped(part, in: font, face: face, isRightToLeft: isRightToLeft)
        units = fallback.units(of: face, weight: weight)
        key = { fallback.key(face, weight: weight, glyph: $0) }
      } else {
        let face = Self.blend(font.size) < 0.5 ? Face.text : .display
        foundText = shaped(part.text, face: face, description: font, isRightToLeft: isRightToLeft)
        units = fonts[FontKey(face: face, weight: weight)].map { Double(lazy_font_units($0)) } ?? 1
        key = { GlyphKey(face: face.rawValue, weight: weight, glyph: $0) }
      }
      let extra = foundText.glyphs.isEmpty ? 0 : (width - foundText.width * font.size) / Double(foundText.glyphs.count)
      for glyph in foundText.glyphs {
        if glyph.number == 0 {
          let index = part.text.utf8.index(part.text.startIndex, offsetBy: glyph.byte)
          missing.append((part.start + glyph.byte, part.text.unicodeScalars[index]))
        }
        glyphs.append(
          PlacedGlyph(
            key: key(glyph.number),
            origin: Point(x: x + glyph.x * font.size, y: origin.y - glyph.y * font.size), scale: font.size / units))
        x += glyph.advance * font.size + extra
      }
    }
    var names = ""
    names.unicodeScalars.append(contentsOf: missing.sorted { $0.place < $1.place }.map(\.scalar))
    return (glyphs, names)
  }

  /// The files of the user's folder that are no fonts, each as a sentence.
  package var notices: [String] { fallback?.notices ?? [] }

  package func notices(missing text: String) -> [String] {
    var (notices, rest) = ([String](), "")
    for scalar in text.unicodeScalars {
      if let file = fallback?.colorFile(for: scalar) {
        notices.append("\"\(scalar)\" is only a picture in colour in \(file), and is drawn as a box")
      } else {
        rest.unicodeScalars.append(scalar)
      }
    }
    guard !rest.isEmpty else { return notices }
    let characters = "\"\(rest.prefix(8))\""
    return notices + [
      fallback == nil
        ? "Inter has no glyph for \(characters): use --fonts with a folder of fonts that have it"
        : "no font has a glyph for \(characters)"
    ]
  }

  package func outline(of key: GlyphKey) -> Path {
    if let known = outlines[key] { return known }
    guard let face = Face(rawValue: key.face), let font = font(FontKey(face: face, weight: key.weight)) else {
      return fallback?.outline(of: key) ?? Path()
    }
    let path = Path(glyph: key.glyph, of: font)
    outlines[key] = path
    return path
  }
}
