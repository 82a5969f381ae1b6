// SPDX-License-Identifier: Apache-2.0

import FaultPoints
package import Foundation
import Glibc
package import Messages

/// Writes the journal: the single writer of its folder, on one thread. Two writers would assign the same numbers twice,
/// so the broker holds a lock.
///
/// Records that `append` has written survive the end of this process, since the kernel has them. With `isSynchronized`
/// they also survive a power failure: each batch waits for the disk, which takes milliseconds.
package final class JournalWriter {
  package static let defaultSegmentLimit = 64 << 20
  package static let defaultLimit = 1 << 30
  /// A segment counts as at least this part of the limit, which also bounds the number of small segments of a crash
  /// loop.
  private static let mostSegments = 1024

  private let folder: SegmentFolder
  private let limit: Int
  private let isSynchronized: Bool
  private let segmentLimit: Int
  private var file: SegmentFile?
  private var length = 0
  /// The records of the next `append`. Nothing that runs during an access begins another one, and a check for each
  /// envelope would be a twentieth of the broker's own work.
  @exclusivity(unchecked) private var buffer: [UInt8] = []
  @exclusivity(unchecked) private var bufferedCount = 0
  /// Writes bytes to a file at an offset. Tests replace it to simulate a disk that fills up.
  package var write: (SegmentFile, [UInt8], Int) throws(JournalError) -> Void = {
    file, bytes, offset throws(JournalError) in
    try file.write(bytes, at: offset)
  }

  /// What was given, outside of the journal; nil where a journal has no broker.
  private let numbers: NumberFile?

  /// The state restored from the folder. A test can change it before the first segment begins.
  package var recovered: JournalRecovery
  /// The files that were renamed, since they were named like segments and had no head: a power failure leaves such a file.
  package let setAside: [String]
  /// The number of the last envelope written.
  package private(set) var lastSequence: UInt64

  /// Reads the existing journal. `startSegment` begins the first segment.
  ///
  /// - Parameters:
  ///   - folder: created if missing.
  ///   - segmentLimit: in bytes; a segment that has reached it `isFull`. At most a quarter of `limit`.
  ///   - limit: in bytes; `excess` keeps the whole journal below it.
  ///   - isSynchronized: whether each batch is on the disk when `append` returns.
  ///   - numbers: the file, outside of the folder, by which no number is given twice when the end of the journal is lost.
  /// - Throws: `notWritable`, `notReadable`.
  package init(
    folder: URL, segmentLimit: Int = defaultSegmentLimit, limit: Int = defaultLimit, isSynchronized: Bool = false,
    numbers: String? = nil
  ) throws(JournalError) {
    self.folder = SegmentFolder(folder)
    self.limit = limit
    self.isSynchronized = isSynchronized
    self.segmentLimit = min(segmentLimit, limit / 4)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw JournalError(.notWritable, path: self.folder.path, message: error.localizedDescription)
    }
    // Remove the drafts of a broker that was killed.
    for draft in try self.folder.drafts() { unlink("\(self.folder.path)/\(draft)") }
    setAside = try self.folder.setAside()
    self.numbers = try numbers.map { path throws(JournalError) in try NumberFile(path) }
    if isSynchronized || self.numbers?.mayHaveLostEnd == true { try Self.cutHole(in: self.folder) }
    var recovered = try JournalRecovery.read(folder: folder)
    try self.numbers?.begin(correcting: &recovered, isSynchronized: isSynchronized)
    self.recovered = recovered
    self.lastSequence = recovered.lastSequence
  }

  /// Cuts the last segment at a hole. A power failure leaves one when the disk has a later part, and not an earlier one. Of a
  /// synchronised journal that is the last batch: no envelope of it was forwarded, because the batch did not wait for the
  /// disk to the end. Otherwise the end of the journal is lost from there on.
  private static func cutHole(in folder: SegmentFolder) throws(JournalError) {
    guard let last = try folder.segments().last, let file = try SegmentFile.writable(folder.path(ofSegment: last))
    else {
      return
    }
    var walk = SegmentWalk(file)
    while let step = try walk.next() {
      guard case .unreadable(let offset, let length) = step, try file.hasHole(at: offset, length) else { continue }
      file.truncate(to: offset)
      try file.synchronize()
      return
    }
  }

  /// Whether the next record belongs in a new segment.
  package var isFull: Bool { length >= segmentLimit }

  /// Begins the next segment with its first record, `bus.started`, stamped with the number after the last.
  ///
  /// The file appears under its final name only with that record complete.
  /// - Throws: `notWritable`; the previous segment, if any, stays current.
  package func startSegment(with frame: [UInt8]) throws(JournalError) {
    let first = lastSequence + 1
    try numbers?.reserve(sequence: first, generation: 0)
    var bytes = SegmentLayout.head(firstSequence: first)
    SegmentLayout.appendRecord(frame, to: &bytes)
    let path = folder.path(ofSegment: first)
    let draft = path + SegmentLayout.draftSuffix.dropFirst(SegmentLayout.suffix.count)
    let next = try SegmentFile.empty(draft, renamedTo: path)
    do throws(JournalError) {
      if let code = FaultPoint.busBeforeSegment.failure() { throw JournalError(.notWritable, path, injected: code) }
      try write(next, bytes, 0)
      if isSynchronized { try next.synchronize() }
      guard rename(draft, path) == 0 else { throw JournalError.last(.notWritable, path: path, call: "rename") }
    } catch {
      unlink(draft)
      throw error
    }
    if isSynchronized { try folder.synchronize() }
    file = next
    length = bytes.count
    lastSequence = first
    numbers?.note(last: first)
    FaultPoint.busAfterSegment.reached()
  }

  /// Appends stamped frames with one write. Their numbers follow the last one without a gap.
  ///
  /// - Throws: as `append()`.
  package func append(_ frames: [[UInt8]]) throws(JournalError) {
    for frame in frames { frame.withUnsafeBytes { add($0) } }
    try append()
  }

  /// Adds a stamped frame to those that the next `append` writes.
  package func add(_ frame: UnsafeRawBufferPointer) {
    SegmentLayout.appendRecord(frame, to: &buffer)
    bufferedCount += 1
  }

  /// Appends the added frames with one write, or drops them. Their numbers follow the last one without a gap.
  ///
  /// - Parameter generation: the highest generation that they give.
  /// - Throws: `notWritable`, such as for a full disk: the journal then ends with the last whole record before the
  ///   batch, and no frame of it may be forwarded.
  package func append(givingUpTo generation: UInt32 = 0) throws(JournalError) {
    guard bufferedCount > 0 else { return }
    defer {
      buffer.removeAll(keepingCapacity: true)
      bufferedCount = 0
    }
    guard let file else { throw JournalError(.notWritable, path: folder.path, message: "no segment is open") }
    do throws(JournalError) {
      if let code = FaultPoint.busBeforeJournal.failure() {
        throw JournalError(.notWritable, file.path, injected: code)
      }
      try numbers?.reserve(sequence: lastSequence + UInt64(bufferedCount), generation: generation)
      try write(file, buffer, length)
      if isSynchronized { try file.synchronize() }
    } catch {
      file.truncate(to: length)
      throw error
    }
    length += buffer.count
    lastSequence += UInt64(bufferedCount)
    numbers?.note(last: lastSequence)
    FaultPoint.busAfterJournal.reached()
  }

  /// Waits until the journal is on the disk, at the end of the broker, so that the next one need not expect a loss.
  ///
  /// - Throws: `notWritable`.
  package func close() throws(JournalError) {
    try file?.synchronize()
    try folder.synchronize()
    numbers?.noteEnd()
  }

  /// The oldest segments to remove so that the journal stays below its limit when the current segment is full; nil when
  /// none must be removed. Call it after `startSegment`. The newest two always stay, since the next broker reads them.
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

  /// Removes the segments in `excess`, after the journal has recorded it. Readers with an open segment read it to its
  /// end.
  ///
  /// - Throws: `notWritable`; the next `excess` contains what is left.
  package func remove(_ excess: JournalTrimmed) throws(JournalError) {
    for segment in try folder.segments() where segment <= excess.lastSequence {
      let path = folder.path(ofSegment: segment)
      guard unlink(path) == 0 || errno == ENOENT else { throw .last(.notWritable, path: path, call: "unlink") }
    }
  }
}

