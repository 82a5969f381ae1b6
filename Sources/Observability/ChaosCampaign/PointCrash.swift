// SPDX-License-Identifier: Apache-2.0

import FaultPoints

/// A crash of a process at a point, in a step of a campaign.
package struct PointCrash: Hashable, Sendable {
  package let step: Int
  package let victim: ChaosVictim
  /// The name of a `FaultPoint`.
  package let point: String
  /// How often the point is reached before the crash.
  package let skipping: Int

  package init(step: Int, victim: ChaosVictim, point: String, skipping: Int = 0) {
    self.step = step
    self.victim = victim
    self.point = point
    self.skipping = skipping
  }

  /// The crash in a step.
  package var fault: ChaosFault { .point(victim: victim, point: point, skipping: skipping) }

  /// The crash when the point is reached once more; `nil` when it was reached often enough.
  var later: PointCrash? {
    skipping < 3 ? PointCrash(step: step, victim: victim, point: point, skipping: skipping + 1) : nil
  }

  /// How many points at which processes were killed are worth a try.
  private static let most = 8
  /// So many steps before the last one, a crash at any other point is armed.
  private static let stepsBeforeLast = 8

  /// The points at which processes were killed, the latest first; then every other point of these processes, by the
  /// latest kill of each.
  package static func all(in events: [CampaignEvent]) -> [PointCrash] {
    var seen: [PointCrash] = []
    var victims: [ChaosVictim] = []
    for event in events.reversed() {
      for kill in event.kills {
        if !victims.contains(kill.victim) { victims.append(kill.victim) }
        guard FaultPoint(name: kill.state) != nil else { continue }
        if seen.contains(where: { $0.victim == kill.victim && $0.point == kill.state }) { continue }
        seen.append(PointCrash(step: event.step, victim: kill.victim, point: kill.state))
      }
    }
    seen = Array(seen.prefix(most))
    let step = max((events.map(\.step).max() ?? 1) - stepsBeforeLast, 1)
    let others = victims.flatMap { victim in
      victim.points.map(\.name).filter { point in !seen.contains { $0.victim == victim && $0.point == point } }
        .map { PointCrash(step: step, victim: victim, point: $0) }
    }
    return seen + others
  }
}
