// SPDX-License-Identifier: Apache-2.0

/// Checks in one pass whether a payload is JSON and whether it reloads widgets. Fast, of bounded depth, without side
/// effects. APNs has no reason for a payload that is not JSON, so it is accepted with a remark in the log (ours).
struct PayloadScan {
  /// The syntax error and its byte offset.
  private(set) var flaw: String?
  /// True when the payload is a dictionary with a dictionary `aps`.
  private(set) var hasAPS = false
  /// True when `content-changed` in `aps` is `true`.
  private(set) var isContentChanged = false
  /// True when `content-changed` appears anywhere else.
  private(set) var isContentChangedElsewhere = false

  private static let depthLimit = 64

  private let bytes: [UInt8]
  private var place = 0
  /// The error at which the parser stopped.
  private struct Flaw: Error { let text: String }

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    do throws(Flaw) {
      try value(depth: 0, path: .root)
      skipBlanks()
      if place < bytes.count { throw Flaw(text: "data after the end of the dictionary") }
      if String(validating: bytes, as: UTF8.self) == nil {
        throw Flaw(text: "a string before this place is not UTF-8")
      }
    } catch {
      flaw = "\(error.text), at byte \(place)"
    }
  }

  /// The remark for a push; `nil` when nothing is wrong.
  ///
  /// - Parameter reloads: whether it is to reload widgets or a control.
  func remark(reloads: Bool) -> String? {
    if let flaw {
      return "the payload is not JSON (\(flaw)): accepted, because APNs has no reason for it"
    }
    if !hasAPS { return "the payload has no 'aps' dictionary" }
    guard reloads, !isContentChanged else { return nil }
    return isContentChangedElsewhere
      ? "'content-changed' is outside 'aps': put it into 'aps', as true"
      : "'aps' has no 'content-changed' with the value true: nothing is reloaded"
  }

  // MARK: Parser

  private enum Path { case root, aps, contentChanged, other }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
  }

  private mutating func value(depth: Int, path: Path) throws(Flaw) {
    skipBlanks()
    guard depth <= Self.depthLimit else { throw Flaw(text: "nesting deeper than \(Self.depthLimit)") }
    switch next {
    case UInt8(ascii: "{"): try dictionary(depth: depth, path: path)
    case _ where depth == 0: throw Flaw(text: "expected a dictionary")
    case UInt8(ascii: "["): try array(depth: depth)
    case UInt8(ascii: "\""): _ = try text()
    case UInt8(ascii: "t"):
      try word("true")
      if path == .contentChanged { isContentChanged = true }
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  private mutating func dictionary(depth: Int, path: Path) throws(Flaw) {
    if path == .aps { hasAPS = true }
    place += 1
    skipBlanks()
    if take("}") { return }
    while true {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw Flaw(text: "expected a key, such as after a comma") }
      let inner = below(path, key: try text(), depth: depth)
      skipBlanks()
      guard take(":") else { throw Flaw(text: "expected ':'") }
      try value(depth: depth + 1, path: inner)
      skipBlanks()
      if take("}") { return }
      guard take(",") else { throw Flaw(text: "expected ',' or '}'") }
    }
  }

  private mutating func below(_ path: Path, key: Range<Int>, depth: Int) -> Path {
    if spells(key, "content-changed") {
      if path == .aps { return .contentChanged }
      isContentChangedElsewhere = true
    }
    return path == .root && depth == 0 && spells(key, "aps") ? .aps : .other
  }

  /// Whether a key is this ASCII text, also with escapes: RFC 8259, section 8.3.
  private func spells(_ key: Range<Int>, _ text: String) -> Bool {
    guard bytes[key].contains(UInt8(ascii: "\\")) else { return bytes[key].elementsEqual(text.utf8) }
    var rest = bytes[key]
    for wanted in text.utf8 {
      guard let byte = rest.popFirst() else { return false }
      guard byte == UInt8(ascii: "\\") else {
        guard byte == wanted else { return false }
        continue
      }
      // None of the texts has a character with another escape.
      guard rest.popFirst() == UInt8(ascii: "u") else { return false }
      guard Int(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) == Int(wanted) else { return false }
      rest = rest.dropFirst(4)
    }
    return rest.isEmpty
  }

  private mutating func array(depth: Int) throws(Flaw) {
    place += 1
    skipBlanks()
    if take("]") { return }
    while true {
      try value(depth: depth + 1, path: .other)
      skipBlanks()
      if take("]") { return }
      guard take(",") else { throw Flaw(text: "expected ',' or ']'") }
    }
  }

  /// - Returns: the range of the string without its quotes.
  private mutating func text() throws(Flaw) -> Range<Int> {
    place += 1
    let begin = place
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        place += 1
        return begin..<(place - 1)
      case UInt8(ascii: "\\"): try escape()
      case ..<0x20: throw Flaw(text: "control character in a string")
      default: place += 1
      }
    }
    throw Flaw(text: "unterminated string")
  }

  private mutating func escape() throws(Flaw) {
    place += 1
    switch next {
    case UInt8(ascii: "u"):
      place += 1
      for _ in 0..<4 {
        guard let byte = next, Character(Unicode.Scalar(byte)).isHexDigit else {
          throw Flaw(text: "\\u without 4 digits")
        }
        place += 1
      }
    case .some(let byte) where #""\/bfnrt"#.utf8.contains(byte): place += 1
    default: throw Flaw(text: "unknown escape")
    }
  }

  private mutating func number() throws(Flaw) {
    let begin = place
    _ = take("-")
    let isZero = next == UInt8(ascii: "0")
    let whole = digits()
    guard whole > 0, !isZero || whole == 1 else {
      place = begin
      throw Flaw(text: "expected a value")
    }
    if take("."), digits() == 0 { throw Flaw(text: "number without digits") }
    guard take("e") || take("E") else { return }
    if !take("+") { _ = take("-") }
    if digits() == 0 { throw Flaw(text: "number without digits") }
  }

  private mutating func digits() -> Int {
    let begin = place
    while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
    return place - begin
  }

  private mutating func word(_ word: String) throws(Flaw) {
    for byte in word.utf8 {
      guard next == byte else { throw Flaw(text: "expected a value") }
      place += 1
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }
}
