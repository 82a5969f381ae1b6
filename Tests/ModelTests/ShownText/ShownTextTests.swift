// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

struct ShownTextTests {
  /// Title, clear screen, clipboard (OSC 52), C1, an override of the reading direction, DEL, and a forged line.
  static let attacks = [
    "\u{1b}]0;PWNED\u{7}", "\u{1b}[2J", "\u{1b}]52;c;ZWNobw==\u{7}", "\u{9b}2J", "\u{9d}0;T\u{9c}", "\u{202e}txt",
    "\u{2066}a\u{2069}", "\u{7f}\u{8}\u{8}", "ready\n2026-11-28 notice host: forged", "over\rwritten", "a\u{2028}b",
    "\u{0}",
  ]

  @Test(arguments: attacks)
  func `a control character is escaped, and the rest of the text is unchanged`(_ attack: String) {
    let shown = "é… 👩‍👩‍👧 \(attack) ü".escapingControls
    #expect(!shown.unicodeScalars.contains { Self.isControl($0) })
    #expect(shown.hasPrefix("é… 👩‍👩‍👧 ") && shown.hasSuffix(" ü"))
  }

  @Test func `each control character has its escape`() {
    #expect("a\u{1b}b\u{9b}\u{202e}\n\r\tz".escapingControls == "a\\u{1b}b\\u{9b}\\u{202e}\\n\\r\tz")
    #expect("\r\n".escapingControls == "\\r\\n")
  }

  @Test(arguments: attacks)
  func `JSON has the same value with control characters escaped`(_ attack: String) throws {
    let text = String(decoding: try JSONEncoder().encode(["key": "é… \(attack)"]), as: UTF8.self)
    let shown = text.escapingControlsOfJSON
    #expect(!shown.unicodeScalars.contains { Self.isControl($0) })
    #expect(try JSONDecoder().decode([String: String].self, from: Data(shown.utf8)) == ["key": "é… \(attack)"])
  }

  @Test func `JSON of several lines keeps its lines`() {
    #expect("{\n  \"a\" : \"\u{9b}\"\n}".escapingControlsOfJSON == "{\n  \"a\" : \"\\u009b\"\n}")
  }

  @Test(arguments: ["a" + String(repeating: "\u{301}", count: 1_500), String(repeating: "👩‍👩‍👧", count: 200), "short", ""])
  func `an excerpt is bounded in bytes, and divides no scalar`(_ text: String) {
    for limit in 0...90 {
      let start = text.start(bytes: limit)
      #expect(start.utf8.count <= limit && start.utf8.count > min(limit, text.utf8.count) - 4)
      #expect(text.unicodeScalars.starts(with: start.unicodeScalars))
      let excerpt = text.excerpt(bytes: limit)
      #expect(excerpt == text || excerpt.utf8.count <= limit + 3 && excerpt.unicodeScalars.last == "…")
    }
    #expect(text.excerpt(bytes: text.utf8.count) == text)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control && scalar != "\t"
      || [.lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
      || (0x202a...0x202e).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }
}
