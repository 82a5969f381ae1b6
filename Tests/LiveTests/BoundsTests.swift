// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import Journal
import MessageBus
import Messages
import Testing
import WidgetLabTesting
import ZeroMQ

/// A `message-bus` without a cluster, under kernel limits that a test sets.
@Suite(.live, .timeLimit(.live)) struct `The message bus under kernel limits` {
  @Test func `a bus without free descriptors serves its connections, reports the shortage and accepts new ones later`()
    async throws
  {
    try await LoneBus.run(descriptors: 96) { bus in
      let one = try await bus.connect("1")
      var others: [Connection] = []
      // Each client is one connection, and the limit is below 70.
      for number in 2...70 {
        let connection = bus.connection("\(number)")
        others.append(connection)
        Task { try? await connection.start() }
      }
      let (strained, _) = try await bus.recorded(BusStrained.self) { !$0.isOver }
      #expect(strained.limit < 70)
      // The timeout is long because the clients that reconnect repeatedly take most of a busy machine.
      for _ in 0..<20 { _ = try await one.request(Ping(), to: .messageBus, within: LabTimeout.usual) }
      for other in others { await other.leave() }
      let (over, _) = try await bus.recorded(BusStrained.self) { $0.isOver }
      #expect(over.turnedAway > 0)
      let late = try await bus.connect("late")
      _ = try await late.request(Ping(), to: .messageBus, within: LabTimeout.usual)
      for connection in [late, one] { await connection.leave() }
      let log = try String(contentsOfFile: bus.errors, encoding: .utf8)
      #expect(log.contains("no more connections are accepted"))
      #expect(log.contains("connections are accepted again"))
    }
  }

  /// Whether the listener is ever closed in this test depends on how fast the connections are opened; the test above
  /// reaches the limit in any case.
  @Test(arguments: [512, 16_384])
  func `a bus closes silent connections within its descriptor limit and keeps serving other clients`(
    descriptors: Int
  ) async throws {
    let isLong = ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1"
    let count = min(isLong ? 5000 : 1000, RawLine.raiseDescriptorLimit() - 1000)
    try await LoneBus.run(descriptors: min(descriptors, count + 3000)) { bus in
      let one = try await bus.connect("1")
      let begun = ContinuousClock.now
      var lines: [RawLine] = []
      var refused = 0
      for _ in 0..<count {
        // The listener is closed at times; a refusal then is correct.
        do { lines.append(try RawLine(bus.announcement.endpoint)) } catch { refused += 1 }
        if (lines.count + refused).isMultiple(of: 250) {
          _ = try await one.request(Ping(), to: .messageBus, within: LabTimeout.usual)
        }
      }
      for line in lines { await line.untilEnded() }
      _ = try await one.request(Ping(), to: .messageBus, within: LabTimeout.usual)
      #expect(refused == 0 || descriptors < count)
      let late = try await bus.connect("late")
      for connection in [late, one] { await connection.leave() }
      print("\(count) connections, \(descriptors) descriptors: all ended after \(ContinuousClock.now - begun)")
    }
  }

  /// Takes three minutes, so CI does not run it; `Tests/ProcessesTests/MessageBusBroker` has a short test.
  @Test(
    .enabled(if: ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1"),
    arguments: [false, true])
  func `a bus closes half-open handshakes that a client keeps for minutes, and still serves other clients`(
    greets: Bool
  ) async throws {
    try await LoneBus.run(descriptors: 1024) { bus in
      let one = try await bus.connect("1")
      let begun = ContinuousClock.now
      // The client keeps its sockets open until the end of the test and opens new ones all the time.
      var lines: [RawLine] = []
      var slowest = Duration.zero
      while ContinuousClock.now - begun < .seconds(180) {
        let (line, opened) = (try RawLine(bus.announcement.endpoint), ContinuousClock.now)
        if greets { line.greet() }
        lines.append(line)
        async let ended: Void = line.untilEnded()
        _ = try await one.request(Ping(), to: .messageBus, within: LabTimeout.usual)
        await ended
        slowest = max(slowest, ContinuousClock.now - opened)
        // This test is about minutes of real time.
        try await Task.sleep(for: .milliseconds(500))
      }
      #expect(lines.count > 100)
      let other = try await bus.connect("2")
      for connection in [other, one] { await connection.leave() }
      print("\(lines.count) half-open handshakes, each ended within \(slowest)")
    }
  }

  @Test func `a bus refuses requests at the file size limit and resumes when the limit is raised`() async throws {
    try await LoneBus.run(descriptors: 1024) { bus in
      let one = try await bus.connect("1")
      try await bus.limitFiles(to: "4096")
      var answers: [BusError.Code?] = []
      while answers.last != .busy {
        do {
          _ = try await one.request(Ping(), to: .messageBus, within: .milliseconds(300))
          answers.append(nil)
        } catch {
          answers.append(try #require(error as? BusError).code)
        }
      }
      #expect(answers.contains(nil), "some requests fit below the limit")
      try await bus.limitFiles(to: "unlimited")
      let (resumed, _) = try await bus.recorded(JournalResumed.self)
      #expect(resumed.reason.contains("File too large"))
      _ = try await one.request(Ping(), to: .messageBus, within: LabTimeout.usual)
      await one.leave()
    }
  }
}

/// A broker with its own instance.
private struct LoneBus {
  let instance: InstanceFolder
  let child: LabChild
  let announcement: BusAnnouncement
  var errors: String { instance.path + "/bus.err" }

  /// - Parameter descriptors: the descriptor limit, not counting descriptors inherited from this process.
  static func run(descriptors: Int, _ body: (LoneBus) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lone-bus-\(UUID().uuidString)").path
    let instance = InstanceFolder(folder)
    try StandingKey.makeAll(for: try ClusterConfiguration(yaml: LiveFixture.configuration), in: instance)
    defer { try? LabRemains.retire(folder) }
    let executable = try LabCluster.findExecutables() + "/message-bus"
    let child = try await LabChild.start(
      "/bin/sh",
      [
        "-c", "n=$(ls /proc/self/fd | wc -l) && ulimit -n $((n + \(descriptors))) && exec \"$0\" --instance \"$1\"",
        executable, folder,
      ],
      output: folder + "/bus.out", errors: folder + "/bus.err")
    async let ending = child.ending()
    do {
      let announcement = try await BusAnnouncement.wait(in: instance, within: LabTimeout.usual)
      try await body(LoneBus(instance: instance, child: child, announcement: announcement))
    } catch {
      child.signal(SIGKILL)
      _ = await ending
      throw error
    }
    child.signal(SIGTERM)
    #expect(await ending == 0)
    #expect(try JournalVerifier(folder: URL(filePath: instance.journal)).verify().findings.isEmpty)
  }

  func connection(_ number: String) -> Connection {
    let key = try? StandingKey.load(.operator, in: instance)
    return .zeroMQ(
      address: .operator(number), endpoint: announcement.endpoint, serverKey: announcement.publicKey,
      keys: key?.pair ?? CurveKeyPair(publicKey: "", secretKey: ""), heartbeats: false)
  }

  func connect(_ number: String) async throws -> Connection {
    let connection = connection(number)
    _ = try await connection.start()
    return connection
  }

  /// Changes the broker's file size limit.
  func limitFiles(to length: String) async throws {
    let tool = try await LabChild.start(
      "/usr/bin/prlimit", ["--pid", "\(child.pid)", "--fsize=\(length):unlimited"],
      output: instance.path + "/prlimit.out", errors: instance.path + "/prlimit.err")
    try #require(await tool.ending() == 0)
  }

  /// Waits for the first record of a message type whose body matches.
  func recorded<T: Message>(
    _: T.Type, where isWanted: (T) -> Bool = { _ in true }
  ) async throws -> (body: T, sequence: UInt64) {
    var cursor = JournalReader(folder: URL(filePath: instance.journal)).cursor()
    let deadline = ContinuousClock.now + LabTimeout.usual
    var seen: [String] = []
    while ContinuousClock.now < deadline {
      while let envelope = try cursor.next() {
        guard envelope.header.kind == T.kind else { continue }
        let body = try BodyCoding.decode(T.self, from: envelope.body)
        if isWanted(body) { return (body, envelope.header.sequence) }
        seen.append("\(body)")
      }
      // Polls the journal's folder, which sends no notification.
      try await Task.sleep(for: .milliseconds(20))
    }
    let log = try String(contentsOfFile: errors, encoding: .utf8)
    throw LabError("no matching \(T.kind), only \(seen); the bus logged: \(log)")
  }
}
