import Cluster
import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing
import WidgetLabTesting

/// What the real push server keeps, whoever is killed.
@Suite(.live, .timeLimit(.live)) struct `the push server keeps what it has answered 200` {
  /// What a device has heard, in order.
  private final class Heard: Sendable {
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

  private func say(_ device: Connection, online: Bool = true, awake: Bool = true) async throws {
    try await device.deliver(DeviceReach(isOnline: online, isAwake: awake), to: .pushServer)
  }

  @Test func `accepted and killed before the delivery, it is delivered by the next life, and once`() async throws {
    try await LonePushServer.run("killed before the delivery") { lone in
      let heard = Heard()
      let device = try await lone.device { notification, _ in heard.note(notification) }
      let tool = try await lone.operator()
      try await say(device, online: false)
      let token = try await lone.token(device)
      let answered = try await tool.request(LonePushServer.push, to: .pushServer, within: LabTimeout.usual)
      #expect(answered.status == 200 && answered.reason == nil)
      try await lone.kill()
      _ = try await lone.start()
      #expect(try await lone.token(device) == token)
      try await say(device)
      var arrivals = heard.stream.makeAsyncIterator()
      #expect(await arrivals.next()?.uniqueID == answered.uniqueID)
      let record = try await lone.record(answered.uniqueID, at: .delivered, tool)
      #expect(record.stations.map(\.name) == [.accepted, .storedOffline, .sent, .delivered])
      // Another life has nothing left to deliver: what comes next is what is sent next.
      try await lone.kill()
      _ = try await lone.start()
      try await say(device)
      let next = try await tool.request(
        LonePushServer.push, to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait)
      #expect(await arrivals.next()?.uniqueID == next.uniqueID)
      _ = try await lone.record(next.uniqueID, at: .delivered, tool)
      #expect(heard.ids == [answered.uniqueID, next.uniqueID])
      for connection in [device, tool] { await connection.leave() }
    }
  }

  @Test func `killed after it handed it over, it hands it over again under the same id`() async throws {
    try await LonePushServer.run("killed after the hand-over") { lone in
      let tool = try await lone.operator()
      let (envelopes, continuation) = AsyncStream.makeStream(of: UUID.self)
      let dying = try await lone.device { _, from in
        continuation.yield(from.id)
        // It dies before the notification is on its disk.
        try await Task.sleep(for: .seconds(1_000))
      }
      try await say(dying)
      _ = try await lone.token(dying)
      let answered = try await tool.request(LonePushServer.push, to: .pushServer, within: LabTimeout.usual)
      var ids = envelopes.makeAsyncIterator()
      #expect(await ids.next() == answered.uniqueID)
      try await lone.kill()
      await dying.leave()
      _ = try await lone.start()
      let heard = Heard()
      let device = try await lone.device { notification, from in
        heard.note(notification)
        #expect(from.id == notification.uniqueID)
      }
      try await say(device)
      let record = try await lone.record(answered.uniqueID, at: .delivered, tool)
      #expect(record.stations.map(\.name) == [.accepted, .sent, .sent, .delivered])
      #expect(heard.ids == [answered.uniqueID])
      for connection in [device, tool] { await connection.leave() }
    }
  }

  @Test func `killed among hundreds of requests, it has each one that it answered 200, and each has an end`()
    async throws
  {
    try await LonePushServer.run("killed among many") { lone in
      let tool = try await lone.operator()
      let heard = Heard()
      let device = try await lone.device { notification, _ in heard.note(notification) }
      try await say(device)
      _ = try await lone.token(device)
      let ids = try await withThrowingTaskGroup(of: UUID?.self) { group in
        for _ in 0..<400 {
          group.addTask {
            // Those that the death cuts off are not answered: nothing is promised.
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
          // By the answer of the second life, all answers of the first one are there.
          _ = try await tool.request(
            LonePushServer.push, to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait)
          group.cancelAll()
        }
        return ids
      }
      try await say(device)
      let last = try await tool.request(
        LonePushServer.push, to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait)
      _ = try await lone.record(last.uniqueID, at: .delivered, tool)
      #expect(ids.count >= 50)
      for id in ids {
        let record = try await lone.record(id, at: .accepted, tool)
        let ends = record.stations.filter { [.delivered, .superseded].contains($0.name) }
        #expect(ends.count == 1, "\(record)")
      }
      for connection in [device, tool] { await connection.leave() }
    }
  }

  @Test func `a rotated token is 410 over TLS, and the device is told by the next life too`() async throws {
    try await LonePushServer.run("rotated") { lone in
      let (replaced, continuation) = AsyncStream.makeStream(of: TokenReplaced.self)
      let device = try await lone.device { _, _ in }
      try await say(device)
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
      #expect(gone.output.contains("\"timestamp\":\(since)"), "\(gone.output), and not \(since)")
      let next = try await lone.curl(server, token: tokens.last?.token ?? "")
      #expect(next.output.contains("HTTP 200"), "\(next)")
      let told = try await connect(
        as: .host, address: .host(LonePushServer.device), instance: lone.instance, within: LabTimeout.usual
      ) { connection in
        connection.onEvent(TokenReplaced.self) { event, _ in continuation.yield(event) }
      }
      var events = replaced.makeAsyncIterator()
      #expect(await events.next()?.token == tokens.last?.token)
      await told.leave()
    }
  }

  @Test func `it answers as an operator asks, for as long as was asked, and the log says so`() async throws {
    try await LonePushServer.run("asked for answers") { lone in
      let device = try await lone.device { _, _ in }
      try await say(device)
      let token = try await lone.token(device)
      let server = try #require(try PushServerAnnouncement.read(in: lone.instance))
      #expect(try await lone.tool("apns", "answer", "503", "ServiceUnavailable", "--times", "2").status == 0)
      for _ in 0..<2 {
        let answer = try await lone.curl(server, token: token)
        #expect(answer.output.contains("HTTP 503") && answer.output.contains("ServiceUnavailable"), "\(answer)")
      }
      #expect(try await lone.curl(server, token: token).output.contains("HTTP 200"))
      #expect(try await lone.tool("apns", "answer", "429", "TooManyRequests", "--token", "00ff").status == 0)
      #expect(try await lone.curl(server, token: token).output.contains("HTTP 200"), "it is meant for another token")
      #expect(try await lone.tool("apns", "answer", "200", "--times", "0").status == 0)
      #expect(try await lone.tool("apns", "answer", "500", "--close-stream").status == 0)
      #expect(try await lone.curl(server, token: token).status == 92, "the stream was reset")
      #expect(try await lone.tool("apns", "answer", "503", "Shutdown", "--goaway").status == 0)
      #expect(try await lone.curl(server, token: token).status != 0, "the connection went away")
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

  @Test func `an operator's push is held to the contract, and is told why it was refused`() async throws {
    try await LonePushServer.run("operator's push") { lone in
      let heard = Heard()
      let device = try await lone.device { notification, _ in heard.note(notification) }
      try await say(device)
      let none = try await lone.tool("push")
      #expect(none.status == 1 && none.errors.contains("token list"), "\(none)")
      let token = try await lone.token(device)
      let sent = try await lone.tool("push", "--json")
      #expect(sent.status == 0, "\(sent)")
      let id = try BodyCoding.decode(SendPush.Reply.self, from: Array(sent.output.utf8)).uniqueID
      var arrivals = heard.stream.makeAsyncIterator()
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

/// The push server among the processes that `widgetlab up` keeps.
@Suite(.live, .timeLimit(.live)) struct `up keeps the push server` {
  @Test func `killed, it comes back at the same ports, answers pings, and has a key that is renewed`() async throws {
    try await Trial.run("up and push server", with: "pushServer: {}") { trial in
      let cluster = trial.cluster
      let first = try #require(cluster.ready.pushServer)
      #expect(try await cluster.attempt(["ping", "push-server"]).status == 0)
      #expect(try await cluster.run("ps").contains("push-server"))
      try await trial.kill("push-server")
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

  @Test func `a cluster without one has none, and says what to do`() async throws {
    try await Trial.run("no push server") { trial in
      #expect(trial.cluster.ready.pushServer == nil)
      let answer = try await trial.cluster.attempt(["push", "log"])
      #expect(answer.status == 78 && answer.errors.contains("pushServer: {}"), "\(answer)")
      #expect(!FileManager.default.fileExists(atPath: trial.cluster.instance.pushServer))
    }
  }
}
