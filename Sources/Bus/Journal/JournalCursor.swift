// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc
package import Messages

/// A forward-only position in the journal: returns the envelopes in order, and nil when no further one is written yet.
///
/// It continues across segment ends and restarts of the broker, and never repeats a sequence number. It skips only those
/// that the broker has reported as lost (`BusStarted.lostFrom`). If the oldest segments were removed, it starts at the
/// first that is left. An incomplete record at the end of the newest
/// segment is being written, or was torn when the broker was killed; it is skipped once a newer segment begins with the
/// following number. The cursor only reads, so a read-only or copied folder is sufficient.
package struct JournalCursor: Sendable {
  private static let chunk = 256 * 1024

  private let folder: SegmentFolder
  private var file: SegmentFile?
  private var segment: UInt64 = 0
  /// The file offset of `buffer`, and the offset of the next record in `buffer`.
  private var bufferOffset = 0
  private var position = 0
  private var buffer: [UInt8] = []
  private let start: JournalPosition
  private var isPlaced = false
  private var hasBegun = false
  /// With `.end`: the last number at the first read.
  private var endSequence: UInt64 = 0
  /// The number of the last envelope returned; 0 before the first.
  package private(set) var lastSequence: UInt64 = 0

  init(_ folder: SegmentFolder, from start: JournalPosition) {
    self.folder = folder
    self.start = start
  }

  /// Returns the next envelope, or nil when the journal has no further one yet. May be called again after nil.
  ///
  /// - Throws: `damaged`, `gap` and `trimmed` where continuing would skip numbers; `notReadable`, `notAJournal`.
  package mutating func next() throws(JournalError) -> Envelope? {
    if !isPlaced {
      guard try place() else { return nil }
    }
    while let envelope = try following() {
      if isWanted(envelope) { return envelope }
    }
    return nil
  }

  /// Whether an envelope of the first segment is at or after the start.
  private mutating func isWanted(_ envelope: Envelope) -> Bool {
    if hasBegun { return true }
    switch start {
    case .beginning: hasBegun = true
    case .end: hasBegun = envelope.header.sequence > endSequence
    case .sequence(let first): hasBegun = envelope.header.sequence >= first
    case .time(let time): hasBegun = envelope.header.sentAt >= time
    }
    return hasBegun
  }

  /// Opens the segment that contains the start position.
  private mutating func place() throws(JournalError) -> Bool {
    let segments = try folder.segments()
    guard let oldest = segments.first, let newest = segments.last else {
      // Anything written to an empty folder is new.
      if start == .end { hasBegun = true }
      return false
    }
    var first = oldest
    switch start {
    case .beginning: break
    case .end where hasBegun: break
    case .end:
      first = newest
      endSequence = try folder.lastSequence(ofSegment: newest)
    case .sequence(let wanted): first = segments.last { $0 <= wanted } ?? oldest
    case .time(let time):
      for candidate in segments.reversed() {
        first = candidate
        if let begun = try folder.firstEnvelope(ofSegment: candidate)?.header.sentAt, begun < time { break }
      }
    }
    guard try enter(first) else { return false }
    lastSequence = first - 1
    isPlaced = true
    return true
  }

  private mutating func enter(_ first: UInt64) throws(JournalError) -> Bool {
    guard let opened = try folder.open(first) else { return false }
    file = opened
    segment = first
    bufferOffset = SegmentLayout.headLength
    position = 0
    buffer = []
    return true
  }

  /// Returns the record after the last one, in this segment or the next.
  private mutating func following() throws(JournalError) -> Envelope? {
    if let envelope = try inSegment() { return envelope }
    // The segments are listed before the last read of this segment, so that records appended before the next segment
    // began are seen.
    let segments = try folder.segments()
    guard let next = segments.first(where: { $0 > segment }) else { return nil }
    if let envelope = try inSegment() { return envelope }
    if next != lastSequence + 1, try isKnownLoss(before: next) { lastSequence = next - 1 }
    guard next == lastSequence + 1 else {
      guard segments.first != next else { throw trimmed(next) }
      let missing = "\(lastSequence + 1) to \(next - 1)"
      if buffer.count > position {
        throw JournalError(
          .damaged, path: folder.path(ofSegment: segment), message: "the envelopes \(missing) cannot be read")
      }
      throw JournalError(.gap, path: folder.path, message: "the envelopes \(missing) are in no segment")
    }
    guard try enter(next) else { return nil }
    return try inSegment()
  }

  /// Whether the broker that began a segment had lost the end of the journal, from the next number on or earlier.
  private func isKnownLoss(before next: UInt64) throws(JournalError) -> Bool {
    guard let lost = try folder.firstEnvelope(ofSegment: next)?.lostFrom else { return false }
    return lost <= lastSequence + 1
  }

  /// This segment and those up to `next` were removed while they were being read.
  private func trimmed(_ next: UInt64) -> JournalError {
    JournalError(
      .trimmed, path: folder.path,
      message:
        "the envelopes \(lastSequence + 1) to \(next - 1) were removed before they were read, since the journal has a "
        + "size limit (message-bus --journal-limit); the first one left is \(next)")
  }

  private mutating func inSegment() throws(JournalError) -> Envelope? {
    guard let file else { return nil }
    var foundRecord = SegmentLayout.record(in: buffer[position...])
    if foundRecord == .incomplete || foundRecord == .damaged {
      try refill(file)
      foundRecord = SegmentLayout.record(in: buffer[position...])
    }
    switch foundRecord {
    case .incomplete: return nil
    case .damaged:
      // A killed broker leaves no whole record after a torn one.
      guard SegmentLayout.resynchronized(buffer[position...]) == nil else {
        let place =
          "the record at byte \(bufferOffset + position), after envelope \(lastSequence), is corrupted"
        throw JournalError(.damaged, path: file.path, message: place)
      }
      return nil
    case .record(let frame):
      let envelope: Envelope
      do {
        envelope = try Envelope(decoding: frame)
      } catch {
        throw JournalError(
          .damaged, path: file.path, message: "the record at byte \(bufferOffset + position) is \(error)")
      }
      guard envelope.header.sequence == lastSequence + 1 else {
        let numbers = "envelope \(envelope.header.sequence) follows \(lastSequence)"
        throw JournalError(.gap, path: file.path, message: numbers)
      }
      position += SegmentLayout.recordHeadLength + frame.count
      lastSequence = envelope.header.sequence
      return envelope
    }
  }

  /// Reads more from the position: at least one whole record if there is one.
  private mutating func refill(_ file: SegmentFile) throws(JournalError) {
    let offset = bufferOffset + position
    buffer = try file.read(max(Self.chunk, Wire.frameLimit + SegmentLayout.recordHeadLength), at: offset)
    bufferOffset = offset
    position = 0
  }
}

