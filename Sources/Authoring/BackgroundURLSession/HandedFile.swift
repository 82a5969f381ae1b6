import Foundation
import Glibc

/// A file that a delegate method is handed, and what the method has done with it when it returned.
struct HandedFile {
  private let path: String
  private let isWatched: Bool

  /// Puts the time of the last access far back: the next access changes it.
  init(_ url: URL) {
    path = url.path
    // The access to the beginning of 1970, and the change left as it is: UTIME_OMIT of linux/stat.h.
    let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)]
    var volume = statvfs()
    // ST_NOATIME of bits/statvfs.h: accesses leave no trace there.
    isWatched = statvfs(path, &volume) == 0 && volume.f_flag & 1024 == 0 && utimensat(AT_FDCWD, path, times, 0) == 0
  }

  /// Whether it lies where it was, under no other name, and nobody has read it. `false` where that cannot be known.
  var isLeftBehind: Bool {
    var status = stat()
    guard isWatched, stat(path, &status) == 0 else { return false }
    return status.st_size > 0 && status.st_nlink == 1 && status.st_atim.tv_sec == 0
  }
}
