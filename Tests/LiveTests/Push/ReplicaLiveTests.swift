// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing
import WidgetLabTesting

/// Real push servers that share a PostgreSQL database, with a real bus; the test acts as the device.
@Suite(.live, .timeLimit(.live)) struct `Replicas of the push server` {
  /// The notifications that the device has received, with the push servers that sent them.
  private final class Receipt: Sendable {
    private let foundSenders = Mutex<[UUID: [Address]]>([:])
    func note(_ notification: PushedNotification, _ from: Received) {
      foundSenders.withLock { $0[notification.uniqueID, default: []].append(from.source) }
    }
    var ids: Set<UUID> { foundSenders.withLock { Set($0.keys) } }
    func senders(of id: UUID) -> [Address] { foundSenders.withLock { $0[id] ?? [] } }
  }

  /// - Parameter disk: the MiB of the database's own file system.
  private func run(
    _ name: String, replicas: [String] = ["1", "2", "3"], disk: Int? = nil,
    _ body: @Sendable (LonePushServer, PostgresCluster) async throws -> Void
  ) async throws {
    let server = try await PostgresCluster(disk: disk)
    do {
      try await server.start()
      try await LonePushServer.run(
        name, settings: ["database: \"\(server.url())\"", "replicas: \(replicas.count)"], replicas: replicas
      ) { try await body($0, server) }
    } catch {
      await server.remove()
      throw error
    }
    await server.remove()
  }

  /// The device, which reports its reach whenever another push server is responsible for it.
  private func device(_ lone: LonePushServer, _ receipt: Receipt) async throws -> Connection {
    let device = try await lone.device { notification, from in receipt.note(notification, from) }
    device.onPresence { [weak device] presence in
      guard presence.address == .pushServer, presence.isPresent else { return }
      device?.submit(
        DeviceReach(isOnline: true, isAwake: true), to: .pushServer, id: UUID(), context: .none
      ) { _ in }
    }
    try await device.deliver(DeviceReach(isOnline: true, isAwake: true), to: .pushServer)
    return device
  }

  /// Sends pushes to a replica while they are asked for, and returns the ids of those that were answered with 200.
  private func pushes(_ count: Int, to replica: Address, _ tool: Connection) async -> [UUID] {
    await withTaskGroup(of: UUID?.self) { group in
      for _ in 0..<count {
        group.addTask {
          // A replica that is killed does not reply. There is no guarantee for these.
          let reply = try? await tool.request(LonePushServer.push, to: replica, within: LabTimeout.usual)
          return reply?.status == 200 ? reply?.uniqueID : nil
        }
      }
      return await group.compactMap(\.self).reduce(into: []) { $0.append($1) }
    }
  }

  /// Waits until each of these has its end in the delivery log.
  private func ends(_ ids: [UUID], _ tool: Connection) async throws -> [UUID: PushStep.Name] {
    let final: Set<PushStep.Name> = [.delivered, .superseded, .collapsed, .expired, .notStored, .tokenUnregistered]
    var foundSteps: [UUID: PushStep.Name] = [:]
    let deadline = ContinuousClock.now + LabTimeout.usual
    while foundSteps.count < ids.count, ContinuousClock.now < deadline {
      for id in ids where foundSteps[id] == nil {
        // A replica that has not reached the database again fails.
        let page = try? await tool.request(
          ListPushes(uniqueID: id), to: .pushServer, within: LabTimeout.usual, whenUnreachable: .wait)
        foundSteps[id] = page?.pushes.first?.steps.last { final.contains($0.name) }?.name
      }
    }
    return foundSteps
  }

  @Test(.withPostgres)
  func `each replica accepts pushes, the owner of the device delivers them, and a kill loses none`() async throws {
    try await run("a kill of the owner") { lone, server in
      let (tool, receipt) = (try await lone.operator(), Receipt())
      let device = try await device(lone, receipt)
      _ = try await lone.token(device)
      var ids: [UUID] = []
      for replica in ["1", "2", "3"] { ids += await pushes(20, to: .pushServer(replica), tool) }
      #expect(ids.count == 60)
      let first = try await ends(ids, tool)
      #expect(Set(first.values).isSubset(of: [.delivered, .superseded]) && first.count == 60)
      let received = try #require(receipt.ids.first)
      let owner = try #require(receipt.senders(of: received).first?.replica)
      let others = ["1", "2", "3"].filter { $0 != owner }

      async let late = pushes(200, to: .pushServer(others[0]), tool)
      async let cut = pushes(200, to: .pushServer(owner), tool)
      try await lone.kill(owner)
      let accepted = await late + cut
      let second = try await ends(accepted, tool)
      let open = accepted.filter { second[$0] == nil }
      #expect(open.isEmpty, "answered with 200, and without an end: \(open)")
      let delivered = second.filter { $0.value == .delivered }.keys
      #expect(Set(delivered).isSubset(of: receipt.ids))
      #expect(try await server.query("SELECT epoch > 1 FROM route") == ["t"])
      _ = try await lone.start(owner)
      for connection in [device, tool] { await connection.leave() }
      let folder = lone.instance.path
      let laws = try await LabCluster.tool(
        ["check", "--instance", folder], executables: lone.executables, in: folder)
      #expect(laws.status != 1, "\(laws.output)")
    }
  }

  @Test(.withPostgres) func `pushes that are accepted while PostgreSQL restarts are answered, and none is lost`()
    async throws
  {
    try await run("a restart of PostgreSQL") { lone, server in
      let (tool, receipt) = (try await lone.operator(), Receipt())
      let device = try await device(lone, receipt)
      _ = try await lone.token(device)
      let before = await pushes(20, to: .pushServer("1"), tool)
      #expect(before.count == 20)
      async let during = pushes(200, to: .pushServer("2"), tool)
      await server.stopImmediately()
      // The operator's request fails when the token cannot be read.
      let refused = try? await tool.request(LonePushServer.push, to: .pushServer("3"), within: LabTimeout.usual)
      #expect(refused.map { [500, 503].contains($0.status) } ?? true)
      try await server.start()
      let accepted = await before + during
      let later = try await pushUntilAccepted(tool)
      let foundSteps = try await ends(accepted + [later], tool)
      let open = (accepted + [later]).filter { foundSteps[$0] == nil }
      #expect(open.isEmpty, "answered with 200, and without an end: \(open)")
      for connection in [device, tool] { await connection.leave() }
    }
  }

  @Test(.enabled(if: PostgresCluster.canMount, "needs PostgreSQL, and root to mount a file system"))
  func `pushes are answered with 503 while PostgreSQL has no disk space, and none with 200 is lost`() async throws {
    try await run("a full disk of PostgreSQL", replicas: ["1", "2"], disk: 80) { lone, server in
      let (tool, receipt) = (try await lone.operator(), Receipt())
      let device = try await device(lone, receipt)
      _ = try await lone.token(device)
      var accepted = await pushes(20, to: .pushServer("1"), tool)
      #expect(accepted.count == 20)
      await fill(server)
      // Pages that exist have space for some more rows.
      var refusal: SendPush.Reply?
      for _ in 0..<5_000 where refusal == nil {
        let reply = try await tool.request(LonePushServer.push, to: .pushServer("2"), within: LabTimeout.usual)
        if reply.status == 200 { accepted.append(reply.uniqueID) } else { refusal = reply }
      }
      #expect(refusal?.status == 503)
      #expect(refusal?.reason == "ServiceUnavailable")
      try await server.query("DROP TABLE filler")
      let later = try await pushUntilAccepted(tool, at: "2")
      let foundSteps = try await ends(accepted + [later], tool)
      let open = (accepted + [later]).filter { foundSteps[$0] == nil }
      #expect(open.isEmpty, "answered with 200, and without an end: \(open)")
      let log = try String(contentsOfFile: lone.instance.path + "/push-server-2.err", encoding: .utf8)
      #expect(log.contains("No space left on device"), "\(log)")
      for connection in [device, tool] { await connection.leave() }
    }
  }

  /// Writes rows until the database's file system is full, in ever smaller steps.
  private func fill(_ server: PostgresCluster) async {
    _ = try? await server.query("CREATE TABLE filler (text TEXT)")
    for count in [10_000, 1_000, 100, 10, 1] {
      while !Task.isCancelled,
        (try? await server.query("INSERT INTO filler SELECT repeat('x', 1900) FROM generate_series(1, \(count))"))
          != nil
      {}
    }
  }

  private func pushUntilAccepted(_ tool: Connection, at replica: String = "3") async throws -> UUID {
    let deadline = ContinuousClock.now + LabTimeout.usual
    while ContinuousClock.now < deadline {
      let reply = try? await tool.request(
        LonePushServer.push, to: .pushServer(replica), within: LabTimeout.usual, whenUnreachable: .wait)
      if let reply, reply.status == 200 { return reply.uniqueID }
      try await Task.sleep(for: .milliseconds(20))  // polls for the database
    }
    throw LabError("no push was accepted after the failure of PostgreSQL")
  }

  @Test(.withPostgres) func `the push servers of two clusters do not share a database`() async throws {
    try await PostgresCluster.during { server in
      try await server.start()
      func configuration(_ schema: String) -> String {
        """
        device: {name: phone}
        pushServer: {database: "\(server.url(schema: schema))", replicas: 2}
        """
      }
      try await server.query("CREATE SCHEMA other")
      try await LabCluster.with("first", configuration: configuration("public")) { first in
        let error = await #expect(throws: LabError.self) {
          try await LabCluster.with("second", configuration: configuration("public")) { _ in }
        }
        let text = error?.description ?? ""
        #expect(
          text.contains("another cluster uses this database") && text.contains(first.folder.suffix(40)), "\(text)")
        // Another schema is another database, and a replica that returns is of the same cluster.
        try await LabCluster.with("third", configuration: configuration("other")) { _ in }
        let formerPID = first.pid(of: "push-server-1")
        let refusal = try await first.attempt(["kill", "push-server"])
        #expect(refusal.status == 64 && refusal.errors.contains("push-server/1, push-server/2"), "\(refusal)")
        try await first.run("kill", "push-server/1")
        try await first.eventually("the replica is back") {
          guard first.pid(of: "push-server-1") != formerPID else { return false }
          return try await first.attempt(["ping", "push-server/1"]).status == 0
        }
      }
    }
  }

  @Test(.withPostgres)
  func `a provider reaches any replica over HTTP/2, and a replica that ends hands its devices over`() async throws {
    try await run("a replica that ends", replicas: ["a", "b"]) { lone, server in
      let (tool, receipt) = (try await lone.operator(), Receipt())
      let device = try await device(lone, receipt)
      let token = try await lone.token(device)
      for name in ["a", "b"] {
        let announcement = try await lone.announced(name)
        let answer = try await lone.curl(announcement, token: token)
        #expect(answer.output.contains("HTTP 200"), "\(answer.output) \(answer.errors)")
      }
      let owner = try #require(
        try await server.query("SELECT replica FROM route").first?.split(separator: "#").first?.split(separator: "/")
          .last)
      let other = owner == "a" ? "b" : "a"
      try await lone.stop(String(owner))
      let last = try await lone.curl(try await lone.announced(other), token: token)
      #expect(last.output.contains("HTTP 200"), "\(last.output) \(last.errors)")
      let id = try #require(
        try await tool.request(ListPushes(limit: 1), to: .pushServer, whenUnreachable: .wait).pushes.first?.uniqueID)
      let record = try await lone.record(id, at: .delivered, tool)
      #expect(record.status == 200)
      #expect(try await server.query("SELECT count(*) FROM replicas") == ["1"])
      for connection in [device, tool] { await connection.leave() }
    }
  }
}
