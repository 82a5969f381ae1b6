// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import WidgetLabTesting

/// How the real push server limits providers and deliveries.
@Suite(.live, .timeLimit(.live)) struct `Limits of providers and deliveries` {
  @Test(.rule("APNS-47"))
  func `a provider with many refusals is slowed down, recovers by successes, and is disconnected in the end`()
    async throws
  {
    let rules = ["slowedRefusals: 3", "slowedStreams: 2", "endedRefusals: 6", "badDeviceTokenWeight: 3"]
    try await ProviderFixture.with("refusals", rules: rules) { fixture in
      let right = ProviderPlan.Request(to: try await fixture.token(), token: try await fixture.key())
      let gone = try await fixture.token(.widgets, of: "com.example.Gone")
      try await fixture.run("token", "unregister", "--app", "com.example.Gone")
      let topic = right.with("apns-topic", ProviderFixture.bundle)
      let unknown = right.changed { $0.path = "/3/device/00ff" }
      let old = right.changed { $0.path = "/3/device/" + gone }
        .with("apns-topic", "com.example.Gone.push-type.widgets")
      var plan = fixture.plan([right, topic, unknown, right, right, old, unknown, topic])
      plan.untilClosed = true
      let answers = try #require(try await fixture.send([plan], with: "h2").first)
      let reasons = ["BadTopic", "BadDeviceToken", nil, nil, "Unregistered", "BadDeviceToken", "BadTopic"]
      #expect(answers.dropLast().map(\.reason) == [nil] + reasons)
      #expect(answers.dropLast().map(\.streams) == [1000, 1000, 2, 2, 1000, 1000, 2, 2])
      #expect(answers.last?.goaway == #"{"reason":"BadTopic"}"#)
    }
  }

  @Test(.rule("APNS-46")) func `a request with the scheme http is reset, and the next one is answered`() async throws {
    try await ProviderFixture.with("scheme") { fixture in
      let right = ProviderPlan.Request(to: try await fixture.token(), token: try await fixture.key())
      let answers = try await fixture.send(
        [fixture.plan([right.changed { $0.scheme = "http" }, right])], with: "h2")
      #expect(answers.first?.map(\.status) == [0, 200])
    }
  }

  @Test(.rule("APNS-48", "APNS-49"), arguments: ["priority5Interval", "backgroundInterval"])
  func `pushes of low priority wait for their interval, and the newest is delivered`(interval: String) async throws {
    try await LonePushServer.run("opportunities", settings: ["\(interval): 20"]) { lone in
      let (received, continuation) = AsyncStream.makeStream(of: PushedNotification.self)
      let device = try await lone.device { notification, _ in continuation.yield(notification) }
      try await device.deliver(DeviceReach(isOnline: true, isAwake: true), to: .pushServer)
      _ = try await lone.token(device)
      let app = IssueToken(bundle: LonePushServer.bundle, use: .app, environment: .development)
      _ = try await device.request(app, to: .pushServer, within: LabTimeout.usual)
      let tool = try await lone.operator()
      let push = interval == "backgroundInterval" ? Self.background : LonePushServer.push
      var ids: [UUID] = []
      for _ in 1...4 {
        let low = SendPush(
          token: nil, subject: push.subject, headers: push.headers.merging(["apns-priority": "5"]) { $1 },
          payload: push.payload)
        let answer = try await tool.request(low, to: .pushServer, within: LabTimeout.usual)
        #expect(answer.status == 200, "\(answer)")
        ids.append(answer.uniqueID)
      }
      var arrivals = received.makeAsyncIterator()
      let arrived = [await arrivals.next()?.uniqueID, await arrivals.next()?.uniqueID]
      #expect(arrived == [ids[0], ids[3]])
      for id in ids[1...2] {
        let steps = try await lone.record(id, at: .superseded, tool).steps.map(\.name)
        #expect(steps == [.accepted, .storedPower, .superseded])
      }
      let last = try await lone.record(ids[3], at: .delivered, tool).steps.map(\.name)
      #expect(last == [.accepted, .storedPower, .sent, .delivered])
      for connection in [device, tool] { await connection.leave() }
    }
  }

  /// A background push to the app.
  private static var background: SendPush {
    SendPush(
      token: nil, subject: PushSubject(device: LonePushServer.device, bundle: LonePushServer.bundle, use: .app),
      headers: ["apns-push-type": "background", "apns-topic": LonePushServer.bundle],
      payload: #"{"aps":{"content-available":1}}"#)
  }
}
