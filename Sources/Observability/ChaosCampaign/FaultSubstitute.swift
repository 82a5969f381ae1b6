// SPDX-License-Identifier: Apache-2.0

import FaultPoints

/// One or two faults that are tried instead of all faults of a campaign.
///
/// A kill may need luck with the moment. A crash at a point needs less, and so does a kill while another process is stopped,
/// because what is between the two processes waits then.
package enum FaultSubstitute: Hashable, Sendable {
  /// A crash of a process at a point, a `FaultPoint`, when it was reached so often before.
  case crash(step: Int, victim: ChaosVictim, point: String, skipping: Int = 0)
  /// A process is stopped in a step, and another one is killed in the next step.
  case kill(step: Int, victim: ChaosVictim, whileStopped: ChaosVictim)

  /// How long a process is stopped, in milliseconds: longer than the steps' delays.
  private static let stop = 900

  /// The first step with a fault.
  package var step: Int {
    switch self {
    case .crash(let step, _, _, _), .kill(let step, _, _): step
    }
  }

  /// The faults, from that step on.
  package var faults: [ChaosFault] {
    switch self {
    case .crash(_, let victim, let point, let skipping): [.point(victim: victim, point: point, skipping: skipping)]
    case .kill(_, let victim, let stopped):
      [.stop(victim: stopped, milliseconds: Self.stop), .kill(victims: [victim])]
    }
  }

  /// The crash when the point is reached once more; `nil` when it was reached often enough.
  var later: FaultSubstitute? {
    guard case .crash(let step, let victim, let point, let skipping) = self, skipping < 3 else { return nil }
    return .crash(step: step, victim: victim, point: point, skipping: skipping + 1)
  }

  /// How many points at which processes were killed are worth a try.
  private static let most = 8
  /// So many steps before the last one, all others begin.
  private static let stepsBeforeLast = 8

  /// Crashes at the points at which processes were killed, the latest first. Then for each killed process, also the latest
  /// first: a kill while another one is stopped, and a crash at every other point.
  ///
  /// - Parameter all: the processes that can be stopped.
  package static func all(in events: [CampaignEvent], stopping all: [ChaosVictim]) -> [FaultSubstitute] {
    var seen: [FaultSubstitute] = []
    var points: Set<[String]> = []
    var victims: [ChaosVictim] = []
    for event in events.reversed() {
      for kill in event.kills {
        if !victims.contains(kill.victim) { victims.append(kill.victim) }
        guard seen.count < most, FaultPoint(name: kill.state) != nil,
          points.insert([kill.victim.rawValue, kill.state]).inserted
        else { continue }
        seen.append(.crash(step: event.step, victim: kill.victim, point: kill.state))
      }
    }
    let step = max((events.map(\.step).max() ?? 1) - stepsBeforeLast, 1)
    for victim in victims {
      seen += all.filter { $0 != victim }.map { .kill(step: step, victim: victim, whileStopped: $0) }
      seen += victim.points.map(\.name).filter { !points.contains([victim.rawValue, $0]) }
        .map { .crash(step: step, victim: victim, point: $0) }
    }
    return seen
  }
}
