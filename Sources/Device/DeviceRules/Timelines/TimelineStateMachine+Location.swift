// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

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
