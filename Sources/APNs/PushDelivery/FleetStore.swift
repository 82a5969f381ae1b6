// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// What is counted together.
package struct FleetPushCount: Hashable, Sendable {
  /// A fleet, or empty for requests whose token is unknown.
  package let fleet: String
  package let type: String
  package let name: String
  package let reason: String

  package init(fleet: String, type: String, name: String, reason: String) {
    self.fleet = fleet
    self.type = type
    self.name = name
    self.reason = reason
  }

  /// The name of a single attempt that is on its way. It is in no table but this count.
  package static let open = "open"
  /// The name of a single attempt whose result is unknown.
  package static let interrupted = "interrupted"
}

/// A push store that also has the secrets of fleets and the counts of their pushes. Its `write` adds
/// `PushChanges.counts` to the counts, in the transaction of what they count.
package protocol FleetStore: PushStore {
  /// A fleet joins. With a shared store, in the open transaction.
  ///
  /// - Parameter secret: that of a new fleet.
  /// - Returns: the fleet's secret; `nil` when another fleet has this name.
  /// - Throws: the database error.
  func join(_ name: String, _ incarnation: UUID, secret: String) throws -> String?

  /// The secret of a fleet that has joined before.
  ///
  /// - Throws: the database error.
  func secret(ofFleet name: String) throws -> String?

  /// The next devices of a fleet for which something is sent or stored, after one of them.
  ///
  /// - Throws: the database error.
  func devicesWithKept(of fleet: String, after device: String, limit: Int) throws -> [String]

  /// The counts of a fleet, what is kept for it and its active tokens.
  ///
  /// - Throws: the database error.
  func counts(of fleet: String) async throws -> CountFleetPushes.Reply
}

extension CountFleetPushes.Reply {
  /// The numbers of active tokens by use without its number, from those by use.
  package static func sums(_ counts: [(use: String, count: Int)]) -> [String: Int] {
    counts.reduce(into: [:]) { sums, part in sums[part.use.withoutNumber, default: 0] += part.count }
  }
}

extension String {
  /// `liveactivity` of `liveactivity-3`.
  fileprivate var withoutNumber: String {
    guard let dash = lastIndex(of: "-"), Int(self[index(after: dash)...]) != nil else { return self }
    return String(self[..<dash])
  }
}
