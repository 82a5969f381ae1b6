// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import NIOCore
import Synchronization

/// The part file of one task, written by appending. Maintains the SHA-256 of its content without reading it again.
final class PartFile {
  private let path: String
  private let descriptor: Int32
  private var hash = SHA256()

  /// Opens the file. Creates it and its folder if they do not exist.
  ///
  /// - Throws: `FileError`, or a Foundation error for the folder.
  init(_ path: String) throws {
    self.path = path
    let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC
    var descriptor = open(path, flags, 0o600)
    if descriptor < 0, errno == ENOENT {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      descriptor = open(path, flags, 0o600)
    }
    guard descriptor >= 0 else { throw FileError(path, errno) }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Bytes.
  func size() throws -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(path, errno) }
    return Int64(status.st_size)
  }

  /// Truncates the file to 0 bytes if it is not empty.
  func truncate() throws {
    hash = SHA256()
    guard try size() > 0 else { return }
    guard ftruncate(descriptor, 0) == 0 else { throw FileError(path, errno) }
  }

  /// Appends a piece. A long one is digested on another thread while it is written, since both take about as long.
  func append(_ piece: ByteBuffer) async throws {
    guard piece.readableBytes >= PartFile.longPiece else {
      hash = PartFile.digest(hash, piece)
      return try write(piece)
    }
    let former = hash
    async let digested = PartFile.digest(former, piece)
    try write(piece)
    hash = await digested
  }

  /// Bytes; a shorter piece is digested before another thread wakes up.
  private static let longPiece = 32 << 10

  private static func digest(_ former: SHA256, _ piece: ByteBuffer) -> SHA256 {
    var hash = former
    piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
    return hash
  }

  private func write(_ piece: ByteBuffer) throws {
    try piece.withUnsafeReadableBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw FileError(path, errno) }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Waits until the content and the name of the file are on the disk, before the database records that it is complete.
  func synchronize() throws {
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
  var sha256: String { WholeFile.hexadecimal(hash.finalize()) }
}
