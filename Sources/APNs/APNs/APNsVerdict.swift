// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// A push that passed all checks.
package struct AcceptedPush: Hashable, Sendable {
  package let token: DeviceToken
  package let type: PushType
  package let topic: String
  /// 10, 5 or 1.
  package let priority: Int
  /// `nil`: set by the storage policy. The epoch: one attempt.
  package let expiration: Date?
  package let collapseID: String?
  /// The payload as sent.
  package let payload: String
  /// What is wrong with the payload although it was accepted: not JSON, or of no effect on a widget. APNs has no reason
  /// for either, so the provider does not receive it.
  package let remark: String?

  init(token: DeviceToken, _ content: PushContent) {
    self.token = token
    type = content.type
    topic = content.topic.text
    priority = content.priority
    expiration = content.expiration
    collapseID = content.collapseID
    payload = content.payload
    remark = content.remark
  }
}

/// The refusal of a broadcast. Its reasons differ from those of a device push. Source: Apple's *Handling error
/// responses from APNs*.
package struct BroadcastRefusal: Hashable, Sendable {
  package let status: Int
  package let reason: String
  package let explanation: String
}

/// The result of the checks of a request.
package struct APNsVerdict: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    indirect case accepted(AcceptedPush)
    case refused(APNsRefusal)
    case broadcastRefused(BroadcastRefusal)
  }
  /// As sent, or a generated lower-case UUID.
  package let apnsID: String
  /// `apns-id`, or `apns-request-id` of a broadcast.
  package let idHeader: String
  /// The push server's own id of the request, for the log. Also set for refused requests, and in both environments.
  package let uniqueID: UUID
  package let environment: PushEnvironment
  /// The device token as sent, at most 256 bytes; empty without one.
  package let token: String
  /// The start of `apns-push-type` as sent.
  package let type: String?
  /// The device token if it is registered, also in the other environment.
  package let device: DeviceToken?
  package let outcome: Outcome

  /// The HTTP status of the response.
  package var status: Int {
    switch outcome {
    case .accepted: 200
    case .refused(let refusal): refusal.reason.status
    case .broadcastRefused(let refusal): refusal.status
    }
  }

  /// The reason sent to the provider.
  package var reason: String? {
    switch outcome {
    case .accepted: nil
    case .refused(let refusal): refusal.reason.rawValue
    case .broadcastRefused(let refusal): refusal.reason
    }
  }

  /// What is wrong and by which rule, or the remark on an accepted push. Not sent to the provider.
  package var explanation: String? {
    switch outcome {
    case .accepted(let push): push.remark
    case .refused(let refusal): refusal.explanation
    case .broadcastRefused(let refusal): refusal.explanation
    }
  }

  /// The response. That of an accepted push is sent after the push is on disk.
  package var answer: APNsAnswer {
    let refusal: APNsRefusal? = if case .refused(let refusal) = outcome { refusal } else { nil }
    return APNsAnswer(
      status: status, reason: reason, timestamp: refusal?.timestamp, apnsID: apnsID, idHeader: idHeader,
      uniqueID: environment == .development ? uniqueID : nil,
      manner: refusal?.endsConnection == true ? .responseAndGoAway : .response)
  }

  /// The same request with a refusal instead of its outcome.
  package func refused(_ refusal: APNsRefusal) -> APNsVerdict {
    APNsVerdict(
      apnsID: apnsID, idHeader: idHeader, uniqueID: uniqueID, environment: environment, token: token, type: type,
      device: device, outcome: .refused(refusal))
  }
}