extension Envelope {
  /// The first number that was lost with the end of the journal, if this begins a segment after such a loss.
  var lostFrom: UInt64? {
    guard header.kind == BusStarted.kind, header.source == .messageBus else { return nil }
    return (try? BodyCoding.decode(BusStarted.self, from: body))?.lostFrom
  }
}

extension SegmentFolder {
  /// The first envelope of a segment; nil when it is damaged or the segment was removed.
  func firstEnvelope(ofSegment first: UInt64) throws(JournalError) -> Envelope? {
    guard let file = try open(first) else { return nil }
    let bytes = try file.read(Wire.frameLimit + SegmentLayout.recordHeadLength, at: SegmentLayout.headLength)
    guard case .record(let frame) = SegmentLayout.record(in: bytes[...]) else { return nil }
    return try? Envelope(decoding: frame)
  }

  /// The last number that can be read in a segment.
  func lastSequence(ofSegment first: UInt64) throws(JournalError) -> UInt64 {
    var last = first - 1
    try forEachReadable(inSegment: first) { last = $0.header.sequence }
    return last
  }

  /// Calls `body` with all readable envelopes of a segment, including those after a damaged record.
  func forEachReadable(inSegment first: UInt64, _ body: (Envelope) -> Void) throws(JournalError) {
    guard let file = try open(first) else { return }
    var offset = SegmentLayout.headLength
    var rest: ArraySlice<UInt8> = []
    while true {
      switch SegmentLayout.record(in: rest) {
      case .record(let frame):
        rest = rest.dropFirst(SegmentLayout.recordHeadLength + frame.count)
        if let envelope = try? Envelope(decoding: frame) { body(envelope) }
      case .incomplete, .damaged:
        let place = offset - rest.count
        let more = try file.read(2 << 20, at: place)
        if more.count > rest.count {
          rest = more[...]
          offset = place + more.count
        } else if let next = SegmentLayout.resynchronized(rest) {
          rest = next
        } else {
          return
        }
      }
    }
  }
}