/// Which sequence numbers and generations a broker may have given: a file outside of the journal, so that none is given
/// twice when the end of the journal is lost, such as in a power failure.
///
/// Numbers are reserved in steps, and a reservation is on the disk before its first number is given. The file also has the
/// last number of the journal, so that the next broker sees that records are missing. After such a loss it continues
/// behind the reservation. Integers are little-endian:
///
///     offset size
///          0    4  "WLN1"
///          4    4  the highest reserved generation
///          8    8  the highest reserved sequence number
///         16    8  the last sequence number in the journal
///         24   16  the start of the machine in which the journal is written without waiting for the disk; all zero when
///                  its end is on the disk
final class NumberFile {
  /// How many numbers are reserved at once: one wait for the disk each.
  static let sequenceStep: UInt64 = 100_000
  static let generationStep: UInt32 = 100
  private static let length = 40

  private let path: String
  private let descriptor: Int32
  private var generation: UInt32
  private var sequence: UInt64
  private var last: UInt64
  /// Both halves of the identifier of the start of the machine.
  private var boot: (UInt64, UInt64)

  /// Whether the file was read; it is new, or of an earlier version, otherwise.
  private let isKnown: Bool

  /// Opens or creates the file.
  ///
  /// - Throws: `notReadable`, `notWritable`.
  init(_ path: String) throws(JournalError) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .last(.notWritable, path: path, call: "open") }
    var bytes = [UInt8](repeating: 0, count: Self.length)
    let count = pread(file, &bytes, Self.length, 0)
    guard count >= 0 else {
      close(file)
      throw .last(.notReadable, path: path, call: "pread")
    }
    self.path = path
    descriptor = file
    // A power failure leaves no damaged file: it is synchronised before a number is given.
    let isKnown = count == Self.length && bytes.starts(with: Array("WLN1".utf8))
    self.isKnown = isKnown
    (generation, sequence, last, boot) = bytes.withUnsafeBytes { bytes in
      func word(_ offset: Int) -> UInt64 {
        isKnown ? UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) : 0
      }
      return (UInt32(truncatingIfNeeded: word(0) >> 32), word(8), word(16), (word(24), word(32)))
    }
  }

  /// Whether the machine was restarted while the journal was written without waiting for the disk: its end may be lost.
  var mayHaveLostEnd: Bool { boot != (0, 0) && boot != Self.boot }

  /// Corrects what was recovered from the journal if its end is missing, and reserves the next numbers.
  ///
  /// - Parameter isSynchronized: whether each record is on the disk before its envelope is forwarded.
  /// - Throws: `notWritable`.
  func begin(correcting recovered: inout JournalRecovery, isSynchronized: Bool) throws(JournalError) {
    if last > recovered.lastSequence || mayHaveLostEnd {
      recovered.lost(sequence: sequence, generation: generation)
      // Until the next segment is in the journal, the loss stays visible.
      last = recovered.lastSequence
    }
    boot = isSynchronized ? (0, 0) : Self.boot
    if generation <= recovered.highestGeneration { generation = recovered.highestGeneration + Self.generationStep }
    if sequence <= recovered.lastSequence { sequence = recovered.lastSequence + Self.sequenceStep }
    try write(synchronized: true)
    if !isKnown { try SegmentFolder.synchronize((path as NSString).deletingLastPathComponent) }
  }

  deinit { close(descriptor) }

  /// Ensures that numbers and generations are reserved, before they are given.
  ///
  /// - Throws: `notWritable`: they may not be given.
  func reserve(sequence wanted: UInt64, generation wantedGeneration: UInt32) throws(JournalError) {
    guard wanted > sequence || wantedGeneration > generation else { return }
    let formerPosition = (sequence, generation)
    if wanted > sequence { sequence = wanted + Self.sequenceStep }
    if wantedGeneration > generation { generation = wantedGeneration + Self.generationStep }
    do throws(JournalError) {
      try write(synchronized: true)
    } catch {
      (sequence, generation) = formerPosition
      throw error
    }
  }

  /// Notes the last number in the journal. Does not wait for the disk: after the end of the machine the number does not
  /// matter.
  func note(last number: UInt64) {
    last = number
    try? write(synchronized: false)
  }

  /// The end of the journal is on the disk, and nothing more is written.
  func noteEnd() {
    boot = (0, 0)
    try? write(synchronized: true)
  }

  private func write(synchronized: Bool) throws(JournalError) {
    var bytes = Array("WLN1".utf8)
    withUnsafeBytes(of: generation.littleEndian) { bytes.append(contentsOf: $0) }
    for word in [sequence, last, boot.0, boot.1] {
      withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
    guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
      throw .last(.notWritable, path: path, call: "pwrite")
    }
    guard !synchronized || fdatasync(descriptor) == 0 else { throw .last(.notWritable, path: path, call: "fdatasync") }
  }

  /// The identifier of this start of the machine.
  private static let boot: (UInt64, UInt64) = {
    let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    let id = text.flatMap { UUID(uuidString: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    // Where it is not known, each start counts as another one.
    return withUnsafeBytes(of: (id ?? UUID()).uuid) { bytes in
      (
        bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      )
    }
  }()
}
