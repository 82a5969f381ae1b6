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

  private let folder: SegmentFolder
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
  ///   - segmentLimit: in bytes; a segment that has reached it `isFull`.
  /// - Throws: `notWritable`, `notReadable`, `notAJournal`.
  package init(folder: URL, segmentLimit: Int = defaultSegmentLimit) throws(JournalError) {
    self.folder = SegmentFolder(path: folder.path(percentEncoded: false))
    self.segmentLimit = segmentLimit
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw JournalError(.notWritable, self.folder.path, error.localizedDescription)
    }
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
    let draft = path + ".draft"
    let next = try SegmentFile.empty(draft, renamedTo: path)
    do throws(JournalError) {
      try next.write(bytes, at: 0)
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
}
