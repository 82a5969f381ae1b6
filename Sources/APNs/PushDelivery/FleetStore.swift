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
}

/// A push store that also has the secrets of fleets and the counts of their pushes. Its `write` adds
/// `PushChanges.counts` to the counts, in the transaction of what they count.
package protocol FleetStore: PushStore {
  /// A fleet joins.
  ///
  /// - Parameter secret: that of a new fleet.
  /// - Returns: the fleet's secret; `nil` when another fleet has this name.
  /// - Throws: the database error.
  func join(_ name: String, _ incarnation: UUID, secret: String) throws -> String?

  /// The secret of a fleet that has joined before.
  ///
  /// - Throws: the database error.
  func secret(ofFleet name: String) throws -> String?

  /// The next devices of a fleet for which something is kept, after one of them.
  ///
  /// - Throws: the database error.
  func devicesWithKept(of fleet: String, after device: String, limit: Int) throws -> [String]

  /// The counts of a fleet, what is kept for it and its active tokens.
  ///
  /// - Throws: the database error.
  func counts(of fleet: String) async throws -> CountFleetPushes.Reply
}
