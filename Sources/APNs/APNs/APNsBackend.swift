// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// Handles the requests that the HTTP/2 server receives.
package protocol APNsBackend: Sendable {
  /// Creates the session of a connection, which lasts as long as the connection.
  ///
  /// - Parameter certificate: DER of the client certificate, verified against this server's CA; `nil` without one.
  func open(certificate: [UInt8]?) -> ProviderSession
  /// Reads what a request needs from a database that is not in memory. Called on the connection's event loop, before
  /// `receive`. Must return quickly and not block.
  ///
  /// - Parameter then: called exactly once, on any thread, if nothing is returned.
  func lookUp(_ request: APNsRequest, then: @escaping @Sendable (APNsLookUp) -> Void) -> APNsLookUp?

  /// Handles a request with what `lookUp` has read. See below.
  func receive(
    _ request: APNsRequest, _ lookUp: APNsLookUp, in session: inout ProviderSession,
    answer: @escaping @Sendable (APNsAnswer) -> Void)

  /// Handles a request. Called on the connection's event loop, one request at a time. Must return quickly and not
  /// block: `answer` is called exactly once, possibly later and on any thread.
  func receive(
    _ request: APNsRequest, in session: inout ProviderSession, answer: @escaping @Sendable (APNsAnswer) -> Void)
}

/// What a backend has read for a request.
package struct APNsLookUp: Sendable {
  /// The device token of the path; `nil` inside when it is unknown.
  package let token: Result<DeviceToken?, any Error>

  package init(token: Result<DeviceToken?, any Error>) { self.token = token }
}

extension APNsBackend {
  /// Nothing: the backend has all it needs in memory.
  package func lookUp(_ request: APNsRequest, then: @escaping @Sendable (APNsLookUp) -> Void) -> APNsLookUp? {
    APNsLookUp(token: .success(nil))
  }

  /// Handles a request without what was read.
  package func receive(
    _ request: APNsRequest, _ lookUp: APNsLookUp, in session: inout ProviderSession,
    answer: @escaping @Sendable (APNsAnswer) -> Void
  ) { receive(request, in: &session, answer: answer) }
}

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

  /// The response. An accepted push is answered after it is on disk.
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

/// The numeric limits of the contract. Sources: Documentation/apns.md.
package struct APNsSettings: Hashable, Sendable {
  /// Bytes of a payload. Documented.
  package var payloadLimit = 4096
  /// Bytes of a payload of the type `voip`. Documented.
  package var voipPayloadLimit = 5120
  /// Bytes of a broadcast's payload. Documented.
  package var broadcastPayloadLimit = 5120
  /// Bytes of `apns-collapse-id`. Documented.
  package var collapseIDLimit = 64
  /// Seconds from `iat` during which a provider token is valid. Documented.
  package var providerTokenLifetime = 3600.0
  /// Minimum seconds between two changes of a connection's provider token; 0: no limit. Documented.
  package var providerTokenUpdateInterval = 1200.0
  /// Consecutive requests to one device token on one connection within `consecutiveWindow`; 0: no limit. Apple
  /// documents that a limit exists, but not its value.
  package var consecutiveRequests = 0
  /// Seconds of the window of `consecutiveRequests`.
  package var consecutiveWindow = 60.0

  package init() {}
}
