// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A file that is passed to a delegate method, and whether the method moved or read it.
struct HandedFile {
  private let path: String
  private let isWatched: Bool

  /// Sets the access time to 1970. The next access changes it.
  init(_ url: URL) {
    path = url.path
    // Access time: the beginning of 1970. Modification time: unchanged (UTIME_OMIT of linux/stat.h).
    let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)]
    var volume = statvfs()
    // ST_NOATIME of bits/statvfs.h: the volume does not record access times.
    isWatched = statvfs(path, &volume) == 0 && volume.f_flag & 1024 == 0 && utimensat(AT_FDCWD, path, times, 0) == 0
  }

  /// Whether the file is still at its path, has no other link and was not read. `false` where this cannot be
  /// determined.
  var isLeftBehind: Bool {
    var status = stat()
    guard isWatched, stat(path, &status) == 0 else { return false }
    return status.st_size > 0 && status.st_nlink == 1 && status.st_atim.tv_sec == 0
  }
}
