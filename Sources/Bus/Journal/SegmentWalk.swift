// SPDX-License-Identifier: Apache-2.0

/// Walks through one segment record by record, and past unreadable parts.
struct SegmentWalk {
  enum Step: Equatable {
    case record(frame: [UInt8], offset: Int)
    /// Bytes that are not a record, followed by a whole record.
    case unreadable(offset: Int, length: Int)
    /// Bytes that are not a record, up to the end of the file.
    case torn(offset: Int, length: Int)
  }

  /// Several times the longest record.
  private static let chunk = 2 << 20

  private let file: SegmentFile
  /// The file offset of `rest`.
  private var offset = SegmentLayout.headLength
  private var rest: ArraySlice<UInt8> = []

  init(_ file: SegmentFile) { self.file = file }

  /// Returns the next step; nil at the end of the file.
  mutating func next() throws(JournalError) -> Step? {
    if let found = takeRecord() { return found }
    rest = try file.read(Self.chunk, at: offset)[...]
    if let found = takeRecord() { return found }
    guard !rest.isEmpty else { return nil }
    return try unreadable()
  }

  private mutating func takeRecord() -> Step? {
    guard case .record(let frame) = SegmentLayout.record(in: rest) else { return nil }
    defer { skip(SegmentLayout.recordHeadLength + frame.count) }
    return .record(frame: frame, offset: offset)
  }

  private mutating func unreadable() throws(JournalError) -> Step {
    let begin = offset
    while true {
      if let next = SegmentLayout.resynchronized(rest) {
        skip(next.startIndex - rest.startIndex)
        return .unreadable(offset: begin, length: offset - begin)
      }
      guard rest.count == Self.chunk else {
        skip(rest.count)
        return .torn(offset: begin, length: offset - begin)
      }
      // A record may begin in this chunk and end in the next.
      skip(Self.chunk / 2)
      rest = try file.read(Self.chunk, at: offset)[...]
    }
  }

  private mutating func skip(_ count: Int) {
    rest = rest.dropFirst(count)
    offset += count
  }
}
