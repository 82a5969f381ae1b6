// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A file whose path the user gives.
enum NamedFile {
  /// Writes the whole content. A new or regular file is written atomically. A link, a FIFO and a device stay what they are:
  /// the content goes where they lead.
  ///
  /// - Throws: the error of Foundation or of the kernel.
  static func write(_ data: Data, to path: String) throws {
    let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    if type == nil || type == .typeRegular {
      return try data.write(to: URL(filePath: path), options: .atomic)
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: data)
  }
}
