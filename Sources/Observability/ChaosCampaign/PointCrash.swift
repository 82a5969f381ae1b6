// SPDX-License-Identifier: Apache-2.0

import FaultPoints

/// A crash of a process at a point, in a step of a campaign.
package struct PointCrash: Hashable, Sendable {
  package let step: Int
  package let victim: ChaosVictim
  /// The name of a `FaultPoint`.
  package let point: String

  package init(step: Int, victim: ChaosVictim, point: String) {
    self.step = step
    self.victim = victim
    self.point = point
  }

  /// How many crashes are worth a try.
  private static let most = 8

  /// The points at which processes were killed, the latest first.
  package static func all(in events: [CampaignEvent]) -> [PointCrash] {
    var found: [PointCrash] = []
    for event in events.reversed() {
      for kill in event.kills where FaultPoint(name: kill.state) != nil {
        if found.contains(where: { $0.victim == kill.victim && $0.point == kill.state }) { continue }
        found.append(PointCrash(step: event.step, victim: kill.victim, point: kill.state))
      }
    }
    return Array(found.prefix(most))
  }
}
