// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

extension DefaultsFile {
  /// A log below this size, in bytes, is not compacted.
  package static let compactedFrom = 64 << 10

  /// Compacts the logs of a container or of the folder of an app group that are mostly outdated and that no process has
  /// open. Call it only in a process that is never suspended: others wait for it.
  ///
  /// - Returns: the domains that were compacted.
  @discardableResult
  package static func compactAll(in folder: String, from minimum: Int = compactedFrom) -> [String] {
    domains(in: folder).filter { compact(path(of: $0, in: folder), from: minimum) }
  }

  /// Replaces a log by one with the present values only, if that makes it less than half as long.
  ///
  /// - Returns: whether it was replaced.
  @discardableResult
  package static func compact(_ path: String, from minimum: Int = compactedFrom) -> Bool {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var found = stat()
    guard fstat(descriptor, &found) == 0, found.st_size >= minimum, lock(descriptor, LOCK_EX | LOCK_NB),
      isSameFile(descriptor, path)
    else { return false }
    var head = [UInt8](repeating: 0, count: 64)
    let count = max(0, pread(descriptor, &head, head.count, 0))
    var scanner = DefaultsScanner()
    if case .compacted(let live)? = scanner.scan(head[..<count]).first, UInt64(found.st_size) < 2 * live {
      return false
    }
    return rewrite(path)
  }

  /// The caller holds the exclusive lock, so the file is read without another lock.
  private static func rewrite(_ path: String) -> Bool {
    guard let data = FileManager.default.contents(atPath: path) else { return false }
    var scanner = DefaultsScanner()
    var contents = DefaultsContents()
    for record in scanner.scan(data) { contents.apply(record) }
    let records = contents.values.sorted { $0.key < $1.key }.flatMap { DefaultsRecord.value($0.key, $0.value).bytes }
    let bytes = DefaultsRecord.compacted(UInt64(records.count)).bytes + records
    guard bytes.count * 2 < data.count else { return false }
    let temporary = path + ".compacting"
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    guard FileManager.default.createFile(atPath: temporary, contents: Data(bytes), attributes: attributes),
      rename(temporary, path) == 0
    else {
      unlink(temporary)
      return false
    }
    return true
  }
}
