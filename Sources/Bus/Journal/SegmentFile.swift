// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// An open file, closed with its last reference.
package final class SegmentFile: Sendable {
  let path: String
  let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Opens a segment for reading; nil when the file no longer exists.
  static func existing(_ path: String) throws(JournalError) -> SegmentFile? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .last(.notReadable, path: path, call: "open")
    }
    return SegmentFile(path: path, descriptor: descriptor)
  }

  /// Opens a file for repair; nil when the file no longer exists.
  static func writable(_ path: String) throws(JournalError) -> SegmentFile? {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .last(.notWritable, path: path, call: "open")
    }
    return SegmentFile(path: path, descriptor: descriptor)
  }

  /// Whether the path leads to another file than this one.
  var isReplaced: Bool {
    var (own, other) = (stat(), stat())
    guard fstat(descriptor, &own) == 0, stat(path, &other) == 0 else { return false }
    return own.st_ino != other.st_ino || own.st_dev != other.st_dev
  }

  /// Takes the file's lock, which a writer holds while it runs; false when another process has it.
  func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// Whether a running writer has the file. A file that cannot be locked at all, such as on some network file systems,
  /// counts as not being written.
  var isBeingWritten: Bool {
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
    flock(descriptor, LOCK_UN)
    return false
  }

  /// Creates or truncates a file for writing, with its lock.
  ///
  /// - Parameter final: the path after the rename, for errors.
  static func empty(_ path: String, renamedTo final: String? = nil) throws(JournalError) -> SegmentFile {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .last(.notWritable, path: path, call: "open") }
    let file = SegmentFile(path: final ?? path, descriptor: descriptor)
    // The lock is for `repair`. No other process writes here, so a failure to get it does not matter.
    _ = file.lock()
    return file
  }

  /// Reads up to `count` bytes from an offset; fewer, or none, at the end of the file.
  func read(_ count: Int, at offset: Int) throws(JournalError) -> [UInt8] {
    var failure: JournalError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let result = pread(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset + filled))
        if result < 0, errno == EINTR { continue }
        if result < 0 { failure = .last(.notReadable, path: path, call: "pread") }
        if result <= 0 { return }
        filled += result
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Writes all bytes at an offset, with one system call unless a signal or the kernel interrupts it.
  package func write(_ bytes: [UInt8], at offset: Int) throws(JournalError) {
    var written = 0
    while written < bytes.count {
      let result = bytes.withUnsafeBytes { buffer in
        pwrite(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written, off_t(offset + written))
      }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw .last(.notWritable, path: path, call: "write of \(bytes.count) bytes") }
      written += result
    }
  }

  /// Waits until the content is on the disk.
  func synchronize() throws(JournalError) {
    guard fdatasync(descriptor) == 0 else { throw .last(.notWritable, path: path, call: "fdatasync") }
  }

  /// Whether a part of the file has only zeros up to the end of a sector. A file has them where the disk did not write, and
  /// no record has so many.
  func hasHole(at offset: Int, _ length: Int) throws(JournalError) -> Bool {
    let sector = 512
    let bytes = try read(length, at: offset)
    let ends = stride(from: (offset / sector + 1) * sector, through: offset + length, by: sector)
    return ends.contains { end in
      let part = bytes[max(end - sector - offset, 0)..<end - offset]
      // A few zeros can also be the length of a record.
      return part.count >= 16 && part.allSatisfy { $0 == 0 }
    }
  }

  /// Truncates the file.
  func truncate(to length: Int) { _ = ftruncate(descriptor, off_t(length)) }
}

/// The segments of a folder, or one segment of any name.
struct SegmentFolder: Sendable {
  /// The folder, or the file of the segment.
  let path: String
  private let isFile: Bool

  /// - Parameter place: a missing one is treated as an empty folder.
  init(_ place: URL) {
    path = place.path(percentEncoded: false)
    var status = stat()
    isFile = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The first sequence numbers of all segments, in order; empty when the folder is missing.
  ///
  /// - Throws: `notReadable`; `notAJournal` for a file that is not a segment.
  func segments() throws(JournalError) -> [UInt64] {
    guard isFile else { return try names().compactMap { SegmentLayout.firstSequence(ofName: $0) }.sorted() }
    guard let file = try SegmentFile.existing(path) else { return [] }
    guard let first = SegmentLayout.firstSequence(ofHead: try file.read(SegmentLayout.headLength, at: 0)) else {
      throw JournalError(.notAJournal, path: path, message: "it does not begin with the head of a segment")
    }
    return [first]
  }

  /// The names of unfinished segments.
  func drafts() throws(JournalError) -> [String] {
    try names().filter { $0.hasSuffix(SegmentLayout.draftSuffix) }.sorted()
  }

  /// Whether a running writer has the file of this name; also true when the file is gone.
  func isBeingWritten(_ name: String) throws(JournalError) -> Bool {
    try SegmentFile.existing(path(ofName: name))?.isBeingWritten ?? true
  }

  func path(ofName name: String) -> String { isFile ? path : "\(path)/\(name)" }

  private func names() throws(JournalError) -> [String] {
    guard !isFile else { return [] }
    guard let folder = opendir(path) else {
      if errno == ENOENT { return [] }
      throw .last(.notReadable, path: path, call: "opendir")
    }
    defer { closedir(folder) }
    var foundNames: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      foundNames.append(name)
    }
    return foundNames
  }

  /// Waits until the names of the segments are on the disk.
  func synchronize() throws(JournalError) { try Self.synchronize(path) }

  /// Waits until the names in a folder are on the disk.
  static func synchronize(_ path: String) throws(JournalError) {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(.notWritable, path: path, call: "open") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .last(.notWritable, path: path, call: "fsync") }
  }

  /// Renames the files that are named like a segment and do not begin with its head.
  ///
  /// - Returns: the new paths.
  func setAside() throws(JournalError) -> [String] {
    var renamed: [String] = []
    for first in try segments() {
      do {
        _ = try open(first)
      } catch {
        guard error.code == .notAJournal else { throw error }
        let path = path(ofSegment: first)
        guard rename(path, path + SegmentLayout.asideSuffix) == 0 else {
          throw .last(.notWritable, path: path, call: "rename")
        }
        renamed.append(path + SegmentLayout.asideSuffix)
      }
    }
    return renamed
  }

  func path(ofSegment first: UInt64) -> String { path(ofName: SegmentLayout.name(firstSequence: first)) }

  /// In bytes; 0 when the segment is gone.
  func length(ofSegment first: UInt64) -> Int {
    var status = stat()
    return stat(path(ofSegment: first), &status) == 0 ? Int(status.st_size) : 0
  }

  /// Opens a segment and checks its head; nil when it is gone.
  func open(_ first: UInt64) throws(JournalError) -> SegmentFile? {
    let path = path(ofSegment: first)
    guard let file = try SegmentFile.existing(path) else { return nil }
    guard try file.read(SegmentLayout.headLength, at: 0) == SegmentLayout.head(firstSequence: first) else {
      throw JournalError(
        .notAJournal, path: path, message: "it does not begin with the head of a segment from \(first)")
    }
    return file
  }
}

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
