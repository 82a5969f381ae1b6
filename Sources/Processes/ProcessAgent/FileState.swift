// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a change of a file or a folder's list changes.
struct FileState: Hashable, Sendable {
  let path: String
  private var inode: UInt64 = 0
  private var size: Int64 = 0
  private var seconds = 0
  private var nanoseconds = 0

  /// The state now; all zero for a file that cannot be read.
  init(_ path: String) {
    self.path = path
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
