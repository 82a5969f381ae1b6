// SPDX-License-Identifier: Apache-2.0
/// Reads the bytes that `JSONWriter` and `JSONEncoder` write, and gives up on all others: on spaces, another order of the
/// keys, unknown keys, `null`. What it accepts, `JSONDecoder` accepts and reads as the same value.
package struct JSONReader {
  /// Only `JSONDecoder` can tell whether the bytes are valid.
  package struct Unusual: Error {}

  private let bytes: [UInt8]
  /// The place of the next byte.
  private var place = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a value that consists of all the bytes.
  package static func value<Value: DirectJSON>(_: Value.Type, from bytes: [UInt8]) throws(Unusual) -> Value {
    var reader = JSONReader(bytes)
    let value = try Value(reading: &reader)
    guard reader.place == bytes.count else { throw Unusual() }
    return value
  }

  /// Begins an object. Its keys follow in the order of their bytes.
  package mutating func open() throws(Unusual) { try expect("{") }

  /// Ends an object.
  package mutating func close() throws(Unusual) { try expect("}") }

  /// Reads a key and its value.
  package mutating func read<Value: DirectJSON>(_ key: StaticString) throws(Unusual) -> Value {
    guard skips(key: key) else { throw Unusual() }
    return try Value(reading: &self)
  }

  /// Reads a key and its value; `nil` when another key follows, or none.
  package mutating func readIfPresent<Value: DirectJSON>(_ key: StaticString) throws(Unusual) -> Value? {
    skips(key: key) ? try Value(reading: &self) : nil
  }

  mutating func elements<Element: DirectJSON>() throws(Unusual) -> [Element] {
    var elements: [Element] = []
    try expect("[")
    while !skips("]") {
      if !elements.isEmpty { try expect(",") }
      elements.append(try Element(reading: &self))
    }
    return elements
  }

  mutating func boolean() throws(Unusual) -> Bool {
    if skips(all: "true") { return true }
    guard skips(all: "false") else { throw Unusual() }
    return false
  }

  /// An integer of at most 18 digits. What follows it, such as a fraction, is left to the next step.
  mutating func integer<Integer: FixedWidthInteger>() throws(Unusual) -> Integer {
    let isNegative = skips("-")
    let start = place
    var value: Int64 = 0
    while place < bytes.count, place - start < 18, let digit = bytes[place].digit {
      value = value * 10 + digit
      place += 1
    }
    let isShortest = bytes[start..<place].first != UInt8(ascii: "0") || place == start + 1 && !isNegative
    guard place > start, isShortest, let integer = Integer(exactly: isNegative ? -value : value) else {
      throw Unusual()
    }
    return integer
  }

  /// A number that is spelled as it would be written, and is therefore finite and within JSON's grammar.
  mutating func number<Number: BinaryFloatingPoint & LosslessStringConvertible>() throws(Unusual) -> Number {
    let rest = bytes[place...]
    let spelling = rest.prefix { $0.isInNumber }
    guard let number = Number(String(decoding: spelling, as: UTF8.self)) else { throw Unusual() }
    var writer = JSONWriter()
    writer.write(number: number)
    guard let json = writer.json, json.elementsEqual(spelling) else { throw Unusual() }
    place = spelling.endIndex
    return number
  }

  mutating func string() throws(Unusual) -> String {
    try expect("\"")
    let start = place
    while place < bytes.count, bytes[place].isPlain { place += 1 }
    var characters = bytes[start..<place]
    while !skips("\"") {
      guard skips("\\"), place < bytes.count, let escaped = bytes[place].escaped else { throw Unusual() }
      characters.append(escaped)
      place += 1
      while place < bytes.count, bytes[place].isPlain {
        characters.append(bytes[place])
        place += 1
      }
    }
    guard let string = String(validating: characters, as: UTF8.self) else { throw Unusual() }
    return string
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(Unusual) {
    guard skips(character) else { throw Unusual() }
  }

  /// Skips a character of ASCII if it is next.
  private mutating func skips(_ character: Unicode.Scalar) -> Bool {
    guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func skips(all text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - place >= count else { return false }
    for index in 0..<count where bytes[place + index] != text.utf8Start[index] { return false }
    place += count
    return true
  }

  private mutating func skips(key: StaticString) -> Bool {
    let start = place
    let isFirst = bytes[place - 1] == UInt8(ascii: "{")
    if isFirst || skips(","), skips("\""), skips(all: key), skips("\""), skips(":") { return true }
    place = start
    return false
  }
}

extension UInt8 {
  fileprivate var digit: Int64? { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") ? Int64(self) - 0x30 : nil }

  fileprivate var isInNumber: Bool {
    switch self {
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"): true
    default: digit != nil
    }
  }

  /// Whether it is not escaped in a string.
  fileprivate var isPlain: Bool { self >= 0x20 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\") }

  /// What it represents after a backslash. Digits after `u` are left to `JSONDecoder`.
  fileprivate var escaped: UInt8? {
    switch self {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): self
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "n"): 0x0a
    case UInt8(ascii: "f"): 0x0c
    case UInt8(ascii: "r"): 0x0d
    default: nil
    }
  }
}

/// Writes the bytes that `JSONEncoder` writes with sorted keys and without escaping slashes.
package struct JSONWriter {
  private var bytes: [UInt8] = []
  private var isComplete = true

  package init() { bytes.reserveCapacity(1024) }

  /// What was written; `nil` when a number has no form in JSON (a `nan`).
  package var json: [UInt8]? { isComplete ? bytes : nil }

  /// Begins an object. Its keys follow in the order of their bytes.
  package mutating func open() { bytes.append(UInt8(ascii: "{")) }

  /// Ends an object.
  package mutating func close() { bytes.append(UInt8(ascii: "}")) }

  /// Writes a key, which needs no escapes, and its value. Nothing is written for `nil`.
  package mutating func write<Value: DirectJSON>(_ key: StaticString, _ value: Value?) {
    guard let value else { return }
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    value.write(to: &self)
  }

  mutating func write<Element: DirectJSON>(elements: [Element]) {
    bytes.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      element.write(to: &self)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func write(integer: some FixedWidthInteger) { append(integer.description) }

  /// An integral number is written without a fraction.
  mutating func write(number: some BinaryFloatingPoint & LosslessStringConvertible) {
    guard number.isFinite else {
      isComplete = false
      return
    }
    append(number.description)
    if bytes.suffix(2).elementsEqual(".0".utf8) { bytes.removeLast(2) }
  }

  mutating func write(boolean: Bool) { append(boolean ? "true" : "false") }

  mutating func write(string: String) {
    bytes.append(UInt8(ascii: "\""))
    string.utf8.span.withUnsafeBufferPointer { text in
      // Bytes before this one have been written.
      var start = 0
      for index in text.indices where text[index].needsEscape {
        bytes.append(contentsOf: text[start..<index])
        start = index + 1
        append(text[index].escape)
      }
      bytes.append(contentsOf: text[start...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func append(_ text: String) {
    text.utf8.span.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
  }
}

extension UInt8 {
  fileprivate var needsEscape: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }

  fileprivate var escape: String {
    switch self {
    case UInt8(ascii: "\""): "\\\""
    case UInt8(ascii: "\\"): "\\\\"
    case 0x08: "\\b"
    case 0x09: "\\t"
    case 0x0a: "\\n"
    case 0x0c: "\\f"
    case 0x0d: "\\r"
    default: (self < 0x10 ? "\\u000" : "\\u00") + String(self, radix: 16)
    }
  }
}
