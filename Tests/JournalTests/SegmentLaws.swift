import Conversations

@testable import Journal

/// What holds for any bytes whatever in the middle of a segment. The corpus is held against it here, and `scripts/fuzz`
/// holds a million inputs more.
enum SegmentLaws {
  /// The law that the bytes break; `nil` when they break none. A trap is the fuzzer's to find.
  static func broken(by bytes: [UInt8]) -> String? {
    // As a slice that does not begin at 0, which is how a walk through a segment meets it.
    let slice = ([0xa5] + bytes)[1...]
    let found = SegmentLayout.record(in: slice)
    if case .record(let frame) = found {
      var again: [UInt8] = []
      SegmentLayout.appendRecord(frame, to: &again)
      guard slice.starts(with: again) else { return "a record that was read is written with other bytes" }
    }
    if found == .incomplete, case .record = SegmentLayout.record(in: slice.dropLast()) {
      return "a record is whole, and with one byte more it is not"
    }
    if let rest = SegmentLayout.resynchronized(slice) {
      guard rest.endIndex == slice.endIndex, rest.startIndex > slice.startIndex else { return "it goes backwards" }
      guard case .record = SegmentLayout.record(in: rest) else { return "there is no record where one was found" }
    }
    return brokenByRecord(of: bytes)
  }

  /// A record of these bytes is found behind damage, and not when one bit of it is another.
  private static func brokenByRecord(of frame: [UInt8]) -> String? {
    guard frame.count >= Wire.headerLength, frame.count <= Wire.frameLimit, frame[0] == Wire.version else { return nil }
    var record: [UInt8] = []
    SegmentLayout.appendRecord(frame, to: &record)
    guard SegmentLayout.record(in: record[...]) == .record(frame: frame) else { return "what was written is not read" }
    let damage: [UInt8] = [0, 0, 0, 0]
    guard SegmentLayout.resynchronized((damage + record)[...])?.starts(with: record) == true else {
      return "a record behind damage is not found"
    }
    record[SegmentLayout.recordHeadLength + frame.count / 2] ^= 0x10
    return SegmentLayout.record(in: record[...]) == .damaged ? nil : "a record with one bit changed is read"
  }
}
