package import Conversations
package import Foundation
import Glibc

/// Writes the journal: the one writer of its folder, on one thread. Two writers would give the same numbers twice, so
/// the broker holds a lock.
///
/// What `append` has returned from survives the death of this process, since the kernel has it; it may not survive a
/// power failure or the death of the machine, since nothing waits for the disk (`fsync` would cost each batch
/// milliseconds).
package final class JournalWriter {
  package static let defaultSegmentLimit = 64 << 20
  package static let defaultLimit = 1 << 30
  /// A segment weighs at least this part of the limit, so that a crash loop's small ones are bounded in number too.
  private static let mostSegments = 1024

  private let folder: SegmentFolder
  private let limit: Int
  private let segmentLimit: Int
  private var file: SegmentFile?
  private var length = 0
  private var buffer: [UInt8] = []
  /// Writes bytes to a file at an offset: a test has a disk here that fills up in the middle.
  var write: (SegmentFile, [UInt8], Int) throws(JournalError) -> Void = { file, bytes, offset throws(JournalError) in
    try file.write(bytes, at: offset)
  }

  /// What the folder held before.
  package let recovered: JournalRecovery
  /// The number of the last envelope that is written.
  package private(set) var lastSequence: UInt64

  /// Reads what there is. The first segment begins with `startSegment`.
  ///
  /// - Parameters:
  ///   - folder: made if it does not exist.
  ///   - segmentLimit: in bytes; a segment that has reached it `isFull`. At most a quarter of `limit`.
  ///   - limit: in bytes; what `excess` keeps the whole journal below.
  /// - Throws: `notWritable`, `notReadable`, `notAJournal`.
  package init(
    folder: URL, segmentLimit: Int = defaultSegmentLimit, limit: Int = defaultLimit
  ) throws(JournalError) {
    self.folder = SegmentFolder(path: folder.path(percentEncoded: false))
    self.limit = limit
    self.segmentLimit = min(segmentLimit, limit / 4)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw JournalError(.notWritable, self.folder.path, error.localizedDescription)
    }
    // What a death left before it was a segment.
    for draft in try self.folder.drafts() { unlink("\(self.folder.path)/\(draft)") }
    self.recovered = try JournalRecovery.read(folder: folder)
    self.lastSequence = recovered.lastSequence
  }

  /// Whether the next record belongs in a new segment.
  package var isFull: Bool { length >= segmentLimit }

  /// Begins the next segment with its first record, `bus.started`, stamped with the number after the last.
  ///
  /// The file appears under its name with that record whole.
  /// - Throws: `notWritable`; the segment before, if any, goes on then.
  package func startSegment(with frame: [UInt8]) throws(JournalError) {
    let first = lastSequence + 1
    var bytes = SegmentLayout.head(firstSequence: first)
    SegmentLayout.appendRecord(frame, to: &bytes)
    let path = folder.path(ofSegment: first)
    let draft = path + SegmentLayout.draftSuffix.dropFirst(SegmentLayout.suffix.count)
    let next = try SegmentFile.empty(draft, renamedTo: path)
    do throws(JournalError) {
      try write(next, bytes, 0)
      guard rename(draft, path) == 0 else { throw JournalError.last(.notWritable, path, "rename") }
    } catch {
      unlink(draft)
      throw error
    }
    file = next
    length = bytes.count
    lastSequence = first
  }

  /// Appends stamped frames with one write. Their numbers follow the last one without a gap.
  ///
  /// - Throws: `notWritable`, such as for a full disk: then none of them is in the journal, which ends with the last
  ///   whole
  ///   record before them, and none of them may be forwarded.
  package func append(_ frames: [[UInt8]]) throws(JournalError) {
    guard !frames.isEmpty else { return }
    guard let file else { throw JournalError(.notWritable, folder.path, "no segment was begun") }
    buffer.removeAll(keepingCapacity: true)
    for frame in frames { SegmentLayout.appendRecord(frame, to: &buffer) }
    do throws(JournalError) {
      try write(file, buffer, length)
    } catch {
      file.truncate(to: length)
      throw error
    }
    length += buffer.count
    lastSequence += UInt64(frames.count)
  }

  /// The oldest segments that must go, so that the journal keeps its limit when the segment that has begun is full; nil
  /// when all may stay. To be asked after `startSegment`. The newest two always stay, since the next broker learns from
  /// them.
  ///
  /// - Throws: `notReadable`.
  package func excess() throws(JournalError) -> JournalTrimmed? {
    let segments = try folder.segments()
    let lengths = segments.dropLast().map { folder.length(ofSegment: $0) }
    let weights = lengths.map { max($0, limit / Self.mostSegments) }
    var total = weights.reduce(segmentLimit, +)
    var count = 0
    while total > limit, count < segments.count - 2 {
      total -= weights[count]
      count += 1
    }
    guard count > 0 else { return nil }
    return JournalTrimmed(
      firstSequence: segments[0], lastSequence: segments[count] - 1, segments: count,
      bytes: lengths.prefix(count).reduce(0, +))
  }

  /// Removes what `excess` named, after the journal has said so. Readers that have a segment open read it to its end.
  ///
  /// - Throws: `notWritable`; what is left is named by the next `excess`.
  package func remove(_ excess: JournalTrimmed) throws(JournalError) {
    for segment in try folder.segments() where segment <= excess.lastSequence {
      let path = folder.path(ofSegment: segment)
      guard unlink(path) == 0 || errno == ENOENT else { throw .last(.notWritable, path, "unlink") }
    }
  }
}
