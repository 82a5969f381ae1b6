// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
package import PushRules

/// A store that several push servers, the replicas, share.
///
/// Each connection of devices (a host system, or a fleet of light devices) has at most one owner: the replica that decides
/// about its notifications and sends them. A route is the row with the owner and its epoch, which grows with each owner.
package protocol SharedPushStore: FleetStore {
  /// Identifies this process in routes.
  var replica: String { get }

  /// Maximum number of requests in one transaction.
  var batchLimit: Int { get }

  /// What other replicas announce, and a `poll` each second. One reader.
  var signals: AsyncStream<SharedPushSignal> { get }

  /// Receives what other replicas announce, sends what `announce` was given, and reports each second that this replica
  /// runs. Returns when the task is cancelled.
  func listen() async

  /// Makes this replica the owner of connections, each with another epoch. Waits for running transactions, for 3 s at most. The single
  /// attempts of a fleet that a former owner counts as open are interrupted: it cannot write their result.
  ///
  /// - Returns: the epochs, and the device tokens that must be sent to the devices.
  /// - Throws: `PushStoreError`.
  func claim(_ connections: [String]) throws -> ClaimedRoutes

  /// Opens a transaction. Until it ends, no route of the database gets another owner.
  ///
  /// - Throws: `PushStoreError`.
  func begin(_ scope: SharedScope) throws -> SharedView

  /// The stored notifications of subjects without an owner, locked by the open transaction.
  ///
  /// - Throws: `PushStoreError`.
  func held(of subjects: [PushSubject]) throws -> [StoredPush]

  /// What is sent or stored for devices, in the order of the numbers, as the open transaction sees it.
  ///
  /// - Throws: `PushStoreError`.
  func kept(of devices: [String]) throws -> [StoredPush]

  /// Ends the open transaction without its changes.
  func rollBack()

  /// Releases the routes of replicas that have ended without doing so. Their open single attempts are interrupted.
  ///
  /// - Throws: `PushStoreError`.
  func releaseEnded() throws

  /// Releases the routes of this replica, whose open single attempts are interrupted. It does not write afterwards.
  func leave()

  /// Tells owners that notifications were accepted for them, at once or within milliseconds. May be lost.
  func announce(_ owners: Set<String>)

  /// Tells an owner that a token has ended. May be lost.
  func announce(ended token: String, of subject: PushSubject, to owner: String)

  /// Tokens in any state, without waiting for the service.
  ///
  /// - Throws: `PushStoreError`.
  func tokens(_ tokens: [String]) async throws -> [DeviceToken]

  /// The active token of a subject, without waiting for the service.
  ///
  /// - Throws: `PushStoreError`.
  func current(_ subject: PushSubject) async throws -> DeviceToken?
}

/// Why a shared store has not done something.
package struct PushStoreError: Error, CustomStringConvertible {
  /// What to do about it.
  package enum Code: Sendable {
    /// Another transaction was in the way: repeat at once.
    case conflict
    /// The database cannot be reached: repeat later.
    case away
    /// The database refuses the writes, such as when its disk is full: repeat later.
    case refused
    /// The push servers of another cluster use the database.
    case taken
  }
  package let code: Code
  package let message: String
  /// Whether nothing was written. False when the connection ended during the commit.
  package let isDefinite: Bool

  package init(_ code: Code, _ message: String, isDefinite: Bool = true) {
    self.code = code
    self.message = message
    self.isDefinite = isDefinite
  }

  package var description: String { message }
}

/// What a replica learns from the others, and from time.
package enum SharedPushSignal: Sendable, Hashable {
  /// Other replicas have accepted notifications for connections of this one.
  case arrived
  /// Another replica has ended a token of a connection of this one.
  case tokenEnded(String, of: PushSubject)
  /// A second has passed.
  case poll
  /// The number of replicas has changed.
  case replicas(Int)
}

/// The result of a claim.
package struct ClaimedRoutes: Sendable {
  /// By connection.
  package var epochs: [String: Int64] = [:]
  package var due: [(subject: PushSubject, token: String?)] = []
  package init() {}
}

/// What a transaction needs to read.
package struct SharedScope: Sendable {
  /// The number of new requests.
  package var requests = 0
  /// The tokens of accepted requests.
  package var tokens: [String] = []
  /// The connections whose owners are needed.
  package var connections: Set<String> = []
  /// Whose stored notifications are needed if their connection has no owner.
  package var subjects: Set<PushSubject> = []
  /// The devices whose notifications are loaded.
  package var devices: [String] = []
  /// Whether the notifications that other replicas have accepted for this one are handed over.
  package var isTaking = false
  /// The connections for which nothing is handed over, because their devices do not receive as fast.
  package var full: Set<String> = []
  /// The stored notifications that end until then are needed, except those of other replicas.
  package var endsBy: Date?
  package init() {}
}

/// What a transaction has read, and has locked.
package struct SharedView: Sendable {
  /// The number of the first new request. The others follow without gaps.
  package var firstNumber: Int64 = 0
  package var tokens: [String: DeviceToken] = [:]
  /// By connection, those that have an owner.
  package var routes: [String: PushRoute] = [:]
  /// The stored notifications of the subjects without an owner.
  package var held: [StoredPush] = []
  /// Accepted by any replica for this one, or for an owner that has ended; ordered by number.
  package var takenPushes: [StoredPush] = []
  package var ended: [StoredPush] = []
  /// What is kept for the devices.
  package var keptPushes: [StoredPush] = []
  package init() {}
}

/// The owner of a connection.
package struct PushRoute: Sendable, Hashable {
  package let replica: String
  package let epoch: Int64
  package init(replica: String, epoch: Int64) {
    self.replica = replica
    self.epoch = epoch
  }
}
