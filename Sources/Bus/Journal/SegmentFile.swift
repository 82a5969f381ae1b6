import Glibc

/// An open file, closed with its last reference.
final class SegmentFile: Sendable {
  let path: String
  let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Opens a segment for reading; nil when there is none of this name any more.
  static func existing(_ path: String) throws(JournalError) -> SegmentFile? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .last(.notReadable, path, "open")
    }
    return SegmentFile(path: path, descriptor: descriptor)
  }

  /// Opens a file for mending; nil when there is none of this name any more.
  static func writable(_ path: String) throws(JournalError) -> SegmentFile? {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .last(.notWritable, path, "open")
    }
    return SegmentFile(path: path, descriptor: descriptor)
  }

  /// Takes the file's lock, which a writer holds for as long as it lives; false when somebody else has it.
  func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// Whether a living writer has the file. One that cannot be locked at all, such as on some network file systems, has
  /// none that we know of.
  var isBeingWritten: Bool {
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
    flock(descriptor, LOCK_UN)
    return false
  }

  /// An empty file for writing, whatever was there before, with its lock.
  ///
  /// - Parameter final: the path that it will have, for errors.
  static func empty(_ path: String, renamedTo final: String? = nil) throws(JournalError) -> SegmentFile {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .last(.notWritable, path, "open") }
    let file = SegmentFile(path: final ?? path, descriptor: descriptor)
    // For those who mend: nobody else writes here, so that whether it was got says nothing.
    _ = file.lock()
    return file
  }

  /// Up to `count` bytes from an offset; fewer, or none, at the end of the file.
  func read(_ count: Int, at offset: Int) throws(JournalError) -> [UInt8] {
    var failure: JournalError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let result = pread(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset + filled))
        if result < 0, errno == EINTR { continue }
        if result < 0 { failure = .last(.notReadable, path, "pread") }
        if result <= 0 { return }
        filled += result
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Writes all bytes at an offset: with one system call, unless a signal or the kernel cuts it.
  func write(_ bytes: [UInt8], at offset: Int) throws(JournalError) {
    var written = 0
    while written < bytes.count {
      let result = bytes.withUnsafeBytes { buffer in
        pwrite(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written, off_t(offset + written))
      }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw .last(.notWritable, path, "write of \(bytes.count) bytes") }
      written += result
    }
  }

  /// Cuts the file.
  func truncate(to length: Int) { _ = ftruncate(descriptor, off_t(length)) }
}

/// The segments of a folder.
struct SegmentFolder: Sendable {
  let path: String

  /// The first sequence numbers of all segments, in order; empty when there is no folder.
  func segments() throws(JournalError) -> [UInt64] {
    try names().compactMap { SegmentLayout.firstSequence(ofName: $0) }.sorted()
  }

  /// The names of the files that were to become segments.
  func drafts() throws(JournalError) -> [String] {
    try names().filter { $0.hasSuffix(SegmentLayout.draftSuffix) }.sorted()
  }

  /// Whether a living writer has the file of this name; also when it is gone.
  func isBeingWritten(_ name: String) throws(JournalError) -> Bool {
    try SegmentFile.existing("\(path)/\(name)")?.isBeingWritten ?? true
  }

  private func names() throws(JournalError) -> [String] {
    guard let folder = opendir(path) else {
      if errno == ENOENT { return [] }
      throw .last(.notReadable, path, "opendir")
    }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      found.append(name)
    }
    return found
  }

  func path(ofSegment first: UInt64) -> String { "\(path)/\(SegmentLayout.name(firstSequence: first))" }

  /// Opens a segment and checks its head.
  func open(_ first: UInt64) throws(JournalError) -> SegmentFile? {
    let path = path(ofSegment: first)
    guard let file = try SegmentFile.existing(path) else { return nil }
    guard try file.read(SegmentLayout.headLength, at: 0) == SegmentLayout.head(firstSequence: first) else {
      throw JournalError(.notAJournal, path, "it does not begin with the head of a segment from \(first)")
    }
    return file
  }
}
