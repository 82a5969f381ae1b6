// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension Data {
  /// Decodes a device token, which is hexadecimal on the wire; `nil` when the text is not hexadecimal.
  package init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    self.init(capacity: digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
      append(byte)
    }
  }
}
