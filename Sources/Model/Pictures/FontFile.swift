// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The bytes of a font file. They stay at one place until the value is freed.
final class FontFile {
  /// Why a file cannot be used.
  enum Refusal: Error {
    case unreadable
    /// A folder, for example.
    case notAFile
    case tooLarge
  }

  let bytes: UnsafeRawBufferPointer

  /// HarfBuzz counts bytes with 32 bits.
  private static let mostBytes = 1 << 30

  /// Maps the file into memory, so that only the parts that are used are read.
  init(path: String) throws(Refusal) {
    // Opening a pipe would wait for its writer.
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw .unreadable }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    let size = Int(status.st_size)
    guard size <= Self.mostBytes else { throw .tooLarge }
    guard size > 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0)
    guard let address, address != MAP_FAILED else { throw .unreadable }
    bytes = UnsafeRawBufferPointer(start: address, count: size)
  }

  deinit { if let address = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: address), bytes.count) } }
}
