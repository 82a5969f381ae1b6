// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
import Synchronization

/// Reads a journal at any place, by sequence numbers. Any thread.
///
/// The first access to a segment goes over the heads of its records once; the memory is 16 bytes for 64 records. Records
/// that are damaged, torn or removed are left out.
package final class JournalPages: Sendable {
  /// The segment that was read last, which stays open.
  private struct Segment {
    let file: SegmentFile
    var index: SegmentIndex
    /// A later segment exists, so that nothing is appended.
    var isWhole = false
  }

  private let folder: SegmentFolder
  private let indices = Mutex<[UInt64: Segment]>([:])
  private static let openLimit = 64

  /// - Parameter folder: of the segments, or the file of one; a missing folder is treated as empty.
  package init(folder: URL) { self.folder = SegmentFolder(folder) }

  /// The first and the last number in the journal; nil when it is empty.
  ///
  /// - Throws: `notReadable`, `notAJournal`.
  package func bounds() throws(JournalError) -> ClosedRange<UInt64>? {
    let segments = try folder.segments()
    for newest in segments.reversed() {
      guard let segment = try segment(newest, isNewest: newest == segments.last), segment.index.last >= newest else {
        continue
      }
      return segments[0]...segment.index.last
    }
    return nil
  }

  /// The first number from a number on that a segment can have: those that were lost with the end of the journal are in no
  /// segment.
  ///
  /// - Throws: `notReadable`, `notAJournal`.
  package func first(from sequence: UInt64) throws(JournalError) -> UInt64 {
    let segments = try folder.segments()
    guard let place = segments.lastIndex(where: { $0 <= sequence }), place + 1 < segments.count,
      let segment = try segment(segments[place], isNewest: false), segment.index.last < sequence
    else { return sequence }
    return segments[place + 1]
  }

  /// The last number up to a number that a segment can have.
  ///
  /// - Throws: `notReadable`, `notAJournal`.
  package func last(upTo sequence: UInt64) throws(JournalError) -> UInt64 {
    let segments = try folder.segments()
    guard let first = segments.last(where: { $0 <= sequence }),
      let segment = try segment(first, isNewest: first == segments.last)
    else { return sequence }
    return min(sequence, segment.index.last)
  }

  /// Returns the envelopes with numbers in a range, in order.
  ///
  /// - Throws: `notReadable`, `notAJournal`.
  package func read(_ range: ClosedRange<UInt64>) throws(JournalError) -> [Envelope] {
    try select(range) { _ in true }
  }

  /// Returns the envelopes in a range whose heads pass, in order. The others are not decoded.
  ///
  /// - Throws: `notReadable`, `notAJournal`.
  package func select(
    _ range: ClosedRange<UInt64>, where passes: (RecordHead) -> Bool
  ) throws(JournalError) -> [Envelope] {
    var envelopes: [Envelope] = []
    try forEachHead(in: range) { head, frame in
      guard passes(head), let frame = frame(), let envelope = try? Envelope(decoding: frame) else { return true }
      envelopes.append(envelope)
      return true
    }
    return envelopes
  }

  /// The last envelope in a range with an id.
  ///
  /// - Throws: `notReadable`, `notAJournal`.
  package func last(_ id: UUID, in range: ClosedRange<UInt64>) throws(JournalError) -> Envelope? {
    let wanted = RecordIdentifier(id)
    // Slices from the end, since a cause is usually near.
    var high = range.upperBound
    var slice: UInt64 = 512
    while high >= range.lowerBound {
      let low = high - range.lowerBound < slice ? range.lowerBound : high - slice
      if let found = try select(low...high, where: { $0.id == wanted }).last { return found }
      guard low > range.lowerBound else { return nil }
      high = low - 1
      slice = min(slice * 4, 65_536)
    }
    return nil
  }

  /// Whether the folder has another journal than the one that was read: it was removed and made again.
  package var isReplaced: Bool {
    let newest = indices.withLock { indices in indices.max { $0.key < $1.key } }
    guard let newest, let segments = try? folder.segments(), let oldest = segments.first else { return false }
    // A broker with a size limit removes the oldest segments, and so even those that were the newest.
    return segments.contains(newest.key) ? newest.value.file.isReplaced : oldest < newest.key
  }

  // MARK: Segments

  /// Calls `body` with the heads in a range, in order, until it returns false. The frame is checked when it is asked for.
  private func forEachHead(
    in range: ClosedRange<UInt64>, _ body: (RecordHead, _ frame: () -> [UInt8]?) -> Bool
  ) throws(JournalError) {
    let segments = try folder.segments()
    for (place, first) in segments.enumerated() where first <= range.upperBound {
      let isNewest = place + 1 == segments.count
      if !isNewest, segments[place + 1] <= range.lowerBound { continue }
      guard let segment = try segment(first, isNewest: isNewest) else { continue }
      guard try Self.visit(segment, in: range, body: body) else { return }
    }
  }

  private static func visit(
    _ segment: Segment, in range: ClosedRange<UInt64>, body: (RecordHead, () -> [UInt8]?) -> Bool
  ) throws(JournalError) -> Bool {
    guard segment.index.last >= range.lowerBound, let start = segment.index.place(of: range.lowerBound) else {
      return true
    }
    var offset = start.mark.offset
    while offset < segment.index.end {
      let next = segment.index.place(of: range.upperBound).map(\.end) ?? segment.index.end
      let wanted = min(max(next - offset, SegmentLayout.recordHeadLength), 1 << 20)
      var bytes = try segment.file.read(wanted, at: offset)[...]
      let (bytesTaken, goesOn) = visit(bytes, in: range, body: body)
      guard goesOn else { return false }
      if bytesTaken == 0 {
        // A record that is longer than what was read, or a damaged part.
        bytes = try segment.file.read(Wire.frameLimit + SegmentLayout.recordHeadLength, at: offset)[...]
        let (more, goesOn) = visit(bytes, in: range, body: body)
        guard goesOn else { return false }
        guard more > 0 else {
          guard let mark = segment.index.marks.first(where: { $0.offset > offset }) else { return true }
          offset = mark.offset
          continue
        }
        offset += more
      } else {
        offset += bytesTaken
      }
      if offset >= next { return true }
    }
    return true
  }

  private static func visit(
    _ bytes: ArraySlice<UInt8>, in range: ClosedRange<UInt64>, body: (RecordHead, () -> [UInt8]?) -> Bool
  ) -> (taken: Int, goesOn: Bool) {
    bytes.withUnsafeBytes { raw in
      var position = 0
      while let head = RecordHead(raw, at: position), position + head.recordLength <= raw.count {
        if head.sequence > range.upperBound { return (position, false) }
        let start = bytes.startIndex + position
        if head.sequence >= range.lowerBound {
          let goesOn = body(head) {
            guard case .record(let frame) = SegmentLayout.record(in: bytes[start..<start + head.recordLength]) else {
              return nil
            }
            return frame
          }
          guard goesOn else { return (position, false) }
        }
        position += head.recordLength
      }
      return (position, true)
    }
  }

  /// The segment with its index, up to the current end; nil when it was removed.
  private func segment(_ first: UInt64, isNewest: Bool) throws(JournalError) -> Segment? {
    let knownIndex = indices.withLock { $0[first] }
    if let knownIndex, knownIndex.isWhole { return knownIndex }
    var segment: Segment
    if let knownIndex {
      segment = knownIndex
    } else {
      guard let file = try folder.open(first) else { return nil }
      segment = Segment(file: file, index: SegmentIndex(firstSequence: first))
    }
    try segment.index.extend(segment.file)
    segment.isWhole = !isNewest
    indices.withLock { [segment] indices in
      // Another thread may have come further.
      if let other = indices[first], other.index.end > segment.index.end { return }
      if indices.count >= Self.openLimit, let oldest = indices.keys.min() { indices[oldest] = nil }
      indices[first] = segment
    }
    return segment
  }
}

