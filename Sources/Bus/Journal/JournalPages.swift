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
    var found: [Envelope] = []
    try forEachHead(in: range) { head, frame in
      guard passes(head), let frame = frame(), let envelope = try? Envelope(decoding: frame) else { return true }
      found.append(envelope)
      return true
    }
    return found
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
      guard try Self.visit(segment, range, body) else { return }
    }
  }

  private static func visit(
    _ segment: Segment, _ range: ClosedRange<UInt64>, _ body: (RecordHead, () -> [UInt8]?) -> Bool
  ) throws(JournalError) -> Bool {
    guard segment.index.last >= range.lowerBound, let start = segment.index.place(of: range.lowerBound) else {
      return true
    }
    var offset = start.mark.offset
    while offset < segment.index.end {
      let next = segment.index.place(of: range.upperBound).map(\.end) ?? segment.index.end
      let wanted = min(max(next - offset, SegmentLayout.recordHeadLength), 1 << 20)
      var bytes = try segment.file.read(wanted, at: offset)[...]
      let (taken, goesOn) = visit(bytes, range, body)
      guard goesOn else { return false }
      if taken == 0 {
        // A record that is longer than what was read, or a damaged part.
        bytes = try segment.file.read(Wire.frameLimit + SegmentLayout.recordHeadLength, at: offset)[...]
        let (more, goesOn) = visit(bytes, range, body)
        guard goesOn else { return false }
        guard more > 0 else {
          guard let mark = segment.index.marks.first(where: { $0.offset > offset }) else { return true }
          offset = mark.offset
          continue
        }
        offset += more
      } else {
        offset += taken
      }
      if offset >= next { return true }
    }
    return true
  }

  private static func visit(
    _ bytes: ArraySlice<UInt8>, _ range: ClosedRange<UInt64>, _ body: (RecordHead, () -> [UInt8]?) -> Bool
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
    let known = indices.withLock { $0[first] }
    if let known, known.isWhole { return known }
    var segment: Segment
    if let known {
      segment = known
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
