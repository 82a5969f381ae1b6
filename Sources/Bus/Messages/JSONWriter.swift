// SPDX-License-Identifier: Apache-2.0

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