/// The start position of a reader.
package enum JournalPosition: Hashable, Sendable {
  /// The oldest envelope in the journal.
  case beginning
  /// The envelope with this number, or the oldest one after it.
  case sequence(UInt64)
  /// The first envelope sent at this time or later, by the sender's clock, and all that follow it.
  case time(Timestamp)
  /// Envelopes written from now on.
  case end
}

/// Reads the journal from a folder, or one segment from its file. Either may be read-only, copied from elsewhere, or in
/// use by a running broker.
package struct JournalReader: Sendable {
  private let folder: SegmentFolder

  /// Creates a reader of a folder, or of the file of one segment. A missing folder is treated as empty.
  package init(folder: URL) { self.folder = SegmentFolder(folder) }

  /// Whether a file begins as a segment does.
  package static func isSegment(_ file: URL) -> Bool { (try? SegmentFolder(file).segments()) != nil }

  /// Returns all envelopes from a position to the current end of the journal.
  ///
  /// - Throws: `JournalError`, see `JournalCursor.next`.
  package func read(from start: JournalPosition = .beginning) throws(JournalError) -> [Envelope] {
    var cursor = cursor(from: start)
    var envelopes: [Envelope] = []
    while let envelope = try cursor.next() { envelopes.append(envelope) }
    return envelopes
  }

  /// Returns a cursor for reading step by step, without waiting.
  package func cursor(from start: JournalPosition = .beginning) -> JournalCursor { JournalCursor(folder, from: start) }

  /// Returns all envelopes from a position on, then each new one as it is written. The sequence ends when its task is
  /// cancelled.
  package func follow(from start: JournalPosition = .beginning) -> JournalFollowing {
    JournalFollowing(cursor: cursor(from: start))
  }
}

/// The journal as a sequence that follows new records.
///
/// It polls every 20 ms at the end, since a mounted folder may deliver no file notifications.
package struct JournalFollowing: AsyncSequence, Sendable {
  package typealias Element = Envelope
  package typealias Failure = any Error

  let cursor: JournalCursor

  package func makeAsyncIterator() -> Iterator { Iterator(cursor: cursor) }

  package struct Iterator: AsyncIteratorProtocol {
    var cursor: JournalCursor

    /// Returns the next envelope; nil once the task is cancelled.
    ///
    /// - Throws: `JournalError`, see `JournalCursor.next`.
    package mutating func next() async throws -> Envelope? {
      while !Task.isCancelled {
        if let envelope = try cursor.next() { return envelope }
        do {
          // A file system that is shared with another machine reports no changes, so the end is read again: a follower is
          // at most this late.
          try await Task.sleep(for: .milliseconds(20))
        } catch {
          return nil
        }
      }
      return nil
    }
  }
}

/// Why the journal could not be written or read. Definite: a failed append leaves no part of the batch behind.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The kernel rejected a write: the disk is full, or the folder is read-only or owned by another user.
    case notWritable = "not-writable"
    /// The kernel rejected a read.
    case notReadable = "not-readable"
    /// A file ends in `.journal` but does not begin with the head of version 1.
    case notAJournal = "not-a-journal"
    /// The checksum of a record is wrong, and valid records follow: the disk or an edit changed it.
    case damaged
    /// A segment between two others is missing.
    case gap
    /// The reader was so far behind that segments it had not read were removed, since the journal has a size limit.
    case trimmed
  }

  package let code: Code
  /// The file or folder concerned.
  package let path: String
  /// A description for the user.
  package let message: String

  package init(_ code: Code, path: String, message: String) {
    self.code = code
    self.path = path
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(path): \(message)" }

  /// A failure that an injector has armed.
  init(_ code: Code, _ path: String, injected error: Int32) {
    self.init(code, path: path, message: "injected: \(String(cString: strerror(error)))")
  }

  /// The failure of the last system call on this thread.
  static func last(_ code: Code, path: String, call: String) -> JournalError {
    JournalError(code, path: path, message: "\(call): \(String(cString: strerror(errno)))")
  }
}
