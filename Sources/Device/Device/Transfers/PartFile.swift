// SPDX-License-Identifier: Apache-2.0

import Archive
import Crypto
import DeviceRules
import Foundation
import NIOCore
import Synchronization

/// The body of one task's response, written by appending. Maintains the SHA-256 of its content without reading it again.
///
/// A short body stays in memory until it is complete: the database then has it. A longer one is in the part file, and so
/// is what a failed attempt has received.
final class PartFile {
  private let path: String
  /// `nil` while the content is in memory.
  private var descriptor: Int32?
  private var memory: [UInt8] = []
  private var hash = SHA256()

  /// Bytes; a longer body is written to the file.
  static let memoryLimit = 32 << 10

  /// Opens the file, if there is one.
  ///
  /// - Throws: `FileError`.
  init(_ path: String) throws {
    self.path = path
    let descriptor = open(path, O_RDWR | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 || errno == ENOENT else { throw FileError(path, errno) }
    if descriptor >= 0 { self.descriptor = descriptor }
  }

  deinit {
    if let descriptor { close(descriptor) }
  }

  /// The whole content; `nil` when it is in the file.
  var content: [UInt8]? { descriptor == nil ? memory : nil }

  /// Bytes.
  func size() throws -> Int64 {
    guard let descriptor else { return Int64(memory.count) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(path, errno) }
    return Int64(status.st_size)
  }

  /// Removes the content.
  func truncate() throws {
    hash = SHA256()
    memory = []
    guard let descriptor, try size() > 0 else { return }
    guard ftruncate(descriptor, 0) == 0 else { throw FileError(path, errno) }
  }

  /// Writes what is in memory to the file. An attempt that fails calls it, so that the next one can continue.
  ///
  /// - Throws: `FileError`, or a Foundation error for the folder.
  func keep() throws {
    if !memory.isEmpty { try create() }
  }

  /// Creates the file, if it does not exist, with what is in memory. What follows is written to it.
  ///
  /// - Throws: `FileError`, or a Foundation error for the folder.
  func create() throws { _ = try opened() }

  /// The descriptor of the file. Creates it and its folder if they do not exist, and writes what is in memory.
  private func opened() throws -> Int32 {
    if let descriptor { return descriptor }
    let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC
    var created = open(path, flags, 0o600)
    if created < 0, errno == ENOENT {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      created = open(path, flags, 0o600)
    }
    guard created >= 0 else { throw FileError(path, errno) }
    descriptor = created
    try memory.withUnsafeBytes { try write($0, to: created) }
    memory = []
    return created
  }

  /// Appends a piece. A long one is digested on another thread while it is written, since both take about as long.
  func append(_ piece: ByteBuffer) async throws {
    if descriptor == nil, memory.count + piece.readableBytes <= PartFile.memoryLimit {
      hash = PartFile.digest(hash, piece)
      piece.withUnsafeReadableBytes { memory.append(contentsOf: $0) }
      return
    }
    let descriptor = try opened()
    guard piece.readableBytes >= PartFile.longPiece else {
      hash = PartFile.digest(hash, piece)
      return try write(piece, to: descriptor)
    }
    let former = hash
    async let digested = PartFile.digest(former, piece)
    try write(piece, to: descriptor)
    hash = await digested
  }

  /// Bytes; a shorter piece is digested before another thread wakes up.
  private static let longPiece = 32 << 10

  private static func digest(_ formerDigest: SHA256, _ piece: ByteBuffer) -> SHA256 {
    var hash = formerDigest
    piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
    return hash
  }

  private func write(_ piece: ByteBuffer, to descriptor: Int32) throws {
    try piece.withUnsafeReadableBytes { try write($0, to: descriptor) }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError(path, errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits until the content and the name of the file are on the disk, before the database records that it is complete.
  /// What is in memory needs no file: it is in the same transaction.
  func synchronize() throws {
    guard let descriptor else { return }
    guard fdatasync(descriptor) == 0 else { throw FileError(path, errno) }
    try WholeFile.synchronizeFolder(of: path)
    // The folders of a session and of its owner are created with their first file.
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard !PartFile.synchronized.withLock({ $0.contains(folder) }) else { return }
    try WholeFile.synchronizeFolder(of: folder)
    try WholeFile.synchronizeFolder(of: URL(fileURLWithPath: folder).deletingLastPathComponent().path)
    PartFile.synchronized.withLock { _ = $0.insert(folder) }
  }

  /// The folders of sessions whose names are on the disk. They are never removed.
  private static let synchronized = Mutex<Set<String>>([])

  /// Reads what an earlier attempt wrote, so that the digest continues from there.
  func digest(upTo end: Int64) throws {
    hash = SHA256()
    guard let descriptor else { return }
    try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      var offset: Int64 = 0
      while offset < end {
        let count = pread(descriptor, buffer.baseAddress, min(buffer.count, Int(end - offset)), off_t(offset))
        guard count > 0 else { throw FileError(path, count < 0 ? errno : EIO) }
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        offset += Int64(count)
      }
    }
  }

  /// The digest of the whole file, as hexadecimal digits.
  var sha256: String { hash.finalize().hexadecimal }
}

/// The file of an upload as a request body, in pieces that are read when the connection takes them.
struct UploadBody: AsyncSequence, Sendable {
  /// The size of the file in bytes when it was opened.
  let length: Int64
  private let file: OpenFile
  private let throttle: Throttle
  private let watch: AttemptWatch
  private let report: @Sendable (AttemptEvent) -> Void

  /// - Throws: `TransferFault` -1100 or -1102 when the file cannot be read. The task then fails without another
  ///   attempt.
  init(
    _ path: String, throttle: Throttle, watch: AttemptWatch, report: @escaping @Sendable (AttemptEvent) -> Void
  ) throws(TransferFault) {
    file = try OpenFile(path)
    length = file.length
    self.throttle = throttle
    self.watch = watch
    self.report = report
  }

  func makeAsyncIterator() -> Iterator { Iterator(body: self) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let body: UploadBody
    fileprivate var offset: Int64 = 0

    mutating func next() async throws -> ByteBuffer? {
      // The previous piece has been taken.
      body.watch.touch()
      body.report(.sent(offset, of: body.length))
      guard offset < body.length else { return nil }
      let count = Int(Swift.min(body.length - offset, Int64(body.throttle.slice), 1 << 17))
      let (throttle, watch) = (body.throttle, body.watch)
      try await watch.outside { try await throttle.spend(count) }
      let piece = try body.file.read(count, at: offset)
      offset += Int64(piece.readableBytes)
      return piece
    }
  }
}

private final class OpenFile: Sendable {
  private let path: String
  private let descriptor: Int32
  let length: Int64

  init(_ path: String) throws(TransferFault) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      let isMissing = descriptor >= 0 || errno == ENOENT || errno == ENOTDIR
      if descriptor >= 0 { close(descriptor) }
      throw TransferFault(
        isMissing ? .fileDoesNotExist : .noPermissionsToReadFile, "the file to be uploaded cannot be read: \(path)",
        next: .never)
    }
    length = Int64(status.st_size)
  }

  deinit { close(descriptor) }

  func read(_ count: Int, at offset: Int64) throws -> ByteBuffer {
    var buffer = ByteBuffer()
    var failure: Int32 = 0
    let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
      let got = pread(descriptor, bytes.baseAddress, count, off_t(offset))
      if got < 0 { failure = errno }
      return max(0, got)
    }
    guard failure == 0 else { throw FileError(path, failure) }
    guard got > 0 else {
      throw TransferFault(.requestBodyStreamExhausted, "the file became shorter while it was uploaded: \(path)")
    }
    return buffer
  }
}
