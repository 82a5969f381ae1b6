package import Conversations

/// A place in the journal that moves forward: gives one envelope after the other, and nothing while there is none.
///
/// It goes over the ends of segments and over the deaths of the broker, and never repeats or skips a sequence number.
/// Where the oldest segments were removed it begins with the first that is there.
/// What stands incomplete at the end of the newest segment is being written or was torn by a death; it is passed by
/// once a newer segment begins with the number that follows. It only reads: a folder that is read-only or copied will
/// do.
package struct JournalCursor: Sendable {
  private static let chunk = 256 * 1024

  private let folder: SegmentFolder
  private var file: SegmentFile?
  private var segment: UInt64 = 0
  /// Where `buffer` begins in the file, and where in `buffer` the next record does.
  private var bufferOffset = 0
  private var position = 0
  private var buffer: [UInt8] = []
  private let start: JournalPosition
  private var isPlaced = false
  private var hasBegun = false
  /// With `.end`: the last number that there was at the first look.
  private var endSequence: UInt64 = 0
  /// The number of the envelope that was given last; 0 before the first.
  package private(set) var lastSequence: UInt64 = 0

  init(_ folder: SegmentFolder, from start: JournalPosition) {
    self.folder = folder
    self.start = start
  }

  /// The next envelope; nil when there is none now. To be asked again.
  ///
  /// - Throws: `damaged`, `gap` and `trimmed` where going on would skip numbers; `notReadable`, `notAJournal`.
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

  /// Opens the segment in which the start lies.
  private mutating func place() throws(JournalError) -> Bool {
    let segments = try folder.segments()
    guard let oldest = segments.first, let newest = segments.last else {
      // What comes into an empty folder is new.
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

  /// The record after the last one, in this segment or the next.
  private mutating func following() throws(JournalError) -> Envelope? {
    if let envelope = try inSegment() { return envelope }
    // The list is made before the last look into this segment: what was appended before the next began is then seen.
    let segments = try folder.segments()
    guard let next = segments.first(where: { $0 > segment }) else { return nil }
    if let envelope = try inSegment() { return envelope }
    guard next == lastSequence + 1 else {
      guard segments.first != next else { throw trimmed(next) }
      let missing = "\(lastSequence + 1) to \(next - 1)"
      if buffer.count > position {
        throw JournalError(.damaged, folder.path(ofSegment: segment), "the envelopes \(missing) cannot be read")
      }
      throw JournalError(.gap, folder.path, "the envelopes \(missing) are in no segment")
    }
    guard try enter(next) else { return nil }
    return try inSegment()
  }

  /// This segment and those up to `next` were removed behind the reader's back.
  private func trimmed(_ next: UInt64) -> JournalError {
    JournalError(
      .trimmed, folder.path,
      "the envelopes \(lastSequence + 1) to \(next - 1) were removed before they were read, since the journal keeps a "
        + "limit (message-bus --journal-limit); the first that is there is \(next)")
  }

  private mutating func inSegment() throws(JournalError) -> Envelope? {
    guard let file else { return nil }
    var found = SegmentLayout.record(in: buffer[position...])
    if found == .incomplete || found == .damaged {
      try refill(file)
      found = SegmentLayout.record(in: buffer[position...])
    }
    switch found {
    case .incomplete: return nil
    case .damaged:
      // A death leaves no whole record behind what it tore.
      guard SegmentLayout.resynchronized(buffer[position...]) == nil else {
        let place =
          "the record at byte \(bufferOffset + position), after envelope \(lastSequence), is not what was written"
        throw JournalError(.damaged, file.path, place)
      }
      return nil
    case .record(let frame):
      let envelope: Envelope
      do {
        envelope = try Envelope(decoding: frame)
      } catch {
        throw JournalError(.damaged, file.path, "the record at byte \(bufferOffset + position) is \(error)")
      }
      guard envelope.header.sequence == lastSequence + 1 else {
        let numbers = "envelope \(envelope.header.sequence) stands after \(lastSequence)"
        throw JournalError(.gap, file.path, numbers)
      }
      position += SegmentLayout.recordHeadLength + frame.count
      lastSequence = envelope.header.sequence
      return envelope
    }
  }

  /// Reads on from the position: at least one whole record if there is one.
  private mutating func refill(_ file: SegmentFile) throws(JournalError) {
    let offset = bufferOffset + position
    buffer = try file.read(max(Self.chunk, Wire.frameLimit + SegmentLayout.recordHeadLength), at: offset)
    bufferOffset = offset
    position = 0
  }
}

extension SegmentFolder {
  /// The first envelope of a segment; nil when it is damaged or the segment is gone.
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

  /// All envelopes of a segment that can be read, also those behind a damaged record.
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
