// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logging

/// The free space of the file system of a folder.
package struct DiskSpace: Hashable, Sendable {
  /// The folder that was asked for.
  package let folder: String
  /// Bytes that a process without privileges may still write.
  package let free: Int64
  /// Bytes, free or not.
  package let size: Int64
  /// Whether the file system has no room for another file.
  package let lacksFiles: Bool

  /// - Parameter folder: if it does not exist, the nearest folder above it counts.
  /// - Returns: `nil` when the kernel does not say it.
  package init?(at folder: String) {
    var volume = statvfs()
    var path = folder
    while statvfs(path, &volume) != 0 {
      guard errno == ENOENT, path.count > 1 else { return nil }
      path = URL(fileURLWithPath: path).deletingLastPathComponent().path
    }
    self.init(
      folder: folder, free: Int64(clamping: UInt64(volume.f_bavail) * UInt64(volume.f_frsize)),
      size: Int64(clamping: UInt64(volume.f_blocks) * UInt64(volume.f_frsize)),
      // Some file systems have no fixed number of files.
      lacksFiles: volume.f_files > 0 && volume.f_favail == 0)
  }

  init(folder: String, free: Int64, size: Int64, lacksFiles: Bool = false) {
    (self.folder, self.free, self.size, self.lacksFiles) = (folder, free, size, lacksFiles)
  }

  /// With less free space than this many bytes, databases and the journal cannot be written.
  package static let least: Int64 = 1 << 20

  /// What downloads leave free, unless the configuration says otherwise, in bytes: a quarter of the file system, at most
  /// 256 MiB.
  package var reserve: Int64 { min(256 << 20, size / 4) }

  /// How long the journal may be on this file system, in bytes: an eighth of it.
  package var journalLimit: Int { max(64 << 10, Int(clamping: size / 8)) }

  /// Why nothing more can be written, with the place; `nil` when there is space.
  package var shortage: String? {
    if lacksFiles { return "no space left on the disk: the file system of \(folder) has room for no more files" }
    guard free < Self.least else { return nil }
    return "no space left on the disk: \(folder) has \(free >> 10) KiB free of \(size >> 20) MiB"
  }

  /// Waits until the file system of a folder has space. A process that starts without it would exit again and again.
  ///
  /// - Throws: `CancellationError`.
  package static func wait(for folder: InstanceFolder, logger: Logger) async throws {
    guard let shortage = DiskSpace(at: folder.path)?.shortage else { return }
    logger.error("\(shortage): waits until \(least >> 20) MiB are free")
    while DiskSpace(at: folder.path)?.shortage != nil { try await Task.sleep(for: .milliseconds(200)) }
    logger.notice("there is space on the disk again")
  }
}
