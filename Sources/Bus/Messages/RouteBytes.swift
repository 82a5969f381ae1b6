// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The bytes of an envelope that decide whether it may be forwarded, and where: its version, kind and addresses.
///
/// A receiver that knows them need not decode the next envelope that has the same ones.
package struct RouteBytes: Sendable {
  /// A frame up to its body.
  private let head: [UInt8]

  /// Copies the bytes of a frame that was decoded before.
  package init(of frame: UnsafeRawBufferPointer) { head = Array(frame[..<frame.headLength]) }

  /// Whether a frame is an envelope with the same kind and addresses: all that decoding would check is checked.
  package func matches(_ frame: UnsafeRawBufferPointer) -> Bool {
    head.withUnsafeBytes { head in
      guard frame.count >= head.count, head.isEqual(to: frame, from: 0, count: Wire.sequenceOffset),
        head.isEqual(to: frame, from: Wire.sourceLengthOffset, count: 4),
        head.isEqual(to: frame, from: Wire.headerLength, count: head.count - Wire.headerLength)
      else { return false }
      let bodyLength = Int(frame.number(at: Wire.bodyLengthOffset, UInt32.self))
      return bodyLength <= Wire.bodyLimit && frame.count == head.count + bodyLength
        && frame.number(at: Wire.reservedOffset, UInt32.self) == 0
        && frame.number(at: Wire.reservedOffset + 4, UInt16.self) == 0
    }
  }

  /// A hash of these bytes, which is the same in all processes; nil when a frame is too short for them.
  package static func hash(of frame: UnsafeRawBufferPointer) -> UInt64? {
    guard frame.count >= Wire.headerLength, frame.headLength <= frame.count else { return nil }
    var hash: UInt64 = 0
    for offset in stride(from: 0, to: Wire.sequenceOffset, by: 8) {
      hash.mix(frame.number(at: offset, UInt64.self))
    }
    let end = frame.headLength
    for offset in stride(from: Wire.headerLength, to: end - 7, by: 8) {
      hash.mix(frame.number(at: offset, UInt64.self))
    }
    // The last word overlaps the one before, or the header.
    hash.mix(frame.number(at: end - 8, UInt64.self))
    return hash
  }
}

extension UInt64 {
  fileprivate mutating func mix(_ word: UInt64) {
    self = (self ^ word) &* 0x9e37_79b9_7f4a_7c15
    self ^= self >> 29
  }
}

/// Unchecked reads; the caller has checked the bounds.
extension UnsafeRawBufferPointer {
  fileprivate func number<T: FixedWidthInteger>(at offset: Int, _: T.Type) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  fileprivate func isEqual(to other: UnsafeRawBufferPointer, from offset: Int, count: Int) -> Bool {
    guard let start = baseAddress, let otherStart = other.baseAddress else { return false }
    return memcmp(start + offset, otherStart + offset, count) == 0
  }

  /// The length of the frame without its body, as its header states it.
  fileprivate var headLength: Int {
    Wire.headerLength + Int(number(at: Wire.sourceLengthOffset, UInt16.self))
      + Int(number(at: Wire.sourceLengthOffset + 2, UInt16.self))
  }
}
