// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages
import Testing
import WidgetLabTesting

/// The console beside a cluster of real processes.
@Suite(.live, .timeLimit(.live)) struct `The console` {
  /// A cluster, and a console that was started with its own command.
  private func withConsole(
    _ name: String, _ work: @escaping @Sendable (LabCluster, ConsoleProcessFixture) async throws -> Void
  ) async throws {
    try await LiveFixture.run(name) { fixture in
      let cluster = fixture.cluster
      let console = try await ConsoleProcessFixture.start(cluster)
      do {
        try await work(cluster, console)
      } catch {
        await console.end()
        throw error
      }
      await console.end()
    }
  }

  @Test func `each page has real content`() async throws {
    try await withConsole("pages") { cluster, console in
      let client = try await console.client()
      try await cluster.run("reload", LiveFixture.kind)
      try await cluster.journal.waitFor("a timeline") { $0.kind == TimelineStored.kind.name }
      func read(_ path: String) async throws -> [String: Any] {
        let answer = try await client.get("/api/\(path)")
        #expect(answer.status == 200, "\(path): \(answer.text)")
        return try answer.json()
      }
      let state = try await read("state")
      #expect(state["isBusConnected"] as? Bool == true && state["isHostConnected"] as? Bool == true)
      #expect(state["isReadOnly"] as? Bool == false)
      let processes = try await read("processes")["processes"] as? [[String: Any]] ?? []
      let ownProcess = processes.first { $0["role"] as? String == "extension" }
      #expect(
        ownProcess?["state"] as? String != nil && ownProcess?["cpu"] as? Double != nil
          && ownProcess?["memory"] as? Int != nil)
      #expect(processes.contains { $0["argument"] as? String == "host" && $0["state"] as? String == "running" })
      let lanes = try await read("history")["lanes"] as? [[String: Any]] ?? []
      #expect(lanes.contains { $0["name"] as? String == LiveFixture.widgetExtension.short })
      let screen = try await read("screen?location=homeScreen")
      let tile = try #require((screen["tiles"] as? [[String: Any]])?.first)
      #expect((tile["why"] as? String)?.hasSuffix(".") == true)
      let picture = try await client.get(try #require(tile["picture"] as? String))
      #expect(picture.text.contains("<svg"))
      let account = try #require((try await read("budget")["accounts"] as? [[String: Any]])?.first)
      #expect(account["kind"] as? String == LiveFixture.kind)
      #expect(try await read("budget")["entries"] as? [[String: Any]] != nil)
      #expect((try await read("gallery")["widgets"] as? [[String: Any]])?.first?["kind"] as? String == LiveFixture.kind)
      #expect(try await read("diagnoses")["diagnoses"] as? [[String: Any]] != nil)
      #expect(try await read("pushes")["isReachable"] as? Bool == false, "this cluster has no push server")
      let trace = try #require((try await read("traces")["traces"] as? [[String: Any]])?.last)
      let steps = try await read("traces/\(try #require(trace["id"] as? String))")
      #expect((steps["steps"] as? [[String: Any]])?.isEmpty == false)
      #expect((steps["mermaid"] as? String)?.hasPrefix("sequenceDiagram") == true)
      let reload = try #require((try await read("budget")["entries"] as? [[String: Any]])?.first?["reload"] as? Int)
      #expect(try await read("reloads/\(reload)")["placement"] as? Int == 1)
    }
  }

  @Test func `an action kills the extension, and its exit is a row`() async throws {
    try await withConsole("an action") { cluster, console in
      let client = try await console.client()
      try await cluster.run("reload", LiveFixture.kind)
      try await cluster.journal.waitFor("the extension") { $0.kind == ProcessReady.kind.name }
      let events = try await client.events("rows=1")
      let result = try await client.act(["kill", "extension"]).json()
      #expect(result["exit"] as? Int == 0, "\(result)")
      #expect((result["command"] as? String)?.hasPrefix("widgetlab kill extension --instance ") == true)
      let seen = try await events.until { $0.kinds.contains("process.exited") }
      #expect(seen.last?.sequences.isEmpty == false)
      _ = try await events.until { $0.topics.contains("history") }
      let lanes = try await client.get("/api/history").json()["lanes"] as? [[String: Any]] ?? []
      let lane = try #require(lanes.first { $0["name"] as? String == LiveFixture.widgetExtension.short })
      #expect((lane["runs"] as? [[String: Any]])?.first?["ending"] as? String == "SIGKILL")
      let failed = try await client.act(["kill", "extension"]).json()
      // It may have been launched again; then it is killed again.
      #expect([0, 1].contains(failed["exit"] as? Int))
    }
  }

  @Test func `commands that the page does not have are refused, and mistakes are those of the command line`()
    async throws
  {
    try await withConsole("refused commands") { _, console in
      let client = try await console.client()
      for arguments in [
        ["tail"], ["up"], ["console"], [], ["push", "log"], ["push", "--payload", "/etc/passwd"], ["help"],
        ["kill", "host", "--instance", "/tmp"], ["kill", "host", "--config=/tmp/x"], ["lock", "--nonsense"], ["kill"],
        ["kill", "--", "host"], ["apns", "reasons"],
      ] {
        let answer = try await client.act(arguments)
        #expect(answer.status == 400, "\(arguments): \(answer.text)")
      }
      let unknown = try await client.act(["kill", "nothing"]).json()
      #expect(unknown["exit"] as? Int == 64)
      #expect((unknown["errors"] as? [String])?.first == "widgetlab: 'nothing' is not a process of this cluster")
      let looked = try await client.act(["look", "lockScreen"]).json()
      #expect(looked["exit"] as? Int == 0 && looked["errors"] as? [String] == [])
    }
  }

  @Test func `rows go on without a gap after the death of the broker and of the console`() async throws {
    try await withConsole("deaths") { cluster, console in
      var client = try await console.client()
      var events = try await client.events("rows=1&after=0")
      var seen: [UInt64] = []
      func follow(_ events: ConsoleEvents, to kind: String) async throws {
        seen += try await events.until { $0.kinds.contains(kind) }.flatMap(\.sequences)
      }
      try await follow(events, to: "bus.started")
      try cluster.signal(SIGKILL, pid: try #require(cluster.pid(of: "message-bus")))
      // The same stream shows the next broker.
      try await follow(events, to: "bus.started")
      try await cluster.eventually("the console finds the bus again") {
        try await client.get("/api/state").json()["isHostConnected"] as? Bool == true
      }
      try await cluster.eventually("an action works again") {
        try await client.act(["look", "homeScreen"]).json()["exit"] as? Int == 0
      }
      let cookie = client.cookie
      await console.kill()
      let last = events.lastID
      try await cluster.run("look", "lockScreen")
      let again = try await ConsoleProcessFixture.start(cluster)
      #expect(again.link == console.link, "a restarted console keeps its port and its token")
      client = ConsoleClient(port: Int(client.port), token: client.token)
      client.cookie = cookie
      events = try await client.events("rows=1", after: last)
      try await follow(events, to: "screen.changed")
      await again.end()
      #expect(seen == Array(1...UInt64(seen.count)))
    }
  }

  @Test func `while the host is down the page shows the journal, and afterwards the device`() async throws {
    try await withConsole("host down") { cluster, console in
      let client = try await console.client()
      try await cluster.run("reload", LiveFixture.kind)
      try await cluster.journal.waitFor("a timeline") { $0.kind == TimelineStored.kind.name }
      let host = try #require(cluster.pid(of: "host"))
      try cluster.signal(SIGSTOP, pid: host)
      let screen = try await client.get("/api/screen").json()
      #expect(screen["source"] as? String == "journal")
      #expect((screen["tiles"] as? [[String: Any]])?.first?["kind"] as? String == LiveFixture.kind)
      #expect(try await client.get("/api/messages?limit=1").status == 200)
      let budget = try await client.get("/api/budget").json()
      #expect(budget["notice"] as? String != nil)
      try cluster.signal(SIGCONT, pid: host)
      try await cluster.eventually("the device answers again") {
        try await client.get("/api/screen").json()["source"] as? String == "device"
      }
    }
  }

  @Test func `a console of a copied journal is read-only`() async throws {
    try await LiveFixture.run("a copied journal") { fixture in
      let cluster = fixture.cluster
      try await cluster.run("reload", LiveFixture.kind)
      try await cluster.journal.waitFor("a timeline") { $0.kind == TimelineStored.kind.name }
      let console = try await ConsoleProcessFixture.start(cluster, ["--journal", cluster.folder + "/journal"])
      let client = try await console.client()
      let state = try await client.get("/api/state").json()
      #expect(state["isReadOnly"] as? Bool == true && state["isBusConnected"] as? Bool == false)
      #expect(try await client.act(["lock"]).status == 409)
      let screen = try await client.get("/api/screen").json()
      #expect(screen["source"] as? String == "journal")
      #expect((screen["tiles"] as? [[String: Any]])?.count == 1)
      #expect((try await client.get("/api/processes").json()["processes"] as? [Any])?.isEmpty == false)
      await console.end()
    }
  }

  @Test func `a console shows one file of a journal`() async throws {
    try await LiveFixture.run("one segment") { fixture in
      let cluster = fixture.cluster
      try await cluster.run("reload", LiveFixture.kind)
      try await cluster.journal.waitFor("a timeline") { $0.kind == TimelineStored.kind.name }
      let file = cluster.folder + "/copied segment"
      let names = try FileManager.default.contentsOfDirectory(atPath: cluster.folder + "/journal")
      let name = try #require(names.filter { $0.hasSuffix(".journal") }.min())
      try FileManager.default.copyItem(atPath: "\(cluster.folder)/journal/\(name)", toPath: file)
      let console = try await ConsoleProcessFixture.start(cluster, ["--journal", file])
      let client = try await console.client()
      let state = try await client.get("/api/state").json()
      #expect(state["isReadOnly"] as? Bool == true)
      #expect(state["commandSuffix"] as? String == " --journal '\(file)'")
      #expect((try await client.get("/api/screen").json()["tiles"] as? [[String: Any]])?.count == 1)
      await console.end()
      let listed = try await cluster.run("tail", "--journal", file, "--output", "json")
      #expect(listed.split(separator: "\n").first?.contains(#""sequence":1,"#) == true)
      await #expect(throws: LabError.self) {
        _ = try await ConsoleProcessFixture.start(cluster, ["--journal", cluster.folder + "/widgetlab.yaml"])
      }
    }
  }

  @Test func `up starts a console, and restarts it at the same link`() async throws {
    try await LiveFixture.run("up with a console") { fixture in
      let cluster = fixture.cluster
      let second = try await SecondCluster.start(cluster, ["--console"])
      let (link, pid) = (try #require(second.ready.console), try #require(second.ready.pids["console"]))
      let client = try await ConsoleClient.signedIn(link: link)
      #expect(try await client.get("/api/state").json()["isHostConnected"] as? Bool == true)
      try LabProcess(pid: pid).signal(SIGKILL)
      try await cluster.eventually("the restarted console accepts the session of the page") {
        (try? await client.get("/api/state").status) == 200 && !LabProcess(pid: pid).isAlive
      }
      let mode = try FileManager.default.attributesOfItem(atPath: second.folder + "/console.json")[.posixPermissions]
      #expect(mode as? Int == 0o600)
      #expect(try await second.end() == 0)
      await #expect(throws: LabError.self) { try await client.get("/api/health") }
    }
  }

  @Test func `a console shows the new cluster after its instance was removed and made again`() async throws {
    try await LiveFixture.run("made again") { fixture in
      let cluster = fixture.cluster
      let formerCluster = try await SecondCluster.start(cluster)
      let console = try await ConsoleProcessFixture.start(cluster, ["--instance", formerCluster.folder])
      let client = try await console.client()
      func state() async throws -> [String: Any] { try await client.get("/api/state").json() }
      #expect(try await client.act(["look", "lockScreen"]).json()["exit"] as? Int == 0)
      let events = try await client.events("rows=1&after=0")
      _ = try await events.until { $0.kinds.contains(ScreenChanged.kind.name) }
      #expect(try await formerCluster.end() == 0)
      try FileManager.default.removeItem(atPath: formerCluster.folder)
      let next = try await SecondCluster.start(cluster)
      while try await events.next() != nil {}
      #expect((try await state()["journal"] as? [String: Any])?["generation"] as? Int == 1)
      try await cluster.eventually("the console is connected to the new bus") {
        let state = try await state()
        return state["isBusConnected"] as? Bool == true && state["isHostConnected"] as? Bool == true
      }
      // The new bus has other keys and another port.
      #expect(try await client.act(["look", "lockScreen"]).json()["exit"] as? Int == 0)
      #expect(try await client.get("/api/screen").json()["source"] as? String == "device")
      let again = try await client.events("rows=1&after=0")
      let seen = try await again.until { $0.kinds.contains(ScreenChanged.kind.name) }
      #expect(seen.first?.sequences.first == 1)
      await console.end()
      #expect(try await next.end() == 0)
    }
  }

  @Test func `a signal ends the console while pages are open`() async throws {
    try await withConsole("signal") { _, console in
      let events = try await console.client().events("rows=1")
      #expect(await console.end(SIGTERM) == 0)
      while try await events.next() != nil {}
    }
  }
}

/// A second cluster, whose `widgetlab up` a test starts and ends itself.
private struct SecondCluster {
  struct Ready: Decodable {
    let console: String?
    let pids: [String: Int32]
  }

  let folder: String
  let ready: Ready
  private let up: LabProcess
  private let ending: Task<Int32, Never>

  static func start(_ cluster: LabCluster, _ arguments: [String] = []) async throws -> SecondCluster {
    let (folder, output) = (cluster.folder + "/second", "\(cluster.folder)/up-\(UUID().uuidString)")
    let child = try await LabChild.start(
      cluster.executables + "/widgetlab",
      [
        "up", "--json", "--instance", folder, "--config", cluster.folder + "/widgetlab.yaml", "--executables",
        cluster.executables, "--die-with-parent", "\(getpid())",
      ] + arguments, output: output + ".out", errors: output + ".err")
    let ending = Task { await child.ending() }
    let up = LabProcess(pid: child.pid)
    var ready: Ready?
    try await cluster.eventually("the second cluster is ready") {
      guard up.isAlive else {
        throw LabError((try? String(contentsOfFile: output + ".err", encoding: .utf8)) ?? "`widgetlab up` ended")
      }
      let line = (try? Data(contentsOf: URL(filePath: output + ".out"))) ?? Data()
      ready = try? JSONDecoder().decode(Ready.self, from: line)
      return ready != nil
    }
    return SecondCluster(folder: folder, ready: try #require(ready), up: up, ending: ending)
  }

  /// Ends the cluster, and returns the exit code of `up`.
  func end() async throws -> Int32 {
    try up.signal(SIGTERM)
    return await ending.value
  }
}

/// A `widgetlab console` that a test started.
struct ConsoleProcessFixture {
  private struct Announced: Decodable { let link: String }

  let link: String
  private let process: LabProcess
  private let ending: Task<Int32, Never>

  static func start(_ cluster: LabCluster, _ arguments: [String] = []) async throws -> ConsoleProcessFixture {
    let output = "\(cluster.folder)/console-\(UUID().uuidString)"
    let child = try await LabChild.start(
      cluster.executables + "/widgetlab",
      [
        "console", "--json", "--instance", cluster.folder, "--config", cluster.folder + "/widgetlab.yaml",
        "--die-with-parent", "\(getpid())",
      ] + arguments, output: output + ".out", errors: output + ".err")
    let ending = Task { await child.ending() }
    let process = LabProcess(pid: child.pid)
    var link: String?
    try await cluster.eventually("the console listens") {
      guard process.isAlive else {
        throw LabError((try? String(contentsOfFile: output + ".err", encoding: .utf8)) ?? "the console ended")
      }
      let line = (try? Data(contentsOf: URL(filePath: output + ".out"))) ?? Data()
      link = (try? JSONDecoder().decode(Announced.self, from: line))?.link
      return link != nil
    }
    return ConsoleProcessFixture(link: link ?? "", process: process, ending: ending)
  }

  /// A browser with a session.
  func client() async throws -> ConsoleClient { try await ConsoleClient.signedIn(link: link) }

  /// Ends the console with a signal, and returns its exit code.
  @discardableResult
  func end(_ signal: Int32 = SIGTERM) async -> Int32 {
    try? process.signal(signal)
    return await ending.value
  }

  func kill() async { await end(SIGKILL) }
}
