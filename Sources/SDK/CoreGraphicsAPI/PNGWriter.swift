// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes pixels into a PNG file without compressing them. Source: Portable Network Graphics, third edition, and RFC 1950
/// and RFC 1951.
struct PNGWriter {
  let width: Int
  let height: Int
  let bytesPerRow: Int
  let alpha: CGImageAlphaInfo

  /// - Parameter pixels: four bytes each, in rows.
  /// - Returns: `nil` for too few pixels.
  func file(_ pixels: Data) -> Data? {
    guard width > 0, height > 0, bytesPerRow >= width * 4, pixels.count >= bytesPerRow * (height - 1) + width * 4 else {
      return nil
    }
    var header = Self.number(width) + Self.number(height)
    // 8 bits, red, green, blue and opacity, no interlacing.
    header += [8, 6, 0, 0, 0]
    return Data(
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.chunk("IHDR", header)
        + Self.chunk("IDAT", Self.stored(rows(pixels))) + Self.chunk("IEND", []))
  }

  /// Each row after the number of its filter: none.
  private func rows(_ pixels: Data) -> [UInt8] {
    let bytes = [UInt8](pixels)
    var result: [UInt8] = []
    result.reserveCapacity(height * (width * 4 + 1))
    for row in 0..<height {
      result.append(0)
      for column in 0..<width {
        let place = row * bytesPerRow + column * 4
        result += pixel(Array(bytes[place..<place + 4]))
      }
    }
    return result
  }

  /// Without the multiplication by the opacity, which PNG does not have.
  private func pixel(_ bytes: [UInt8]) -> [UInt8] {
    switch alpha {
    case .noneSkipLast: return Array(bytes[..<3]) + [255]
    case .premultipliedLast where bytes[3] != 255:
      guard bytes[3] > 0 else { return [0, 0, 0, 0] }
      let opacity = Int(bytes[3])
      return bytes[..<3].map { UInt8(min(255, (Int($0) * 255 + opacity / 2) / opacity)) } + [bytes[3]]
    default: return bytes
    }
  }

  /// In the blocks of a stream that are not compressed.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let end = min(start + 0xFFFF, bytes.count)
      let length = UInt16(end - start)
      result.append(end == bytes.count ? 1 : 0)
      for value in [length, ~length] { result += [UInt8(value & 0xFF), UInt8(value >> 8)] }
      result += bytes[start..<end]
      start = end
    } while start < bytes.count
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return result + number(Int(high << 16 | low))
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    let check = ~body.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
    return number(content.count) + body + number(Int(check))
  }

  /// Four bytes, the highest first.
  private static func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) } }

  /// Of the cyclic redundancy check.
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }
}
