/// One look over a payload: is it JSON, and what does a widget find in it. Quick, of bounded depth, and it changes
/// nothing: APNs has no reason for a payload that is not JSON, so that it is accepted, with a remark in the log (ours).
struct PayloadScan {
  /// What is wrong with the text, and at which byte.
  private(set) var flaw: String?
  /// It is a dictionary with a dictionary `aps`.
  private(set) var hasAPS = false
  /// `content-changed` of `aps` is `true`.
  private(set) var isContentChanged = false
  /// There is a `content-changed` somewhere else.
  private(set) var isContentChangedElsewhere = false

  private static let depthLimit = 64

  private let bytes: [UInt8]
  private var place = 0
  /// What stopped the reader.
  private struct Flaw: Error { let text: String }

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    do throws(Flaw) {
      try value(depth: 0, path: .root)
      skipBlanks()
      if place < bytes.count { throw Flaw(text: "more follows the end of the dictionary") }
      if String(validating: bytes, as: UTF8.self) == nil {
        throw Flaw(text: "a text is not UTF-8, somewhere before its end")
      }
    } catch {
      flaw = "\(error.text), at byte \(place)"
    }
  }

  /// The remark for a push of this type; `nil` when there is nothing to say.
  func remark(isWidget: Bool) -> String? {
    if let flaw {
      return "the payload is not JSON (\(flaw)): APNs has no reason for that, and so it was accepted"
    }
    if !hasAPS { return "the payload has no dictionary 'aps'" }
    guard isWidget, !isContentChanged else { return nil }
    return isContentChangedElsewhere
      ? "'content-changed' stands beside 'aps' or below another key: it belongs into 'aps', as true"
      : "'aps' has no 'content-changed' that is true: the widgets do not reload"
  }

  // MARK: The reader

  private enum Path { case root, aps, contentChanged, other }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
  }

  private mutating func value(depth: Int, path: Path) throws(Flaw) {
    skipBlanks()
    guard depth <= Self.depthLimit else { throw Flaw(text: "it is deeper than \(Self.depthLimit)") }
    switch next {
    case UInt8(ascii: "{"): try dictionary(depth: depth, path: path)
    case _ where depth == 0: throw Flaw(text: "no dictionary begins")
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
      guard next == UInt8(ascii: "\"") else { throw Flaw(text: "a key is due, such as after a comma") }
      let inner = below(path, key: try text(), depth: depth)
      skipBlanks()
      guard take(":") else { throw Flaw(text: "a ':' is due") }
      try value(depth: depth + 1, path: inner)
      skipBlanks()
      if take("}") { return }
      guard take(",") else { throw Flaw(text: "a ',' or '}' is due") }
    }
  }

  private mutating func below(_ path: Path, key: Range<Int>, depth: Int) -> Path {
    if bytes[key].elementsEqual("content-changed".utf8) {
      if path == .aps { return .contentChanged }
      isContentChangedElsewhere = true
    }
    return path == .root && depth == 0 && bytes[key].elementsEqual("aps".utf8) ? .aps : .other
  }

  private mutating func array(depth: Int) throws(Flaw) {
    place += 1
    skipBlanks()
    if take("]") { return }
    while true {
      try value(depth: depth + 1, path: .other)
      skipBlanks()
      if take("]") { return }
      guard take(",") else { throw Flaw(text: "a ',' or ']' is due") }
    }
  }

  /// - Returns: where the text is, without its quotes.
  private mutating func text() throws(Flaw) -> Range<Int> {
    place += 1
    let begin = place
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        place += 1
        return begin..<(place - 1)
      case UInt8(ascii: "\\"): try escape()
      case ..<0x20: throw Flaw(text: "a text has a control character")
      default: place += 1
      }
    }
    throw Flaw(text: "a text has no end")
  }

  private mutating func escape() throws(Flaw) {
    place += 1
    switch next {
    case UInt8(ascii: "u"):
      place += 1
      for _ in 0..<4 {
        guard let byte = next, Character(Unicode.Scalar(byte)).isHexDigit else {
          throw Flaw(text: "a \\u lacks digits")
        }
        place += 1
      }
    case .some(let byte) where #""\/bfnrt"#.utf8.contains(byte): place += 1
    default: throw Flaw(text: "an escape is unknown")
    }
  }

  private mutating func number() throws(Flaw) {
    let begin = place
    _ = take("-")
    let isZero = next == UInt8(ascii: "0")
    let whole = digits()
    guard whole > 0, !isZero || whole == 1 else {
      place = begin
      throw Flaw(text: "a value is due")
    }
    if take("."), digits() == 0 { throw Flaw(text: "a number lacks digits") }
    guard take("e") || take("E") else { return }
    if !take("+") { _ = take("-") }
    if digits() == 0 { throw Flaw(text: "a number lacks digits") }
  }

  private mutating func digits() -> Int {
    let begin = place
    while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
    return place - begin
  }

  private mutating func word(_ word: String) throws(Flaw) {
    for byte in word.utf8 {
      guard next == byte else { throw Flaw(text: "a value is due") }
      place += 1
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }
}
