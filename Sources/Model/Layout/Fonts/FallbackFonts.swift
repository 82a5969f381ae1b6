// SPDX-License-Identifier: Apache-2.0

import CLazy
import Foundation
import Glibc

/// The fonts of a folder, for characters that Inter does not have. For one thread at a time.
///
/// Of the fonts that have a character, the upright ones are first, then those with the nearest weight, then those whose file
/// names are first in alphabetical order. So the same folder has the same pictures.
final class FallbackFonts {
  /// A font file of the folder.
  private struct Face {
    let name: String
    let file: FontFile
    let isItalic: Bool
    let hasColors: Bool
  }

  private typealias FontKey = FaceKey<Int>
  private typealias TextKey = ShapingKey<Int>

  private struct CharacterKey: Hashable {
    var character: Character
    var weight: Int
  }

  /// A part of a text that one font has.
  struct Part {
    var text: String
    /// The place in the whole text's UTF-8.
    var start: Int
    /// `nil`: Inter.
    var face: Int?
    var script: Int?
  }

  /// The files that are no fonts, each as a sentence.
  private(set) var notices: [String] = []
  private var faces: [Face] = []
  private var fonts: [FontKey: OpaquePointer] = [:]
  /// The faces in the order of the search, by weight.
  private var orders: [Int: [Int]] = [:]
  private var knownCharacters: [CharacterKey: Int?] = [:]
  private var texts: [TextKey: ShapedText] = [:]
  private var outlines: [GlyphKey: Path] = [:]
  private let rules: UnicodeRules

  private static let mostTexts = 10_000

