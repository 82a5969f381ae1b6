// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import HummingbirdCore
import Logging

/// Accepts as many connections as this process has descriptors for. Beyond that the listener pauses: otherwise it would
/// try again and again, and use all its time. Confined to the event loop of the listener.
struct ConnectionRoom: AvailableConnectionsDelegate {
  /// Descriptors for the journal and the bus.
  private static let reserve = 16
  /// The time between two lines of the log.
  private static let quiet = Duration.seconds(10)

  private let limit: Int
  private let logger: Logger
  private var connections = 0
  private var logged: ContinuousClock.Instant?

  init(logger: Logger) {
    var files = rlimit()
    let most = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 ? Int(clamping: files.rlim_cur) : 256
    let inUse = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 64
    limit = max(1, most - inUse - Self.reserve)
    self.logger = logger
  }

  func isAcceptingNewConnections() -> Bool { connections < limit }

  mutating func connectionClosed() { connections -= 1 }

  mutating func connectionOpened() {
    connections += 1
    guard connections >= limit, logged.map({ .now - $0 > Self.quiet }) ?? true else { return }
    logged = .now
    logger.critical("no more connections are accepted: \(limit) are open; raise the limit of descriptors (`ulimit -n`)")
  }
}
