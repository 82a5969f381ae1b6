// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One process that `up` supervises.
struct SupervisedProcess: Sendable {
  let name: String
  let executable: String
  /// The current arguments. A restarted process may have to use its former port.
  let arguments: @Sendable () -> [String]
}

/// Which exits delay a restart.
enum RestartPolicy: Sendable {
  /// Each exit soon after the start, so that a process that cannot run does not use up the machine.
  case afterEachShortRun
  /// Not those by SIGKILL: a campaign kills on purpose, and measures the recovery.
  case exceptKills
}

/// Computes the delay before a restart: none when the process ran long enough, else 0.2 s, doubling to 5 s.
struct RestartDelay: Sendable, Equatable {
  static let shortRun = Duration.seconds(2)
  static let first = Duration.milliseconds(200)
  static let longest = Duration.seconds(5)
  private(set) var next: Duration = .zero

  /// Returns the delay after a run of this length.
  mutating func pause(afterRunOf runTime: Duration) -> Duration {
    if runTime >= Self.shortRun {
      next = .zero
      return .zero
    }
    next = next == .zero ? Self.first : min(next * 2, Self.longest)
    return next
  }
}
