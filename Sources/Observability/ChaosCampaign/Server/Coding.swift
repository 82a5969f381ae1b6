// SPDX-License-Identifier: Apache-2.0

/// Content codings without compression, which need no library: stored blocks of deflate (RFC 1951), in the formats of
/// zlib (RFC 1950) and gzip (RFC 1952). And a body that grows when it is decoded.
package enum Coding {
  private static let gzipHead: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]

  /// Deflate without a frame.
  package static func deflate(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    var rest = bytes
    repeat {
      let piece = rest.prefix(0xffff)
      rest = rest.dropFirst(piece.count)
      let count = UInt16(piece.count)
      out.append(rest.isEmpty ? 1 : 0)
      for word in [count, ~count] { out += [UInt8(word & 255), UInt8(word >> 8)] }
      out += piece
    } while !rest.isEmpty
    return out
  }

  /// The coding `deflate` of HTTP.
  package static func zlib(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return [0x78, 0x01] + deflate(bytes) + words(high << 16 | low).reversed()
  }

  /// One member.
  package static func gzip(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    gzipHead + deflate(bytes) + words(checksum(bytes)) + words(UInt32(truncatingIfNeeded: bytes.count))
  }

  /// Zeros that are about 158 times as long when they are decoded.
  package struct Bomb: Sendable {
    package let encoded: [UInt8]
    package let decoded: [UInt8]

    /// About so many bytes when decoded.
    package init(_ size: Int) {
      // A literal, then copies of 258 bytes from 1 before, each 13 bits, with the fixed codes of RFC 1951, section 3.2.6.
      let copies = size / 258
      var bits = BitWriter()
      bits.write([true, true, false])
      bits.write(code: 0x30, 8)
      for _ in 0..<copies {
        bits.write(code: 0b1100_0101, 8)
        bits.write(code: 0, 5)
      }
      bits.write(code: 0, 7)
      decoded = [UInt8](repeating: 0, count: copies * 258 + 1)
      encoded =
        gzipHead + bits.finished + words(checksum(decoded[...])) + words(UInt32(truncatingIfNeeded: decoded.count))
    }
  }

  /// Bits as deflate packs them: the first one is the lowest of a byte.
  private struct BitWriter {
    private var bytes: [UInt8] = []
    private var current: UInt8 = 0
    private var count = 0

    mutating func write(_ bits: [Bool]) { for bit in bits { add(bit) } }

    /// A Huffman code, its highest bit first.
    mutating func write(code: Int, _ length: Int) {
      for bit in (0..<length).reversed() { add(code >> bit & 1 == 1) }
    }

    private mutating func add(_ bit: Bool) {
      if bit { current |= 1 << UInt8(count) }
      count += 1
      guard count == 8 else { return }
      bytes.append(current)
      (current, count) = (0, 0)
    }

    var finished: [UInt8] { count == 0 ? bytes : bytes + [current] }
  }

  private static func words(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
  }

  /// CRC-32 of RFC 1952.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    table.withUnsafeBufferPointer { table in
      ~bytes.withUnsafeBufferPointer { all in
        var value: UInt32 = 0xffff_ffff
        for byte in all { value = table[Int((value ^ UInt32(byte)) & 255)] ^ (value >> 8) }
        return value
      }
    }
  }
}
