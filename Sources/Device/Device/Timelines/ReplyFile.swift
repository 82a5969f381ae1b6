// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import Messages
import ShownText

/// A reply's file. Author's code wrote it, so its content is not trusted.
enum ReplyFile {
  /// Reads the entries and images, and deletes the file.
  ///
  /// - Parameters:
  ///   - container: the extension's folder, which must contain the file.
  ///   - limit: the size of the views and images, bytes; the dates, and what JSON adds to images, are allowed in
  ///     addition.
  static func content(at path: String, in container: String?, limit: Int) throws(TimelineFault) -> TimelineFile {
    let url = URL(fileURLWithPath: path)
    guard let container, let home = real(container), let folder = real(url.deletingLastPathComponent().path),
      folder == home || folder.hasPrefix(home + "/")
    else { throw TimelineFault(.failed, "the file of the entries is not in the extension's container: \(path)") }
    let file = folder + "/" + url.lastPathComponent
    defer { unlink(file) }
    let data = try read(file, limit: limit + limit / 2 + 65_536)
    do {
      return try BodyCoding.decode(TimelineFile.self, from: Array(data))
    } catch {
      throw TimelineFault(.failed, "the file of the entries cannot be read: \(error.message.start(bytes: 300))")
    }
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Reads a regular file of at most `limit` bytes, even if it grows during the read.
  private static func read(_ file: String, limit: Int) throws(TimelineFault) -> Data {
    let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw TimelineFault(.failed, "the file of the entries cannot be opened: \(String(cString: strerror(errno)))")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw TimelineFault(.failed, "the file of the entries is not a regular file")
    }
    let data = try? handle.read(upToCount: limit + 1)
    guard let data else { throw TimelineFault(.failed, "the file of the entries cannot be read") }
    guard data.count <= limit else {
      throw TimelineFault(.tooLarge, "bytes: the file of the entries exceeds the limit of \(limit) bytes")
    }
    return data
  }
}
