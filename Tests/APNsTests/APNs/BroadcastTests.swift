// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import APNs

/// `/4/broadcasts`, as documented by Apple.
@Suite struct `Broadcast requests` {
  private static let samples: [(name: String, value: String?, reason: String)] = [
    ("apns-push-type", "widgets", "InvalidPushType"),
    ("apns-push-type", "alert", "InvalidPushType"),
    ("apns-push-type", nil, "MissingPushType"),
    ("apns-push-type", "liveactivity", "ChannelNotRegistered"),
    ("apns-push-type", "LiveActivity", "ChannelNotRegistered"),
    ("apns-channel-id", nil, "MissingChannelId"),
    ("apns-channel-id", "no base64!", "BadChannelId"),
    ("apns-expiration", nil, "BadExpirationDate"),
    ("apns-expiration", "x", "BadExpirationDate"),
    ("apns-priority", nil, "BadPriority"),
    ("apns-priority", "3", "BadPriority"),
    ("authorization", nil, "MissingProviderToken"),
    ("apns-request-id", "x", "BadMessageId"),
  ]

  private static func request(
    _ lab: ProviderKeyFixture, _ changes: KeyValuePairs<String, String?> = [:],
    bundle: String = ProviderKeyFixture.bundle,
    method: String = "POST", body: String = #"{"aps":{}}"#
  ) -> APNsRequest {
    var headers: [String: String] = [
      "authorization": "bearer " + lab.jwt(), "apns-push-type": "liveactivity",
      "apns-channel-id": "dHN0LXNyY2gtY2hubA==",
      "apns-expiration": "0", "apns-priority": "10",
    ]
    for (name, value) in changes { headers[name] = value }
    return APNsRequest(
      method: method, path: "/4/broadcasts/apps/" + bundle,
      headers: headers.map { APNsRequest.Header(name: $0.key, value: $0.value) }, body: Array(body.utf8))
  }

  @Test(.rule("APNS-21"), arguments: samples.indices)
  func `a broadcast is refused with Apple's reasons, and with ChannelNotRegistered when it is valid`(index: Int) {
    let (name, value, reason) = Self.samples[index]
    var lab = ProviderKeyFixture()
    #expect(lab.check(Self.request(lab, [name: value])).reason == reason)
  }

  @Test func `a broadcast has its own request id header, path and payload limit`() {
    var lab = ProviderKeyFixture()
    let answer = lab.check(Self.request(lab, ["apns-request-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b"])).answer
    #expect(answer.idHeader == "apns-request-id" && answer.apnsID == "eabeae54-14a8-11e5-b60b-1697f925ec7b")
    #expect(answer.status == 400)
    #expect(
      lab.check(Self.request(lab, bundle: ProviderKeyFixture.bundle + ".push-type.widgets")).reason == "TopicDisallowed"
    )
    #expect(lab.check(Self.request(lab, bundle: "")).status == 404)
    #expect(lab.check(Self.request(lab, method: "GET")).status == 405)
    #expect(lab.check(Self.request(lab, body: "")).reason == "PayloadEmpty")
    #expect(lab.check(Self.request(lab, body: "{")).reason == "BadRequestPayload")
    #expect(lab.check(Self.request(lab, body: String(repeating: " ", count: 5121))).status == 413)
    #expect(lab.check(lab.request()).idHeader == "apns-id")
  }
}
