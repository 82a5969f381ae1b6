// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A lock on a folder, which threads and processes hold in turn. The operating system releases it with its process.
package enum FolderLock {
  /// Why a folder was not locked.
  package struct Failure: Error {
    /// `errno`. `EWOULDBLOCK`: another holder kept the lock for the whole time.
    package let code: Int32
    /// Whether the folder was opened.
    package let isOpened: Bool
  }

  /// Takes the lock, and waits for it if necessary. Blocks the thread.
  ///
  /// - Parameters:
  ///   - folder: an existing folder.
  ///   - patience: how long to wait for another holder, which may be suspended.
  /// - Returns: a descriptor. The lock ends when it is closed.
  package static func take(_ folder: String, patience: Duration) throws(Failure) -> Int32 {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(code: errno, isOpened: false) }
    let end = ContinuousClock.now + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR, ContinuousClock.now < end else {
        close(descriptor)
        throw Failure(code: code, isOpened: true)
      }
      // A wait for the lock would have no end, so the lock is asked for each millisecond.
      poll(nil, 0, 1)
    }
    return descriptor
  }
}