extension RecordIdentifier {
  /// The bytes of a UUID.
  package init(_ id: UUID) {
    self = withUnsafeBytes(of: id.uuid) { bytes in
      RecordIdentifier(
        high: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
        low: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
  }
}

/// Where the records of one segment are: a sparse list, made by going from one record's head to the next. Nothing is
/// decoded, and no checksum is computed.
struct SegmentIndex: Sendable {
  /// The place of one record.
  struct Mark: Sendable, Equatable {
    let sequence: UInt64
    let offset: Int
  }

  private static let spacing = 64
  private static let chunk = 1 << 20

  /// Every 64th record, and the first one after a damaged part.
  private(set) var marks: [Mark] = []
  /// The number of the last whole record; the number before the first one in an empty segment.
  private(set) var last: UInt64
  /// The offset after the last whole record.
  private(set) var end = SegmentLayout.headLength
  private var sinceMark = 0

  init(firstSequence: UInt64) { last = firstSequence - 1 }

  /// Continues up to the end of the file.
  mutating func extend(_ file: SegmentFile) throws(JournalError) {
    while true {
      let bytes = try file.read(Self.chunk, at: end)[...]
      let taken = take(bytes)
      if taken > 0 { continue }
      // The rest is torn, being written, or damaged.
      guard !bytes.isEmpty, try skipDamage(file) else { return }
    }
  }

  /// Takes the whole records at the beginning of the bytes.
  ///
  /// - Returns: their length.
  private mutating func take(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { raw in
      var position = 0
      while let head = RecordHead(raw, at: position), head.sequence > last,
        position + head.recordLength <= raw.count
      {
        if sinceMark == 0 || head.sequence != last + 1 {
          marks.append(Mark(sequence: head.sequence, offset: end))
          sinceMark = 0
        }
        sinceMark = (sinceMark + 1) % Self.spacing
        last = head.sequence
        position += head.recordLength
        end += head.recordLength
      }
      return position
    }
  }

  /// Moves the end behind a damaged part.
  ///
  /// - Returns: whether a whole record follows it.
  private mutating func skipDamage(_ file: SegmentFile) throws(JournalError) -> Bool {
    let bytes = try file.read(2 * Self.chunk, at: end)[...]
    guard let next = SegmentLayout.resynchronized(bytes),
      let head = next.withUnsafeBytes({ RecordHead($0, at: 0) }), head.sequence > last
    else { return false }
    end += next.startIndex - bytes.startIndex
    sinceMark = 0
    return true
  }

  /// The last mark at or before a number, and the offset of the mark after it.
  func place(of sequence: UInt64) -> (mark: Mark, end: Int)? {
    var (low, high) = (0, marks.count)
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return marks.first.map { ($0, low + 1 < marks.count ? marks[low + 1].offset : end) } }
    return (marks[low - 1], low < marks.count ? marks[low].offset : end)
  }
}

/// The identifiers of a record, read from its bytes. Valid only within the closure that receives it.
package struct RecordHead {
  private let bytes: UnsafeRawBufferPointer
  let recordLength: Int
  /// The record's number.
  package let sequence: UInt64

  /// Reads a head; nil when the bytes do not have a possible one.
  init?(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    let start = offset + SegmentLayout.recordHeadLength
    guard bytes.count >= start + Wire.headerLength else { return nil }
    let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    guard length >= Wire.headerLength, length <= Wire.frameLimit, bytes[start] == Wire.version else { return nil }
    recordLength = SegmentLayout.recordHeadLength + length
    self.bytes = UnsafeRawBufferPointer(rebasing: bytes[start...])
    sequence = UInt64(littleEndian: self.bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
  }

  /// The envelope's id.
  package var id: RecordIdentifier { identifier(at: 48) }
  /// The id of its cause; all zero for none.
  package var cause: RecordIdentifier { identifier(at: 64) }
  /// The correlation id; all zero for none.
  package var correlation: RecordIdentifier { identifier(at: 80) }

  /// Whether the kind has this name, or is a reply to it.
  package func hasKind(_ name: StaticString) -> Bool {
    let count = name.utf8CodeUnitCount
    guard bytes[1..<1 + count].elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: count)) else {
      return false
    }
    return bytes[1 + count] == 0 || bytes[1 + count] == UInt8(ascii: "/")
  }

  private func identifier(at offset: Int) -> RecordIdentifier {
    RecordIdentifier(
      high: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
      low: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
  }
}

/// The 16 bytes of an identifier, which compare faster than a UUID.
package struct RecordIdentifier: Hashable, Sendable {
  let high: UInt64
  let low: UInt64
  /// No identifier.
  package static let none = RecordIdentifier(high: 0, low: 0)
}
