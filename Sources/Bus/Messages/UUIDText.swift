// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

extension UUID {
  /// A new version 4 UUID (RFC 9562, section 5.4). Foundation's own opens, reads and closes `/dev/urandom` for each one.
  package static func random() -> UUID {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    guard getentropy(&bytes, MemoryLayout.size(ofValue: bytes)) == 0 else { return UUID() }
    bytes.6 = bytes.6 & 0x0f | 0x40
    bytes.8 = bytes.8 & 0x3f | 0x80
    return UUID(uuid: bytes)
  }

  /// `uuidString` in lower case. Foundation's own uses a format string, which is slow.
  package var text: String { String(unsafeUninitializedCapacity: 36) { write(to: $0, UInt8(ascii: "a")) } }

  /// `uuidString`, without the format string.
  package var upperCaseText: String { String(unsafeUninitializedCapacity: 36) { write(to: $0, UInt8(ascii: "A")) } }

  private func write(to text: UnsafeMutableBufferPointer<UInt8>, _ ten: UInt8) -> Int {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : ten - 10 + value }
    var place = 0
    withUnsafeBytes(of: uuid) { bytes in
      for (index, byte) in bytes.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          text[place] = UInt8(ascii: "-")
          place += 1
        }
        text[place] = digit(byte >> 4)
        text[place + 1] = digit(byte & 0xf)
        place += 2
      }
    }
    return place
  }
}
