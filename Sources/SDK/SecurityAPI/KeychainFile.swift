// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import Glibc

/// The items of one access group, which several processes read and change at once.
///
/// A change replaces the file, so that a reader needs no lock and a process that is killed leaves the old file or the new
/// one. Writers hold a lock on the folder. A process that is suspended within its change stops other writers, and no
/// reader, until it is resumed or ended.
struct KeychainFile: Sendable {
  /// The folder of the access group. It need not exist.
  let folder: String
  /// How long a change waits for the change of another process.
  var patience = Duration.seconds(5)
  var path: String { folder + "/items" }

  /// The items in the order in which they were added. Empty when there is no file.
  ///
  /// - Throws: `errSecIO`, `errSecDecode`.
  func items() throws(KeychainFailure) -> [KeychainItem] {
    let bytes: Data
    do {
      bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      guard access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { throw KeychainFailure(errSecIO) }
      return []
    }
    do {
      return try PropertyListDecoder().decode([KeychainItem].self, from: bytes)
    } catch {
      throw KeychainFailure(errSecDecode)
    }
  }

  /// Changes the items. When this returns, other processes see the change, and it outlives this process. After an error
  /// nothing is changed.
  ///
  /// - Throws: what `body` throws, `errSecNotAvailable` when another process keeps the lock, `errSecIO`, `errSecDiskFull`
  ///   and `errSecDecode`.
  func change<Result>(
    _ body: (inout [KeychainItem]) throws(KeychainFailure) -> Result
  ) throws(KeychainFailure) -> Result {
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let lock: Int32
    do {
      lock = try FolderLock.take(folder, patience: patience)
    } catch {
      throw KeychainFailure(error.code == EWOULDBLOCK ? errSecNotAvailable : errSecIO)
    }
    defer { close(lock) }
    var items = try items()
    let result = try body(&items)
    try write(items)
    return result
  }

  private func write(_ items: [KeychainItem]) throws(KeychainFailure) {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    guard let bytes = try? encoder.encode(items) else { throw KeychainFailure(errSecParam) }
    // The lock makes the name sufficient: the next writer replaces the file of one that was killed.
    let new = path + ".new"
    do {
      try bytes.write(to: URL(fileURLWithPath: new))
    } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
      throw KeychainFailure(errSecDiskFull)
    } catch {
      throw KeychainFailure(errSecIO)
    }
    guard rename(new, path) == 0 else { throw KeychainFailure(errSecIO) }
  }
}
