// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A place where calls of a provider wait for each other.
enum Meeting {
  private static let condition = NSCondition()
  private nonisolated(unsafe) static var waiting = 0  // only with the lock of `condition`
  private nonisolated(unsafe) static var meetings = 0  // the same

  /// Blocks the thread until this number of calls has come.
  ///
  /// - Returns: the place of this call in the order in which the calls came.
  static func wait(for calls: Int) -> Int {
    condition.lock()
    defer { condition.unlock() }
    waiting += 1
    let (place, meeting) = (waiting, meetings)
    if waiting == calls {
      waiting = 0
      meetings += 1
      condition.broadcast()
    }
    while meeting == meetings { condition.wait() }
    return place
  }
}
