// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// A provider's request with its verdict: recorded in the delivery log and, if accepted, sent to the device.
package struct PushArrival: Sendable, Hashable {
  package enum Verdict: Sendable, Hashable {
    /// Status 200, and the notification that is sent. `remark`: what is unusual about it.
    indirect case accepted(PushedNotification, remark: String?)
    /// `explanation`: what was wrong and by which rule.
    case refused(status: Int, reason: String?, explanation: String)
  }
  package let uniqueID: UUID
  package let apnsID: String
  /// `nil` when the token is unknown.
  package let subject: PushSubject?
  /// The device token as sent.
  package let token: String
  /// `apns-push-type` as sent.
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

/// The result of storing an accepted notification, before the provider receives the response.
package enum PushReceipt: Sendable, Hashable {
  /// On disk, or not stored because its expiration is 0.
  case kept
  /// The queue is full. Definite.
  case full
  /// The database cannot be written. Indefinite.
  case broken
  /// The database cannot be reached or refuses the writes. Definite.
  case away
  /// The token is not active any more, by the transaction that would have stored it. `nil`: it is unknown. Definite.
  case tokenEnded(DeviceToken?)
}

/// An accepted notification that is not delivered.
package struct StoredPush: Sendable, Hashable {
  /// What does not change. Shared by all copies: a transaction makes many, and the notification has ten texts.
  private final class Content: Sendable {
    let notification: PushedNotification
    let token: String

    init(_ notification: PushedNotification, _ token: String) {
      self.notification = notification
      self.token = token
    }
  }

  /// The number of its request in the delivery log.
  package let number: Int64
  private var content: Content
  package var notification: PushedNotification { content.notification }
  /// The token to which it was sent.
  package var token: String { content.token }
  /// Whether the disk has it as stored and not as sent. `nil` when the disk does not say so.
  package var isHeld: Bool?
  /// True when it was sent. False for one that the previous process instance may have sent, until it is sent again.
  package internal(set) var isSent = false

  package init(number: Int64, notification: PushedNotification, token: String) {
    self.number = number
    content = Content(notification, token)
  }

  package static func == (one: StoredPush, other: StoredPush) -> Bool {
    one.number == other.number && one.isHeld == other.isHeld && one.isSent == other.isSent
      && (one.content === other.content || one.token == other.token && one.notification == other.notification)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(number) }

  package var id: UUID { notification.uniqueID }

  /// The date at which it expires.
  package func end(_ settings: PushSettings) -> Date {
    let limit = notification.acceptedAt.addingTimeInterval(settings.storageAge)
    return notification.expiration.map { min($0, limit) } ?? limit
  }

  /// One attempt without storage.
  package var isForOnce: Bool { notification.isForOnce }

  /// A copy that is marked as delivered from storage.
  package func stored() -> StoredPush {
    let push = notification
    var keptArrival = self
    keptArrival.isSent = false
    keptArrival.content = Content(
      PushedNotification(
        uniqueID: push.uniqueID, apnsID: push.apnsID, subject: push.subject, type: push.type, priority: push.priority,
        collapseID: push.collapseID, payload: push.payload, acceptedAt: push.acceptedAt, expiration: push.expiration,
        isFromStorage: true), token)
    return keptArrival
  }
}

extension PushedNotification {
  /// True when the expiration is 0: one attempt.
  package var isForOnce: Bool { expiration?.timeIntervalSince1970 == 0 }
}
