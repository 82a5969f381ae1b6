package import Conversations
package import Foundation

/// A push that kept the contract.
package struct AcceptedPush: Hashable, Sendable {
  package let token: DeviceToken
  package let type: PushType
  package let topic: String
  /// 10, 5 or 1.
  package let priority: Int
  /// `nil`: by the storage policy. The epoch itself: one attempt.
  package let expiration: Date?
  package let collapseID: String?
  /// As it was sent.
  package let payload: String
  /// What the provider is not told, since no reason exists for it: a payload that is not JSON, or that a widget makes
  /// nothing of.
  package let remark: String?
}

/// A broadcast's refusal: its reasons are other ones than those of a device's push. Source: Apple's *Handling error
/// responses from APNs*.
package struct BroadcastRefusal: Hashable, Sendable {
  package let status: Int
  package let reason: String
  package let explanation: String
}

/// What the contract says of a request.
package struct APNsVerdict: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    indirect case accepted(AcceptedPush)
    case refused(APNsRefusal)
    case broadcastRefused(BroadcastRefusal)
  }
  /// As it was sent, or a UUID in lower case that was made.
  package let apnsID: String
  /// `apns-id`, or `apns-request-id` of a broadcast.
  package let idHeader: String
  /// The push server's name of it, for the log: also of what was refused, and in both environments.
  package let uniqueID: UUID
  package let environment: PushEnvironment
  /// The device token as it was sent, at most 256 characters; empty without one.
  package let token: String
  /// `apns-push-type` as it was sent.
  package let type: String?
  /// When the token is known, also of the other environment.
  package let device: DeviceToken?
  package let outcome: Outcome

  /// Of the answer.
  package var status: Int {
    switch outcome {
    case .accepted: 200
    case .refused(let refusal): refusal.reason.status
    case .broadcastRefused(let refusal): refusal.status
    }
  }

  /// What the provider is told.
  package var reason: String? {
    switch outcome {
    case .accepted: nil
    case .refused(let refusal): refusal.reason.rawValue
    case .broadcastRefused(let refusal): refusal.reason
    }
  }

  /// What the provider is not told: what was wrong, by which rule; or the remark on what was accepted.
  package var explanation: String? {
    switch outcome {
    case .accepted(let push): push.remark
    case .refused(let refusal): refusal.explanation
    case .broadcastRefused(let refusal): refusal.explanation
    }
  }

  /// What goes on the wire. That of an accepted push is due when it is on disk.
  package var answer: APNsAnswer {
    let refusal: APNsRefusal? = if case .refused(let refusal) = outcome { refusal } else { nil }
    return APNsAnswer(
      status: status, reason: reason, timestamp: refusal?.timestamp, apnsID: apnsID, idHeader: idHeader,
      uniqueID: environment == .development ? uniqueID : nil,
      manner: refusal?.endsConnection == true ? .responseAndGoAway : .response)
  }

  /// The same request, refused after all.
  package func refused(_ refusal: APNsRefusal) -> APNsVerdict {
    APNsVerdict(
      apnsID: apnsID, idHeader: idHeader, uniqueID: uniqueID, environment: environment, token: token, type: type,
      device: device, outcome: .refused(refusal))
  }
}