  /// Reads the names and the headers of the files, and not the folders within. HarfBuzz must be loaded.
  init(folder: URL, rules: UnicodeRules) throws(FontFailure) {
    self.rules = rules
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    } catch {
      throw FontFailure(code: .folder, description: "the folder of fonts cannot be read: \(folder.path)")
    }
    for name in names where !name.hasPrefix(".") {
      do throws(FontFile.Refusal) {
        add(name, try FontFile(path: folder.appending(path: name).path))
      } catch {
        switch error {
        case .notAFile: continue
        case .unreadable: notices.append("the font file \(name) cannot be read")
        case .tooLarge: notices.append("the font file \(name) has more than 1 GiB")
        }
      }
    }
    if faces.isEmpty { notices.append("the folder has no fonts: \(folder.path)") }
  }

  deinit { for font in fonts.values { lazy_font_free(font) } }

  private func add(_ name: String, _ file: FontFile) {
    let usual = 400
    guard let font = lazy_font_make(file.bytes.baseAddress, file.bytes.count, Float(usual)) else {
      notices.append("the file \(name) is no font")
      return
    }
    fonts[FontKey(face: faces.count, weight: usual)] = font
    faces.append(
      Face(
        name: name, file: file, isItalic: lazy_font_is_italic(font) != 0, hasColors: lazy_font_has_colors(font) != 0))
  }

  private func font(_ key: FontKey) -> OpaquePointer? {
    if let known = fonts[key] { return known }
    let bytes = faces[key.face].file.bytes
    guard let font = lazy_font_make(bytes.baseAddress, bytes.count, Float(key.weight)) else { return nil }
    fonts[key] = font
    return font
  }

  // MARK: Coverage

  /// The parts of a text by their fonts.
  ///
  /// - Parameter inter: the glyph of a character in Inter; 0: none.
  func parts(of text: String, weight: Int, inter: (Unicode.Scalar) -> UInt32) -> [Part] {
    var parts: [Part] = []
    var place = 0
    for character in text {
      let letters = Self.letters(of: character)
      var face: Int?
      if !letters.allSatisfy({ inter($0) != 0 }) {
        // A word has one font, if that has all of its characters.
        let previous = parts.last?.face
        face =
          previous.flatMap { covers($0, letters: letters, weight: weight) ? $0 : nil }
          ?? self.face(for: character, weight)
      }
      let script = face == nil ? nil : letters.lazy.compactMap { self.rules.script(of: $0) }.first
      if let last = parts.indices.last, parts[last].face == face,
        script == nil || parts[last].script == nil || parts[last].script == script
      {
        parts[last].text.append(character)
        parts[last].script = parts[last].script ?? script
      } else {
        parts.append(Part(text: String(character), start: place, face: face, script: script))
      }
      place += character.utf8.count
    }
    return parts
  }

  /// The characters that need glyphs.
  private static func letters(of character: Character) -> [Unicode.Scalar] {
    character.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
  }

  /// The first font that has all of a character, or else its first part.
  private func face(for character: Character, _ weight: Int) -> Int? {
    let key = CharacterKey(character: character, weight: weight)
    if let knownFace = knownCharacters[key] { return knownFace }
    let letters = Self.letters(of: character)
    let order = order(for: weight)
    let found =
      order.first { covers($0, letters: letters, weight: weight) }
      ?? order.first { covers($0, letters: letters.prefix(1), weight: weight) }
    if knownCharacters.count >= Self.mostTexts { knownCharacters.removeAll() }
    knownCharacters.updateValue(found, forKey: key)
    return found
  }

  private func order(for weight: Int) -> [Int] {
    if let known = orders[weight] { return known }
    let distances = faces.indices.map { face -> Double in
      guard let font = font(FontKey(face: face, weight: weight)) else { return .infinity }
      return (faces[face].isItalic ? 10_000 : 0) + abs(Double(lazy_font_weight(font)) - Double(weight))
    }
    let order = faces.indices.sorted { distances[$0] == distances[$1] ? $0 < $1 : distances[$0] < distances[$1] }
    orders[weight] = order
    return order
  }

  /// Whether a font has outlines for all of these characters.
  private func covers(_ face: Int, letters: some Collection<Unicode.Scalar>, weight: Int) -> Bool {
    guard !letters.isEmpty, let font = font(FontKey(face: face, weight: weight)) else { return false }
    return letters.allSatisfy { letter in
      let glyph = lazy_font_glyph(font, letter.value)
      if glyph == 0 { return false }
      return !faces[face].hasColors || !outline(of: self.key(face, weight: weight, glyph: glyph)).elements.isEmpty
    }
  }

  /// The name of the first file that has the character as a picture in colour, which is not drawn.
  func colorFile(for scalar: Unicode.Scalar) -> String? {
    faces.indices.first { face in
      guard faces[face].hasColors, let font = font(FontKey(face: face, weight: 400)) else { return false }
      return lazy_font_glyph(font, scalar.value) != 0
    }.map { faces[$0].name }
  }

  // MARK: Glyphs

  func shaped(_ part: Part, in font: FontDescription, face: Int, isRightToLeft: Bool?) -> ShapedText {
    let key = TextKey(
      text: part.text, font: FontKey(face: face, weight: font.weight.rawValue), isRightToLeft: isRightToLeft,
      hasMonospacedDigits: font.hasMonospacedDigits)
    if let known = texts[key] { return known }
    let shaped = self.font(key.font).map {
      ShapedText(part.text, in: $0, isRightToLeft: isRightToLeft, hasMonospacedDigits: font.hasMonospacedDigits)
    }
    if texts.count >= Self.mostTexts { texts.removeAll() }
    texts[key] = shaped ?? ShapedText()
    return shaped ?? ShapedText()
  }

  /// The units of a face in one em.
  func units(of face: Int, weight: Int) -> Double {
    font(FontKey(face: face, weight: weight)).map { Double(lazy_font_units($0)) } ?? 1
  }

  /// The keys of these glyphs differ from those of Inter by the slash, which no file name contains.
  func key(_ face: Int, weight: Int, glyph: UInt32) -> GlyphKey {
    GlyphKey(face: "/\(faces[face].name)", weight: weight, glyph: glyph)
  }

  /// The outline of a glyph in units of its face; empty for a glyph of another font.
  func outline(of key: GlyphKey) -> Path {
    if let known = outlines[key] { return known }
    guard key.face.hasPrefix("/"), let face = faces.firstIndex(where: { $0.name == key.face.dropFirst() }),
      let font = font(FontKey(face: face, weight: key.weight))
    else { return Path() }
    let path = Path(glyph: key.glyph, of: font)
    outlines[key] = path
    return path
  }
}

/// The bytes of a font file. They stay at one place until the value is freed.
final class FontFile {
  /// Why a file cannot be used.
  enum Refusal: Error {
    case unreadable
    /// A folder, for example.
    case notAFile
    case tooLarge
  }

  let bytes: UnsafeRawBufferPointer

  /// HarfBuzz counts bytes with 32 bits.
  private static let mostBytes = 1 << 30

  /// Maps the file into memory, so that only the parts that are used are read.
  init(path: String) throws(Refusal) {
    // Opening a pipe would wait for its writer.
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw .unreadable }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    let size = Int(status.st_size)
    guard size <= Self.mostBytes else { throw .tooLarge }
    guard size > 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0)
    guard let address, address != MAP_FAILED else { throw .unreadable }
    bytes = UnsafeRawBufferPointer(start: address, count: size)
  }

  deinit { if let address = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: address), bytes.count) } }
}
