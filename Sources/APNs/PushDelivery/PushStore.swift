// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
package import PushRules

/// Persists device tokens, stored notifications and the delivery log.
///
/// All functions without `async` block until the database has replied. Only the service calls them, on its executor.
package protocol PushStore: Sendable {
  /// Maximum number of requests examined, of tokens deleted and of ends returned at once.
  var pageLimit: Int { get }

  /// Reads what the previous process instance has left, without what is read when it is needed.
  ///
  /// - Throws: the database error.
  func left() throws -> PushesLeft

  /// Writes all changes in one transaction, or none. They are on disk when it returns.
  ///
  /// - Parameter old: what to delete in the same transaction.
  /// - Returns: what was deleted.
  /// - Throws: the database error.
  @discardableResult
  func write(_ changes: PushChanges, forgetting old: OldPushes?) throws -> ForgottenPushes

  /// What is kept for a device, in the order of the numbers.
  ///
  /// - Throws: the database error.
  func kept(of device: String) throws -> [StoredPush]

  /// The next ends of stored notifications after a place, in order.
  ///
  /// - Parameter date: none is later; `nil` for any.
  /// - Throws: the database error.
  func ends(after place: StoredEnd, by date: Date?, limit: Int) throws -> [StoredEnd]

  /// A token in any state.
  ///
  /// - Throws: the database error.
  func token(_ token: String) throws -> DeviceToken?

  /// The active token of a subject.
  ///
  /// - Throws: the database error.
  func active(_ subject: PushSubject) throws -> DeviceToken?

  /// A page of tokens, oldest first.
  ///
  /// - Throws: the database error.
  func page(_ request: ListTokens) async throws -> [DeviceToken]

  /// A page of the log, oldest first.
  ///
  /// - Throws: the database error.
  func page(_ request: ListPushes) async throws -> ListPushes.Reply
}

extension PushStore {
  /// Writes changes, and deletes nothing that is old.
  func write(_ changes: PushChanges) throws { try write(changes, forgetting: nil) }
}

/// The writes of one transaction.
package struct PushChanges: Sendable {
  /// A request written by this transaction.
  package struct Request: Sendable {
    /// Its number in the log.
    package let number: Int64
    package let arrival: PushArrival
    package let at: Date
    /// The detail of its first step, the verdict.
    package let detail: String?
    /// A second step at the same time.
    package var next: (name: PushStep.Name, detail: String?)?
  }
  /// A change of tokens, or of what devices know about them.
  package enum TokenWrite: Sendable {
    case token(DeviceToken)
    /// The device token must be sent to the device.
    case notificationDue(PushSubject, token: String?)
    /// The device has acknowledged this token.
    case notified(PushSubject, token: String?)
  }

  /// Ordered by number, without gaps.
  package private(set) var requests: [Request] = []
  /// Further steps of requests, by the number of the request.
  package private(set) var steps: [(number: Int64, step: PushStep)] = []
  /// Progress reported by devices.
  package var progress: [PushProgress] = []
  /// The notifications to store, by number.
  package private(set) var keptPushes: [Int64: StoredPush] = [:]
  /// The notifications to delete.
  package private(set) var dropped: [StoredPush] = []
  /// Accepted notifications about which another replica decides.
  package var forwarded: [StoredPush] = []
  /// The numbers of those that were stored and are sent.
  package private(set) var sentFromStorage: [Int64: StoredPush] = [:]
  package var tokens: [TokenWrite] = []
  /// What is added to the counts of fleets.
  package var counts: [FleetPushCount: Int] = [:]
  /// Of a shared store: before `counts` are added, the open single attempts of this replica become interrupted ones.
  package var interruptsOpen = false

  package init() {}

  /// Whether nothing is written.
  package var isEmpty: Bool {
    requests.isEmpty && steps.isEmpty && progress.isEmpty && keptPushes.isEmpty && dropped.isEmpty && tokens.isEmpty
      && forwarded.isEmpty && sentFromStorage.isEmpty && counts.isEmpty && !interruptsOpen
  }

  /// The place of a request of this transaction.
  private func place(of number: Int64) -> Int? {
    guard let first = requests.first?.number, number >= first, number - first < requests.count else { return nil }
    return Int(number - first)
  }

  /// Adds a request with its first step.
  mutating func add(_ number: Int64, arrival: PushArrival, verdict: PushStep) {
    requests.append(Request(number: number, arrival: arrival, at: verdict.at, detail: verdict.detail))
  }

  mutating func add(_ step: PushStep, to number: Int64) {
    if let place = place(of: number), requests[place].at == step.at, requests[place].next == nil {
      requests[place].next = (step.name, step.detail)
    } else {
      steps.append((number, step))
    }
  }

  /// Stores the notification until `drop`. Replaces an earlier one with the same number.
  mutating func keep(_ push: StoredPush) {
    keptPushes[push.number] = push
    sentFromStorage[push.number] = nil
  }

  /// A stored notification is sent. It is kept until `drop`.
  mutating func send(_ push: StoredPush) { sentFromStorage[push.number] = push }

  /// Deletes a stored notification. One that was added in this transaction is not written at all.
  mutating func drop(_ push: StoredPush) {
    keptPushes[push.number] = nil
    sentFromStorage[push.number] = nil
    if place(of: push.number) == nil { dropped.append(push) }
  }
}

/// What the previous process instance has left, without what is read when it is needed.
package struct PushesLeft: Sendable {
  /// The device tokens that must be sent to their devices.
  package var due: [(subject: PushSubject, token: String?)] = []
  /// The number of the last request in the log.
  var lastNumber: Int64 = 0

  package init() {}
}

/// A place in the order of the ends of stored notifications.
package struct StoredEnd: Sendable {
  package let at: Date
  package let subject: PushSubject
  package let number: Int64

  /// Before all ends.
  static let first = StoredEnd(before: .distantPast)

  /// Before all stored notifications that end at this date.
  init(before date: Date) {
    self.init(at: date, subject: PushSubject(device: "", bundle: "", use: .app), number: 0)
  }

  package init(at: Date, subject: PushSubject, number: Int64) {
    self.at = at
    self.subject = subject
    self.number = number
  }
}

/// What to delete, at most one page of each kind.
package struct OldPushes: Sendable {
  /// Requests before this date.
  package let date: Date
  /// Requests up to this number.
  package let number: Int64
  /// Only requests after this number.
  package let after: Int64
  /// Tokens that ended before this date.
  package let ended: Date

  package init(date: Date, number: Int64, after: Int64, ended: Date) {
    self.date = date
    self.number = number
    self.after = after
    self.ended = ended
  }
}

/// What was deleted.
package struct ForgottenPushes: Sendable {
  package var requests = 0
  /// The number of the last request that was examined.
  package var last: Int64?
  package var tokens: [String] = []
  /// Whether there may be more.
  package var hasMore = false

  package init(requests: Int = 0, last: Int64? = nil, tokens: [String] = [], hasMore: Bool = false) {
    self.requests = requests
    self.last = last
    self.tokens = tokens
    self.hasMore = hasMore
  }
}

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
