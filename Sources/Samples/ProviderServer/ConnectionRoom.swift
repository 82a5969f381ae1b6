// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The number of connections for which this process has descriptors. Without such a limit, the server would try to accept
/// another connection again and again, and use all its time.
enum ConnectionRoom {
  /// Descriptors for the database and for pushes.
  private static let reserve = 16

  static var connections: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    let inUse = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 32
    return max(1, Int(clamping: limit.rlim_cur) - inUse - reserve)
  }
}
