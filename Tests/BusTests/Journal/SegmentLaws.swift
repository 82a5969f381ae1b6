// SPDX-License-Identifier: Apache-2.0

import Messages

@testable import Journal

/// The laws that hold for any bytes in the middle of a segment. The tests check the corpus against them, and
/// `scripts/fuzz` a million more inputs.
enum SegmentLaws {
  /// The law that the bytes break, or `nil`. The fuzzer finds traps.
  static func broken(by bytes: [UInt8]) -> String? {
    // A slice that does not start at index 0, as during a walk through a segment.
    let slice = ([0xa5] + bytes)[1...]
    let foundRecord = SegmentLayout.record(in: slice)
    if case .record(let frame) = foundRecord {
      var again: [UInt8] = []
      SegmentLayout.appendRecord(frame, to: &again)
      guard slice.starts(with: again) else { return "a decoded record is encoded to other bytes" }
    }
    if foundRecord == .incomplete, case .record = SegmentLayout.record(in: slice.dropLast()) {
      return "a complete record becomes incomplete with one more byte"
    }
    if let rest = SegmentLayout.resynchronized(slice) {
      guard rest.endIndex == slice.endIndex, rest.startIndex > slice.startIndex else {
        return "resynchronization does not move forward to the end of the slice"
      }
      guard case .record = SegmentLayout.record(in: rest) else {
        return "resynchronization stops where no record can be decoded"
      }
    }
    return brokenByRecord(of: bytes)
  }

  /// A record of these bytes is found after damage, and is rejected when one bit changes.
  private static func brokenByRecord(of frame: [UInt8]) -> String? {
    guard frame.count >= Wire.headerLength, frame.count <= Wire.frameLimit, frame[0] == Wire.version else { return nil }
    var record: [UInt8] = []
    SegmentLayout.appendRecord(frame, to: &record)
    guard SegmentLayout.record(in: record[...]) == .record(frame: frame) else {
      return "an encoded record cannot be decoded"
    }
    let damage: [UInt8] = [0, 0, 0, 0]
    guard SegmentLayout.resynchronized((damage + record)[...])?.starts(with: record) == true else {
      return "a record after damage is not found"
    }
    record[SegmentLayout.recordHeadLength + frame.count / 2] ^= 0x10
    return SegmentLayout.record(in: record[...]) == .damaged ? nil : "a record with one changed bit is accepted"
  }
}
