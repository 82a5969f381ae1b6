// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing
import WidgetLabTesting

/// What the real push server persists, whichever process is killed.
@Suite(.live, .timeLimit(.live)) struct `Durability of the push server` {
  /// The notifications that a device has received, in order.
  private final class Receipt: Sendable {
    private let notifications = Mutex<[PushedNotification]>([])
    let stream: AsyncStream<PushedNotification>
    private let continuation: AsyncStream<PushedNotification>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func note(_ notification: PushedNotification) {
      notifications.withLock { $0.append(notification) }
      continuation.yield(notification)
    }

    var ids: [UUID] { notifications.withLock { $0.map(\.uniqueID) } }
  }

  private func reportReach(_ device: Connection, online: Bool = true, awake: Bool = true) async throws {
    try await device.deliver(DeviceReach(isOnline: online, isAwake: awake), to: .pushServer)
  }

  @Test func `a push server ends in order as soon as it has announced itself`() async throws {
    // `run` sends SIGTERM after the body, and expects the exit code 0.
    for _ in 1...5 { try await LonePushServer.run("ended at once") { _ in } }
  }

  @Test
  func `an accepted push is delivered exactly once after the push server is killed before the delivery`() async throws {
    try await LonePushServer.run("killed before the delivery") { lone in
      let received = Receipt()
      let device = try await lone.device { notification, _ in received.note(notification) }
      let tool = try await lone.operator()
      try await reportReach(device, online: false)
      let token = try await lone.token(device)
      let answered = try await tool.request(LonePushServer.push, to: .pushServer, within: LabTimeout.usual)
      #expect(answered.status == 200 && answered.reason == nil)
      try await lone.kill()
      _ = try await lone.start()
      #expect(try await lone.token(device) == token)
      try await reportReach(device)
      var arrivals = received.stream.makeAsyncIterator()
      #expect(await arrivals.next()?.uniqueID == answered.uniqueID)
      let record = try await lone.record(answered.uniqueID, at: .delivered, tool)
      #expect(record.steps.map(\.name) == [.accepted, .storedOffline, .sent, .delivered])
      // A restarted push server has nothing left to deliver: the next notification is the next push.
      try await lone.kill()
      _ = try await lone.start()
      try await reportReach(device)
      let next = try await tool.request(
        LonePushServer.push, to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait)
      #expect(await arrivals.next()?.uniqueID == next.uniqueID)
      _ = try await lone.record(next.uniqueID, at: .delivered, tool)
      #expect(received.ids == [answered.uniqueID, next.uniqueID])
      for connection in [device, tool] { await connection.leave() }
    }
  }

  @Test(.rule("APNS-30"))
  func `a push server that is killed after it sent a push delivers the push again under the same id`() async throws {
    try await LonePushServer.run("killed after it sent a push") { lone in
      let tool = try await lone.operator()
      let (envelopes, continuation) = AsyncStream.makeStream(of: UUID.self)
      let dying = try await lone.device { _, from in
        continuation.yield(from.id)
        // The device leaves before it has stored the notification.
        try await Task.sleep(for: .seconds(1_000))
      }
      try await reportReach(dying)
      _ = try await lone.token(dying)
      let answered = try await tool.request(LonePushServer.push, to: .pushServer, within: LabTimeout.usual)
      var ids = envelopes.makeAsyncIterator()
      #expect(await ids.next() == answered.uniqueID)
      try await lone.kill()
      await dying.leave()
      _ = try await lone.start()
      let received = Receipt()
      let device = try await lone.device { notification, from in
        received.note(notification)
        #expect(from.id == notification.uniqueID)
      }
      try await reportReach(device)
      let record = try await lone.record(answered.uniqueID, at: .delivered, tool)
      #expect(record.steps.map(\.name) == [.accepted, .sent, .sent, .delivered])
      #expect(received.ids == [answered.uniqueID])
      for connection in [device, tool] { await connection.leave() }
    }
  }

  @Test(.rule("APNS-23"))
  func `a push server that is killed under load keeps every push that it answered with 200`() async throws {
    try await LonePushServer.run("killed among many") { lone in
      let tool = try await lone.operator()
      let received = Receipt()
      let device = try await lone.device { notification, _ in received.note(notification) }
      try await reportReach(device)
      _ = try await lone.token(device)
      let ids = try await withThrowingTaskGroup(of: UUID?.self) { group in
        for _ in 0..<400 {
          group.addTask {
            // Requests that the kill cuts off get no reply, so they have no guarantee.
            let reply = try? await tool.request(
              LonePushServer.push, to: .pushServer, within: LabTimeout.usual)
            return reply?.status == 200 ? reply?.uniqueID : nil
          }
        }
        var ids: [UUID] = []
        for try await case let id? in group {
          ids.append(id)
          guard ids.count == 50 else { continue }
          try await lone.kill()
          _ = try await lone.start()
          // With a reply of the restarted server, all replies of the killed one have arrived.
          _ = try await tool.request(
            LonePushServer.push, to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait)
          group.cancelAll()
        }
        return ids
      }
      try await reportReach(device)
      let last = try await tool.request(
        LonePushServer.push, to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait)
      _ = try await lone.record(last.uniqueID, at: .delivered, tool)
      #expect(ids.count >= 50)
      for id in ids {
        func ends(_ record: PushRecord) -> [PushStep] {
          record.steps.filter { [.delivered, .superseded].contains($0.name) }
        }
        // The acknowledgement of an earlier one may be recorded later.
        var record = try await lone.record(id, at: .accepted, tool)
        while ends(record).isEmpty, !Task.isCancelled { record = try await lone.record(id, at: .accepted, tool) }
        let ends = ends(record)
        #expect(ends.count == 1, "\(record)")
      }
      for connection in [device, tool] { await connection.leave() }
    }
  }

  @Test(.rule("APNS-32"))
  func `a rotated token gets 410 over TLS, and a restarted push server sends the device its new token`() async throws {
    try await LonePushServer.run("rotated") { lone in
      let (replaced, continuation) = AsyncStream.makeStream(of: TokenReplaced.self)
      let device = try await lone.device { _, _ in }
      try await reportReach(device)
      let token = try await lone.token(device)
      await device.leave()
      let rotated = try await lone.tool("token", "rotate", "--json")
      #expect(rotated.status == 0, "\(rotated.errors)")
      let tokens = try BodyCoding.decode(ChangeToken.Reply.self, from: Array(rotated.output.utf8)).tokens
      #expect(tokens.map(\.state) == [.unregistered, .active])
      try await lone.kill()
      let server = try await lone.start()
      let gone = try await lone.curl(server, token: token)
      #expect(gone.output.contains("HTTP 410") && gone.output.contains(#""reason":"Unregistered""#), "\(gone)")
      let since = Int((tokens.first?.since.timeIntervalSince1970 ?? 0) * 1_000)
      #expect(gone.output.contains("\"timestamp\":\(since)"), "expected \(since): \(gone.output)")
      let next = try await lone.curl(server, token: tokens.last?.token ?? "")
      #expect(next.output.contains("HTTP 200"), "\(next)")
      let received = try await connect(
        as: .host, address: .host(LonePushServer.device), instance: lone.instance, within: LabTimeout.usual
      ) { connection in
        connection.onEvent(TokenReplaced.self) { event, _ in continuation.yield(event) }
      }
      var events = replaced.makeAsyncIterator()
      #expect(await events.next()?.token == tokens.last?.token)
      await received.leave()
    }
  }

  @Test func `the push server gives the responses that an operator sets, as often as requested, and logs them`()
    async throws
  {
    try await LonePushServer.run("responses of the operator") { lone in
      let device = try await lone.device { _, _ in }
      try await reportReach(device)
      let token = try await lone.token(device)
      let server = try #require(try PushServerAnnouncement.read(in: lone.instance))
      #expect(try await lone.tool("apns", "answer", "503", "ServiceUnavailable", "--times", "2").status == 0)
      for _ in 0..<2 {
        let answer = try await lone.curl(server, token: token)
        #expect(answer.output.contains("HTTP 503") && answer.output.contains("ServiceUnavailable"), "\(answer)")
      }
      #expect(try await lone.curl(server, token: token).output.contains("HTTP 200"))
      #expect(try await lone.tool("apns", "answer", "429", "TooManyRequests", "--token", "00ff").status == 0)
      #expect(
        try await lone.curl(server, token: token).output.contains("HTTP 200"), "the response is set for another token")
      #expect(try await lone.tool("apns", "answer", "200", "--times", "0").status == 0)
      #expect(try await lone.tool("apns", "answer", "500", "--close-stream").status == 0)
      #expect(try await lone.curl(server, token: token).status == 92, "the stream was reset")
      #expect(try await lone.tool("apns", "answer", "503", "Shutdown", "--goaway").status == 0)
      #expect(try await lone.curl(server, token: token).status != 0, "the connection is closed")
      let begun = ContinuousClock.now
      #expect(try await lone.tool("apns", "answer", "200", "--latency", "1.5").status == 0)
      #expect(try await lone.curl(server, token: token).output.contains("HTTP 200"))
      #expect(ContinuousClock.now - begun >= .seconds(1.5))
      for wrong in [["410"], ["503", "Unregistered"], ["302"], ["200", "--latency", "-1"]] {
        let answer = try await LabCluster.tool(
          ["apns", "answer"] + wrong + ["--instance", lone.instance.path], executables: lone.executables,
          in: lone.instance.path)
        #expect(answer.status == 64, "\(wrong): \(answer)")
      }
      let log = try await lone.tool("push", "log")
      #expect(log.output.contains("503 ServiceUnavailable") && log.output.contains("widgetlab apns answer"), "\(log)")
      await device.leave()
    }
  }

  @Test func `an operator's push is validated like any other, and a refusal includes the reason`() async throws {
    try await LonePushServer.run("operator's push") { lone in
      let received = Receipt()
      let device = try await lone.device { notification, _ in received.note(notification) }
      try await reportReach(device)
      let none = try await lone.tool("push")
      #expect(none.status == 1 && none.errors.contains("token list"), "\(none)")
      let token = try await lone.token(device)
      let sentOutput = try await lone.tool("push", "--json")
      #expect(sentOutput.status == 0, "\(sentOutput)")
      let id = try BodyCoding.decode(SendPush.Reply.self, from: Array(sentOutput.output.utf8)).uniqueID
      var arrivals = received.stream.makeAsyncIterator()
      #expect(await arrivals.next()?.uniqueID == id)
      let wrong = try await lone.tool("push", "--token", token, "--type", "alert")
      #expect(
        wrong.status == 1 && wrong.output.contains("DeviceTokenNotForTopic") && wrong.output.contains("why:"),
        "\(wrong)")
      let tool = try await lone.operator()
      _ = try await lone.record(id, at: .delivered, tool)
      let log = try await lone.tool("push", "log", id.uuidString)
      for word in ["accepted", "sent", "delivered", "200"] { #expect(log.output.contains(word), "\(log)") }
      let listed = try await lone.tool("token", "list")
      #expect(listed.output.contains(token) && listed.output.contains("active since"), "\(listed)")
      for connection in [device, tool] { await connection.leave() }
    }
  }
}

