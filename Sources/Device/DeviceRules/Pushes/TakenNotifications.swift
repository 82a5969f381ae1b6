// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The ids of the newest notifications that arrived. A notification that arrives again is ignored.
package struct TakenNotifications: Sendable {
  /// How many are remembered: the push server does not redeliver older ones.
  package static let remembered = 20_000

  private var ids: Set<UUID> = []
  /// The ids in the order of their arrival. Those before `first` are forgotten.
  private var order: [UUID] = []
  private var first = 0

  /// - Parameter ids: in the order of their arrival.
  package init(_ ids: [UUID] = []) {
    for id in ids { insert(id) }
  }

  package func contains(_ id: UUID) -> Bool { ids.contains(id) }

  /// - Returns: `false` if the notification had arrived before.
  @discardableResult
  mutating func insert(_ id: UUID) -> Bool {
    guard ids.insert(id).inserted else { return false }
    order.append(id)
    guard ids.count > Self.remembered else { return true }
    ids.remove(order[first])
    first += 1
    if first > Self.remembered {
      order.removeFirst(first)
      first = 0
    }
    return true
  }
}
