// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Glibc

/// The SHA-256 of a downloaded file, for the journal: the law `files-intact` compares it with that of the host.
enum FileDigest {
  /// Longer files are not read, since an extension has little time. In bytes.
  static let limit: Int64 = 32 << 20

  /// Returns the size of a file in bytes; `nil` when it does not exist. `FileManager` also reads the names of all users and
  /// groups for the file's attributes.
  static func size(ofFile path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Returns 64 hexadecimal digits; `nil` for a file over the limit, or one that cannot be read.
  static func sha256(ofFile path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, Int64(status.st_size) <= limit else { return nil }
    var digest = [UInt8](repeating: 0, count: 32)
    guard digest_sha256_of_file(descriptor, limit, &digest) == 0 else { return nil }
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
