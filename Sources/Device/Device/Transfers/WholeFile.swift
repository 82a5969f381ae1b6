// SPDX-License-Identifier: Apache-2.0

import Archive
import Crypto
import Foundation

/// Operations on whole files.
enum WholeFile {
  /// Creates a file with this content.
  ///
  /// - Throws: file system errors. Nothing is left at `path` then, unless it existed before.
  static func create(_ path: String, _ content: Data) throws {
    let output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw FileError(path, errno) }
    defer { close(output) }
    do {
      if !content.isEmpty { try FileHandle(fileDescriptor: output, closeOnDealloc: false).write(contentsOf: content) }
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Copies a file: as a reflink where the file system supports it, otherwise in the kernel, otherwise by reading and
  /// writing. Never as a hard link: the owner may write to its copy, and the next delivery must have the original
  /// content.
  ///
  /// - Throws: file system errors. Nothing is left at `destination` then.
  @concurrent static func copy(_ source: String, to destination: String) async throws {
    try await withTaskExecutorPreference(globalConcurrentExecutor) { try copyNow(source, to: destination) }
  }

  private static func copyNow(_ source: String, to destination: String) throws {
    let input = open(source, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw FileError(source, errno) }
    defer { close(input) }
    let output = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw FileError(destination, errno) }
    defer { close(output) }
    // FICLONE of linux/fs.h.
    if ioctl(output, 0x4004_9409, input) == 0 { return }
    if copiedByKernel(input, output) { return }
    do {
      let reader = FileHandle(fileDescriptor: input, closeOnDealloc: false)
      let writer = FileHandle(fileDescriptor: output, closeOnDealloc: false)
      while let piece = try reader.read(upToCount: 1 << 20), !piece.isEmpty { try writer.write(contentsOf: piece) }
    } catch {
      unlink(destination)
      throw error
    }
  }

  /// - Returns: `false` when the kernel does not support it for these files. Nothing was written then.
  private static func copiedByKernel(_ input: Int32, _ output: Int32) -> Bool {
    while true {
      let count = sendfile(output, input, nil, 1 << 30)
      if count == 0 { return true }
      guard count < 0, errno != EINTR else { continue }
      lseek(input, 0, SEEK_SET)
      lseek(output, 0, SEEK_SET)
      ftruncate(output, 0)
      return false
    }
  }

  /// Waits until the content of a file is on the disk.
  static func synchronize(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(path, errno) }
    defer { close(descriptor) }
    guard fdatasync(descriptor) == 0 else { throw FileError(path, errno) }
  }

  /// Waits until the names in the folder of a file are on the disk.
  static func synchronizeFolder(of path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(folder, errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw FileError(folder, errno) }
  }

  /// The size of a file in bytes; 0 when it does not exist.
  static func size(_ path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// A file name for an arbitrary text: the first 16 hexadecimal digits of its SHA-256.
  static func name(for text: String) -> String { SHA256.hash(data: Array(text.utf8)).prefix(8).hexadecimal }
}

/// A system error for a file.
struct FileError: Error, CustomStringConvertible {
  let path: String
  let code: Int32

  init(_ path: String, _ code: Int32) {
    self.path = path
    self.code = code
  }

  var description: String { "\(path): \(String(cString: strerror(code))) (errno \(code))" }
}
