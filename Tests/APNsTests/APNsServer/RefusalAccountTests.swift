// SPDX-License-Identifier: Apache-2.0

import APNs
import FidelityRules
import Foundation
import Testing

@testable import APNsServer

/// Connections on which many requests are refused.
@Suite(.timeLimit(.minutes(1))) struct `Connections with many refusals` {
  private static func policy(
    slowedRefusals: Int = 0, endedRefusals: Int = 0, slowedStreams: Int = 1, badDeviceTokenWeight: Int = 2
  ) -> RefusalPolicy {
    var policy = RefusalPolicy()
    policy.slowedFrom = slowedRefusals
    policy.endedAt = endedRefusals
    policy.slowedStreams = slowedStreams
    policy.badDeviceTokenWeight = badDeviceTokenWeight
    return policy
  }

  @Test(.rule("APNS-47"), arguments: [2, 7])
  func `refusals add to the account, and successes take from it`(badDeviceTokenWeight: Int) {
    var account = RefusalAccount(Self.policy(badDeviceTokenWeight: badDeviceTokenWeight))
    account.count(status: 200, reason: nil)
    #expect(account.value == 0)
    account.count(status: 403, reason: "ExpiredProviderToken")
    #expect(account.value == 1)
    account.count(status: 400, reason: "BadDeviceToken")
    #expect(account.value == 1 + badDeviceTokenWeight)
    for status in [410, 500, 503] { account.count(status: status, reason: "any") }
    #expect(account.value == 1 + badDeviceTokenWeight)
    account.count(status: 200, reason: nil)
    #expect(account.value == badDeviceTokenWeight)
    #expect(!account.isSlowed && !account.isOver, "0 is never")
    account.count(status: 499, reason: "any")
    #expect(account.value == badDeviceTokenWeight + 1)
  }

  @Test(.rule("APNS-47"), arguments: [1, 3])
  func `a connection is slowed from one account on and ended at another`(slowedRefusals: Int) {
    let endedRefusals = slowedRefusals + 2
    var account = RefusalAccount(Self.policy(slowedRefusals: slowedRefusals, endedRefusals: endedRefusals))
    for number in 1...endedRefusals {
      account.count(status: 400, reason: "BadTopic")
      #expect(account.isSlowed == (number >= slowedRefusals))
      #expect(account.isOver == (number == endedRefusals))
    }
  }

  @Test(.rule("APNS-47", "HTTP-76"), arguments: [1, 5])
  func `SETTINGS announce few streams before the refusal, and many again after a success, with the same windows`(
    slowedStreams: Int
  )
    async throws
  {
    var limits = APNsServerLimits.unhurried
    limits.refusals = Self.policy(slowedRefusals: 2, endedRefusals: 4, slowedStreams: slowedStreams)
    let lab = try await TestAPNsServer.start(
      TestBackend { request, answer in
        guard request["apns-id"] == "wrong" else { return answer(.ok(request)) }
        answer(APNsAnswer(status: 400, reason: "BadTopic", apnsID: "wrong"))
      }, limits: limits)
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement)
    let first = await client.next { $0.settings != nil }?.settings
    #expect(first?[3] == 1 && first?[4] == 65_535)
    let expected: [(id: String, streams: Int?)] = [
      ("right", 1000), ("wrong", nil), ("wrong", slowedStreams), ("right", 1000), ("wrong", slowedStreams),
      ("wrong", nil),
    ]
    for (index, (id, streams)) in expected.enumerated() {
      client.send(HTTP2Frames.push(on: 1 + 2 * index, id: id))
      var announced: Int?
      while let frame = await client.next(where: { $0.settings != nil || $0.kind == 1 }), frame.kind != 1 {
        announced = frame.settings?[3]
        #expect(frame.settings?[4] == nil)
        client.send(HTTP2Frames.acknowledgement)
      }
      #expect(announced == streams, "request \(index)")
    }
    client.send(HTTP2Frames.push(on: 13, id: "wrong"))
    #expect(await client.farewell() == .init(last: 13, code: 0, text: #"{"reason":"BadTopic"}"#))
    await lab.stop()
  }
}
