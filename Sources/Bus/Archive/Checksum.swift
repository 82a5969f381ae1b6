// SPDX-License-Identifier: Apache-2.0

import CPlatform

/// CRC-32 as in zlib, PNG and Ethernet (reflected polynomial 0xedb88320).
package enum Checksum {
  /// The CRC of the byte `b` followed by `n` zero bytes, at `256 * n + b`: eight bytes are processed in one step.
  private static let table: [UInt32] = {
    var table: [UInt32] = (0..<256).map { index in
      (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
    }
    for index in 256..<2048 {
      let before: UInt32 = table[index - 256]
      table.append(table[Int(before & 0xff)] ^ (before >> 8))
    }
    return table
  }()

  /// The checksum of bytes.
  package static func crc32(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    table.withUnsafeBufferPointer { table in
      var sum = ~UInt32(0)
      let head = checksum_fold(bytes.baseAddress, bytes.count, &sum)
      let tail = bytes.count - bytes.count % 8
      for offset in stride(from: head, to: tail, by: 8) {
        var word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ UInt64(sum)
        sum = 0
        for behind in stride(from: 1792, through: 0, by: -256) {
          sum ^= table[behind + Int(word & 0xff)]
          word >>= 8
        }
      }
      for byte in bytes[tail...] { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8) }
      return ~sum
    }
  }
}