/// The push server as one of the processes that `widgetlab up` starts.
@Suite(.live, .timeLimit(.live)) struct `The push server under widgetlab up` {
  @Test func `up restarts a killed push server at the same ports, and its key can be rotated`() async throws {
    try await LiveFixture.run("up and push server", with: "pushServer: {}") { fixture in
      let cluster = fixture.cluster
      let first = try #require(cluster.ready.pushServer)
      #expect(try await cluster.attempt(["ping", "push-server"]).status == 0)
      #expect(try await cluster.run("ps").contains("push-server"))
      try await fixture.kill("push-server")
      try await cluster.eventually("the push server is back") {
        try await cluster.attempt(["ping", "push-server"]).status == 0
      }
      let second = try #require(try PushServerAnnouncement.read(in: cluster.instance))
      #expect(second.development == first.development && second.production == first.production)
      let former = try StandingKey.load(.pushServer, in: cluster.instance)
      try await cluster.run("keys", "rotate", "--process", "push-server")
      #expect(try StandingKey.load(.pushServer, in: cluster.instance).publicKey != former.publicKey)
      #expect(try await cluster.attempt(["ping", "push-server"]).status == 0)
    }
  }

  @Test func `a cluster without a push server has none, and push commands report how to configure one`() async throws {
    try await LiveFixture.run("no push server") { fixture in
      #expect(fixture.cluster.ready.pushServer == nil)
      let answer = try await fixture.cluster.attempt(["push", "log"])
      #expect(answer.status == 78 && answer.errors.contains("pushServer: {}"), "\(answer)")
      #expect(!FileManager.default.fileExists(atPath: fixture.cluster.instance.pushServer))
    }
  }
}
