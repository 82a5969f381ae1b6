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
  /// No exit by SIGKILL, and each other one by the shortest delay: a campaign causes exits, and measures the recovery.
  case inCampaign
}

/// Computes the delay before a restart: none when the process ran long enough, else 0.2 s, doubling to 5 s.
struct RestartDelay: Sendable, Equatable {
  static let shortRun = Duration.seconds(2)
  static let first = Duration.milliseconds(200)
  static let longest = Duration.seconds(5)
  private(set) var next: Duration = .zero

  /// Returns the delay after a run of this length.
  ///
  /// - Parameter isKilled: whether SIGKILL ended it.
  mutating func pause(afterRunOf runTime: Duration, by policy: RestartPolicy, isKilled: Bool) -> Duration {
    switch policy {
    case .afterEachShortRun: pause(afterRunOf: runTime)
    case .inCampaign: isKilled ? .zero : Self.first
    }
  }

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
