// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Glibc

/// Random numbers of the system's generator, read in batches: each read is a system call.
struct RandomNumbers: Sendable {
  private var left: [UInt64] = []
  /// 256 bytes, the maximum of `getentropy`.
  private static let atOnce = 32

  private mutating func next() -> UInt64 {
    if let number = left.popLast() { return number }
    left = Array(unsafeUninitializedCapacity: Self.atOnce) { buffer, count in
      if let start = buffer.baseAddress, getentropy(start, Self.atOnce * MemoryLayout<UInt64>.size) == 0 {
        count = Self.atOnce
      }
    }
    if left.isEmpty {
      var generator = SystemRandomNumberGenerator()
      left.append(generator.next())
    }
    return left.removeLast()
  }

  /// Returns a random UUID: RFC 9562, version 4.
  mutating func uuid() -> UUID {
    UUID(next() & ~0xf000 | 0x4000, next() & ~(3 << 62) | 2 << 62)
  }

  /// Returns a random UUID greater than those of earlier milliseconds: RFC 9562, version 7. An index of them grows only
  /// at its end.
  mutating func uuid(at date: Date) -> UUID {
    let milliseconds = UInt64(saturating: min(max(0, date.timeIntervalSince1970 * 1000), 0x1p47))
    return UUID(milliseconds << 16 | 0x7000 | next() & 0xfff, next() & ~(3 << 62) | 2 << 62)
  }
}

extension UUID {
  fileprivate init(_ high: UInt64, _ low: UInt64) {
    self.init(uuid: withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { $0.load(as: uuid_t.self) })
  }
}
