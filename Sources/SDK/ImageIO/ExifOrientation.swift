// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The orientation in a JPEG file. Source: ITU-T T.81, annex B, and Exif 2.32, 4.5.4 and 4.6.4 A.
enum ExifOrientation {
  /// From 1 to 8; `nil` for a file without it.
  static func find(in data: Data) -> Int? {
    let bytes = [UInt8](data.prefix(1 << 17))
    var index = 2
    while index + 4 <= bytes.count, bytes[index] == 0xFF {
      let length = Int(bytes[index + 2]) << 8 | Int(bytes[index + 3])
      let end = index + 2 + length
      guard length >= 2, end <= bytes.count, bytes[index + 1] != 0xDA else { return nil }
      if bytes[index + 1] == 0xE1, bytes[(index + 4)..<end].starts(with: Array("Exif\0\0".utf8)) {
        return Directory(Array(bytes[(index + 10)..<end])).orientation
      }
      index = end
    }
    return nil
  }

  /// The first directory of a TIFF header.
  private struct Directory {
    private let bytes: [UInt8]
    private let isLittle: Bool

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      isLittle = bytes.starts(with: Array("II".utf8))
    }

    var orientation: Int? {
      guard let start = number(at: 4, 4), let count = number(at: start, 2) else { return nil }
      let entries = (0..<count).map { start + 2 + 12 * $0 }
      guard let entry = entries.first(where: { number(at: $0, 2) == 0x0112 }) else { return nil }
      return number(at: entry + 8, 2).flatMap { (1...8).contains($0) ? $0 : nil }
    }

    private func number(at index: Int, _ count: Int) -> Int? {
      guard index >= 0, index <= bytes.count - count else { return nil }
      let digits = bytes[index..<(index + count)]
      return (isLittle ? Array(digits.reversed()) : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
    }
  }
}
