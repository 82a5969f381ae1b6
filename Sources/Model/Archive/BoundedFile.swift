// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Reads files that an author or another process made, with a limit.
package enum BoundedFile {
  /// Why a file was not read. Definite.
  package enum Fault: Error, Hashable, CustomStringConvertible {
    case missing
    /// Not a regular file.
    case special
    case tooLong(limit: Int)
    case unreadable(String)

    package var description: String {
      switch self {
      case .missing: "the file is missing"
      case .special: "it is not a regular file"
      case .tooLong(let limit): "the file is longer than \(limit) bytes"
      case .unreadable(let reason): "the file cannot be read: \(reason)"
      }
    }
  }

  /// The content of a regular file of at most `limit` bytes, even if it grows during the read. A pipe or a device is not
  /// waited for.
  package static func read(_ file: URL, limit: Int) throws(Fault) -> Data {
    let descriptor = open(file.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw errno == ENOENT ? .missing : .unreadable(String(cString: strerror(errno)))
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .special }
    guard status.st_size <= limit else { throw .tooLong(limit: limit) }
    let data: Data
    do {
      data = try handle.read(upToCount: limit + 1) ?? Data()
    } catch {
      throw .unreadable(error.localizedDescription)
    }
    guard data.count <= limit else { throw .tooLong(limit: limit) }
    return data
  }
}
