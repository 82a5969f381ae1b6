package import Conversations
package import Foundation

/// A provider's request with its verdict: what goes into the delivery log, and on to the device when it was accepted.
package struct PushArrival: Sendable, Hashable {
  package enum Verdict: Sendable, Hashable {
    /// 200, and on its way as this. `remark`: what is odd about it all the same.
    indirect case accepted(PushedNotification, remark: String?)
    /// `explanation`: what was wrong, by which rule.
    case refused(status: Int, reason: String?, explanation: String)
  }
  package let uniqueID: UUID
  package let apnsID: String
  /// `nil` when the token is not known.
  package let subject: PushSubject?
  /// As it was sent.
  package let token: String
  /// As it was sent.
  package let type: String?
  package let verdict: Verdict

  package init(
    uniqueID: UUID, apnsID: String, subject: PushSubject?, token: String, type: String?, verdict: Verdict
  ) {
    self.uniqueID = uniqueID
    self.apnsID = apnsID
    self.subject = subject
    self.token = token
    self.type = type
    self.verdict = verdict
  }
}

/// What the store says of an accepted notification before the provider is answered.
package enum PushPromise: Sendable, Hashable {
  /// On disk; or not to be stored, as its expiration of 0 asks.
  case kept
  /// Too many wait to be written. Definite.
  case full
  /// The database cannot be written. Indefinite.
  case broken
}

/// A notification that has been accepted and not delivered.
struct KeptPush: Sendable, Hashable {
  /// Of the delivery log.
  let number: Int64
  var notification: PushedNotification
  /// The token that it came to.
  let token: String
  /// It is on its way. `false` too for one that the last life of the push server may have sent, until it is sent again.
  var isSaid = false

  var id: UUID { notification.uniqueID }

  /// When its storage ends.
  func end(_ settings: PushSettings) -> Date {
    let limit = notification.acceptedAt.addingTimeInterval(settings.storageAge)
    return notification.expiration.map { min($0, limit) } ?? limit
  }

  /// One attempt, and no storage.
  var isForOnce: Bool { notification.isForOnce }

  /// The same, as one that was stored.
  func stored() -> KeptPush {
    let push = notification
    var kept = self
    kept.isSaid = false
    kept.notification = PushedNotification(
      uniqueID: push.uniqueID, apnsID: push.apnsID, subject: push.subject, type: push.type, priority: push.priority,
      collapseID: push.collapseID, payload: push.payload, acceptedAt: push.acceptedAt, expiration: push.expiration,
      isFromStorage: true)
    return kept
  }
}

extension PushedNotification {
  /// An expiration of 0: one attempt.
  package var isForOnce: Bool { expiration?.timeIntervalSince1970 == 0 }
}
