// SPDX-License-Identifier: Apache-2.0
/// Characters that a terminal obeys instead of showing them, or that change the order in which it shows a line.
enum ControlCharacters {
  /// C0 except the tab, DEL, C1, the line and paragraph separators, and the embeddings, overrides and isolates of
  /// bidirectional text.
  static func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09: false
    case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  /// Whether a text may have such a character. Looks at bytes only: every such character that is not ASCII begins with
  /// 0xC2 or 0xE2.
  static func mayBe(in text: some StringProtocol) -> Bool {
    text.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f || $0 == 0xc2 || $0 == 0xe2 }
  }
}

extension StringProtocol {
  /// The text with control characters as `\u{1b}`, and line ends as `\n` and `\r`. It is one line.
  package var escapingControls: String { escapingControls { _ in 0 } }

  /// The text with control characters as `\u{1b}`.
  ///
  /// - Parameter keptLength: gets the rest of the text from a control character on, and returns how many of its first
  ///   scalars stay as they are.
  package func escapingControls(except keptLength: (Substring.UnicodeScalarView) -> Int) -> String {
    guard ControlCharacters.mayBe(in: self) else { return String(self) }
    var shown = String.UnicodeScalarView()
    var rest = Substring(self).unicodeScalars
    while let scalar = rest.first {
      let count = ControlCharacters.contains(scalar) ? keptLength(rest) : 1
      if count > 0 {
        shown.append(contentsOf: rest.prefix(count))
        rest = rest.dropFirst(count)
      } else {
        shown.append(contentsOf: Self.escape(scalar).unicodeScalars)
        rest.removeFirst()
      }
    }
    return String(shown)
  }

  /// A text of JSON with control characters as `\u001b`. They occur only within its strings, where this is the same
  /// character. Line ends and tabs, which may be between its values, are left.
  package var escapingControlsOfJSON: String {
    guard ControlCharacters.mayBe(in: self) else { return String(self) }
    var shown = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if ControlCharacters.contains(scalar), scalar != "\n", scalar != "\r" {
        let digits = String(scalar.value, radix: 16)
        shown.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
      } else {
        shown.append(scalar)
      }
    }
    return String(shown)
  }

  fileprivate static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    default: "\\u{\(String(scalar.value, radix: 16))}"
    }
  }
}

extension StringProtocol {
  /// The start of the text, with at most this number of bytes of UTF-8. A scalar is not divided.
  ///
  /// A number of characters bounds nothing: one character can have any number of combining marks.
  package func start(bytes limit: Int) -> String {
    let bytes = Substring(self).utf8
    guard var end = bytes.index(bytes.startIndex, offsetBy: limit, limitedBy: bytes.endIndex), end < bytes.endIndex
    else {
      return String(self)
    }
    while end > bytes.startIndex, bytes[end] & 0xc0 == 0x80 { end = bytes.index(before: end) }
    return String(Substring(bytes[..<end]))
  }

  /// The text, or its start with `…` when it has more than this number of bytes of UTF-8.
  package func excerpt(bytes limit: Int) -> String {
    let start = start(bytes: limit)
    return start.utf8.count < utf8.count ? start + "…" : start
  }
}
