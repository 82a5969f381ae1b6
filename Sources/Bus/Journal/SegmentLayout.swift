// SPDX-License-Identifier: Apache-2.0

import Archive
import Messages

/// The layout of a segment, `<first sequence, 20 digits>.journal`. All integers are little-endian.
///
///     offset size
///          0    4  "WLJ1"
///          4    4  version, 1
///          8    8  first sequence
///         16       records: length of the frame (4), CRC-32 of the frame (4), the stamped frame as in `Wire`
///
/// The first record of a segment is `bus.started` with all registrations. A segment appears under its name with that
/// record complete; its end may be torn after the broker was killed.
package enum SegmentLayout {
  package static let headLength = 16
  package static let recordHeadLength = 8
  static let magic = Array("WLJ1".utf8)
  static let version: UInt32 = 1
  static let suffix = ".journal"
  /// The suffix of a segment without its first record.
  static let draftSuffix = ".journal.draft"
  /// Is appended to the name of a file that is named like a segment and is none.
  static let asideSuffix = ".damaged"

  package static func head(firstSequence: UInt64) -> [UInt8] {
    magic + bytes(version) + bytes(firstSequence)
  }

  static func name(firstSequence: UInt64) -> String {
    let digits = String(firstSequence)
    return String(repeating: "0", count: 20 - digits.count) + digits + suffix
  }

  /// The first sequence number of a segment from its name; nil for other files.
  static func firstSequence(ofName name: String) -> UInt64? {
    guard name.hasSuffix(suffix), name.utf8.count == 20 + suffix.utf8.count else { return nil }
    return UInt64(name.dropLast(suffix.count))
  }

  /// The first sequence number of a segment from its head; nil for other bytes.
  static func firstSequence(ofHead bytes: [UInt8]) -> UInt64? {
    guard bytes.count == headLength else { return nil }
    let first = bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) }
    return bytes == head(firstSequence: first) ? first : nil
  }

  package static func appendRecord(_ frame: [UInt8], to bytes: inout [UInt8]) {
    frame.withUnsafeBytes { appendRecord($0, to: &bytes) }
  }

  static func appendRecord(_ frame: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    let head = UInt64(Checksum.crc32(of: frame)) << 32 | UInt64(UInt32(frame.count))
    withUnsafeBytes(of: head.littleEndian) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: frame)
  }

  private static func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  /// The content at one offset of a segment.
  enum Found: Equatable {
    /// A whole record, with the envelope's frame.
    case record(frame: [UInt8])
    /// The bytes end before the record does.
    case incomplete
    /// The record is complete and corrupted.
    case damaged
  }

  /// Reads the record at the beginning of `bytes`, which extend to the end of what is available.
  static func record(in bytes: ArraySlice<UInt8>) -> Found {
    guard bytes.count >= recordHeadLength else { return .incomplete }
    let length = Int(integer(in: bytes, at: 0))
    guard length >= Wire.headerLength, length <= Wire.frameLimit else { return .damaged }
    guard bytes.count >= recordHeadLength + length else { return .incomplete }
    let start = bytes.startIndex + recordHeadLength
    let frame = bytes[start..<start + length]
    return checksum(frame) == integer(in: bytes, at: 4) ? .record(frame: Array(frame)) : .damaged
  }

  /// Returns `bytes` from the next whole record on, when the beginning is damaged.
  static func resynchronized(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = bytes.dropFirst()
    while rest.count >= recordHeadLength + Wire.headerLength {
      if rest[rest.startIndex + recordHeadLength] == Wire.version, case .record = record(in: rest) { return rest }
      rest = rest.dropFirst()
    }
    return nil
  }

  private static func integer(in bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
    bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
  }

  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.withUnsafeBytes { Checksum.crc32(of: $0) } }
}
