// SPDX-License-Identifier: Apache-2.0

import _FoundationICU

/// The rules of Unicode by ICU, which the Swift runtime contains for Foundation. For one thread at a time.
///
/// Only this file imports ICU's module. Its name begins with an underscore: another toolchain may have another one. Nothing
/// depends on the language of the device, so that the same text has the same lines.
package final class UnicodeRules: TextRules {
  private struct DirectionKey: Hashable {
    var text: String
    var isRightToLeft: Bool
  }

  private let lines: OpaquePointer
  private let bidi: OpaquePointer
  private var knownEnds: [String: [Int]] = [:]
  private var knownDirections: [DirectionKey: TextDirections?] = [:]

  private static let mostTexts = 10_000
  /// `UBIDI_DEFAULT_LTR`: the direction of the first letter, or else from left to right. The next number: or else from right
  /// to left.
  private static let naturalLevel: UInt8 = 0xFE

  /// - Throws: if the runtime has no data for line breaks.
  package init() throws(FontFailure) {
    var status = U_ZERO_ERROR
    guard let lines = swift_ubrk_open(UBRK_LINE, "en", nil, 0, &status), status.rawValue <= U_ZERO_ERROR.rawValue else {
      throw FontFailure(code: .rules, description: "ICU has no rules for line breaks: error \(status.rawValue)")
    }
    guard let bidi = swift_ubidi_open() else {
      swift_ubrk_close(lines)
      throw FontFailure(code: .rules, description: "ICU cannot order texts of two directions")
    }
    (self.lines, self.bidi) = (lines, bidi)
  }

  deinit {
    swift_ubrk_close(lines)
    swift_ubidi_close(bidi)
  }

  // MARK: Lines

  package func lineEnds(of text: String) -> [Int] {
    if let known = knownEnds[text] { return known }
    var ends: [Int] = []
    var contiguous = text
    contiguous.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        var status = U_ZERO_ERROR
        guard let reader = swift_utext_openUTF8(nil, characters.baseAddress, Int64(characters.count), &status) else {
          return
        }
        swift_ubrk_setUText(lines, reader, &status)
        // The iterator has its own reader of the same bytes.
        if status.rawValue <= U_ZERO_ERROR.rawValue {
          while case let end = swift_ubrk_next(lines), end > 0 { ends.append(Int(end)) }
        }
        swift_utext_close(reader)
      }
    }
    if ends.last != text.utf8.count { ends.append(text.utf8.count) }
    if knownEnds.count >= Self.mostTexts { knownEnds.removeAll() }
    knownEnds[text] = ends
    return ends
  }

  // MARK: Directions

  package func directions(of text: String, isRightToLeft: Bool) -> TextDirections? {
    if !isRightToLeft, !Self.mayHaveRightToLeft(text) { return nil }
    let key = DirectionKey(text: text, isRightToLeft: isRightToLeft)
    if let known = knownDirections[key] { return known }
    let foundDirections = Array(text.utf16).withUnsafeBufferPointer { units in
      directions(of: units, level: Self.naturalLevel + (isRightToLeft ? 1 : 0))
    }
    let result = foundDirections.map { Self.inBytes($0, of: text) }
    if knownDirections.count >= Self.mostTexts { knownDirections.removeAll() }
    knownDirections.updateValue(result, forKey: key)
    return result
  }

  /// Whether a text has a character from which Unicode derives a direction from right to left. Few other texts have a byte of
  /// these ranges: letters up to Armenian, Chinese, Japanese and Korean have none.
  private static func mayHaveRightToLeft(_ text: String) -> Bool {
    text.utf8.contains { $0 >= 0xD6 && !(0xE3...0xEE).contains($0) }
  }

  /// The directions by places in UTF-16; `nil` if there is only one, from left to right.
  private func directions(of units: UnsafeBufferPointer<UInt16>, level: UInt8) -> TextDirections? {
    var status = U_ZERO_ERROR
    let length = Int32(units.count)
    swift_ubidi_setPara(bidi, units.baseAddress, length, level, nil, &status)
    guard status.rawValue <= U_ZERO_ERROR.rawValue else { return nil }
    var foundDirections = TextDirections(parts: [], paragraphs: [])
    var start: Int32 = 0
    while start < length {
      var (end, level): (Int32, UInt8) = (0, 0)
      swift_ubidi_getLogicalRun(bidi, start, &end, &level)
      guard end > start else { break }
      foundDirections.parts.append(.init(start: Int(start), level: Int(level)))
      start = end
    }
    for index in 0..<swift_ubidi_countParagraphs(bidi) {
      var (first, end, level): (Int32, Int32, UInt8) = (0, 0, 0)
      swift_ubidi_getParagraphByIndex(bidi, index, &first, &end, &level, &status)
      guard status.rawValue <= U_ZERO_ERROR.rawValue else { break }
      foundDirections.paragraphs.append(.init(start: Int(first), level: Int(level)))
    }
    let isPlain =
      foundDirections.parts.allSatisfy { $0.level == 0 } && foundDirections.paragraphs.allSatisfy { $0.level == 0 }
    return isPlain ? nil : foundDirections
  }

  /// The same directions by places in UTF-8.
  private static func inBytes(_ directions: TextDirections, of text: String) -> TextDirections {
    func converted(_ parts: [TextDirections.Part]) -> [TextDirections.Part] {
      var (units, bytes, next) = (0, 0, 0)
      var result: [TextDirections.Part] = []
      for scalar in text.unicodeScalars {
        while next < parts.count, parts[next].start <= units {
          result.append(.init(start: bytes, level: parts[next].level))
          next += 1
        }
        units += UTF16.width(scalar)
        bytes += UTF8.width(scalar)
      }
      return result
    }
    return TextDirections(parts: converted(directions.parts), paragraphs: converted(directions.paragraphs))
  }

  // MARK: Scripts

  /// The number of the script that a letter belongs to; `nil` for a character of several scripts, such as a digit or an
  /// accent. Source: Unicode Standard Annex 24.
  func script(of scalar: Unicode.Scalar) -> Int? {
    var status = U_ZERO_ERROR
    let script = swift_uscript_getScript(Int32(bitPattern: scalar.value), &status)
    return script.rawValue <= USCRIPT_INHERITED.rawValue ? nil : Int(script.rawValue)
  }
}
