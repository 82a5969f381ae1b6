// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension Sequence<UInt8> {
  /// Two lower-case digits for each byte.
  package var hexadecimal: String {
    withContiguousStorageIfAvailable { Hexadecimal.text(of: $0) }
      ?? Array(self).withUnsafeBufferPointer { Hexadecimal.text(of: $0) }
  }
}

extension Data {
  /// The bytes of a text with two hexadecimal digits for each, such as a device token; `nil` for another text.
  package init?(hexadecimal text: String) {
    let digits = text.utf8.compactMap(Hexadecimal.value(of:))
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    self.init(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }
}

private enum Hexadecimal {
  static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      for (index, byte) in bytes.enumerated() {
        text[2 * index] = digit(byte >> 4)
        text[2 * index + 1] = digit(byte & 15)
      }
      return bytes.count * 2
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
