// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
package import Messages

// A significant change of the device's location. Source: *Keeping a widget up to date*: the system reloads widgets that
// use the location when they are viewed next, and the reload is free.

extension TimelineStateMachine {
  /// Visible placements are reloaded now, the others when they are seen.
  mutating func moved(_ bundles: Set<String>, _ context: MessageContext, _ now: Date) -> [Action] {
    placements.keys.sorted().flatMap { id -> [Action] in
      guard let placed = placements[id], bundles.contains(placed.placement.bundle) else { return [] }
      guard placed.account.isSeen else {
        placements[id]?.hasMoved = true
        return []
      }
      return requestReload(id, .location, context, now: now)
    }
  }

  /// A placement becomes visible after the device moved.
  mutating func seenElsewhere(_ id: Int, _ now: Date) -> [Action] {
    placements[id]?.hasMoved = false
    return requestReload(id, .location, .none, now: now)
  }
}

extension TimelineService {
  /// The device moved far. The consequences are persisted when this returns.
  ///
  /// - Parameter bundles: the extensions whose widgets use the location.
  /// - Returns: the placements that are reloaded now, and those that are reloaded when they are seen.
  /// - Throws: `failed` when it cannot be recorded.
  package func moved(_ bundles: Set<String>, _ context: MessageContext = .none) throws(BusError) -> MoveDevice.Reply {
    try record(.moved(bundles: bundles, context))
    let meant = stateMachine.placements.values.filter { bundles.contains($0.placement.bundle) }
    return MoveDevice.Reply(
      reloaded: meant.filter(\.account.isSeen).map(\.placement.id).sorted(),
      whenSeen: meant.filter { !$0.account.isSeen }.map(\.placement.id).sorted())
  }
}
