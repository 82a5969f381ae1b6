// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads files of `/proc`, of which the agent reads dozens whenever a child is suspended.
enum ProcFile {
  /// The names in a folder that are numbers, such as process, thread and descriptor numbers. Empty when the folder does
  /// not exist.
  static func numbers(in folder: String) -> [Int32] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var numbers: [Int32] = []
    while let entry = readdir(stream) {
      let number = withUnsafeBytes(of: &entry.pointee.d_name) { name in
        Int32(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
      }
      if let number { numbers.append(number) }
    }
    return numbers
  }

  /// The first 64 KiB of a file; `nil` when it cannot be read.
  static func contents(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
      while count < buffer.count {
        let result = read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
        if result < 0, errno == EINTR { continue }
        failed = result < 0
        guard result > 0 else { return }
        count += result
      }
    }
    return failed ? nil : bytes
  }

  /// The target of a symbolic link; `nil` when it cannot be read, or is longer than a path may be.
  static func target(ofLink path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(path, &bytes, bytes.count)
    guard (1..<bytes.count).contains(length) else { return nil }
    return String(decoding: bytes[..<length].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
