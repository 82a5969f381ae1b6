import Archive
package import Conversations
import Foundation

// A significant change of the device's location. Source: *Keeping a widget up to date*: the system reloads widgets that use the
// location when they are viewed next, and it costs no budget.

extension TimelineDecision {
  /// What a person looks at is reloaded now, the rest when it is seen.
  mutating func moved(_ bundles: Set<String>, _ story: Story, _ now: Date) -> [Answer] {
    placements.keys.sorted().flatMap { id -> [Answer] in
      guard let placed = placements[id], bundles.contains(placed.placement.bundle) else { return [] }
      guard placed.account.isSeen else {
        placements[id]?.hasMoved = true
        return []
      }
      return owe(id, .location, story, now: now)
    }
  }

  /// A placement comes into sight after the device moved.
  mutating func seenElsewhere(_ id: Int, _ now: Date) -> [Answer] {
    placements[id]?.hasMoved = nil
    return owe(id, .location, .none, now: now)
  }
}

extension TimelineKeeper {
  /// The device moved far. What follows is on disk when this returns.
  ///
  /// - Parameter bundles: the extensions whose widgets want the location.
  /// - Returns: the placements that are reloaded now, and those that are when they are seen.
  /// - Throws: `failed` when it cannot be recorded.
  package func moved(_ bundles: Set<String>, _ story: Story = .none) throws(BusError) -> MoveDevice.Reply {
    try record(.moved(bundles: bundles, story))
    let meant = decision.placements.values.filter { bundles.contains($0.placement.bundle) }
    return MoveDevice.Reply(
      reloaded: meant.filter(\.account.isSeen).map(\.placement.id).sorted(),
      whenSeen: meant.filter { !$0.account.isSeen }.map(\.placement.id).sorted())
  }
}
