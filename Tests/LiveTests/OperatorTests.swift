// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The operator's tool over real processes.
@Suite(.live, .timeLimit(.live)) struct `The operator's commands` {
  @Test(arguments: ["extension", "host", "bus", "agent", "app", "none"])
  func `the demo completes with any process killed`(victim: String) async throws {
    let executables = try LabCluster.findExecutables()
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-demo-test-\(UUID().uuidString)")
      .path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? LabRemains.retire(folder) }
    let answer = try await LabCluster.tool(
      ["demo", "--kill", victim, "--timeout", "300"], executables: executables, in: folder)
    #expect(answer.status == 0, "\(answer.output)\n\(answer.errors)")
    #expect(answer.output.contains("the app received none of it"))
  }

  @Test(arguments: [["network", "off"], ["clock", "hold"]])
  func `the demo names at once what prevents a download in a running cluster`(words: [String]) async throws {
    try await LiveFixture.run("demo prevented") { fixture in
      #expect(try await fixture.cluster.attempt(words).status == 0)
      let answer = try await fixture.cluster.attempt(["demo", "--attach", "--widget", LiveFixture.kind])
      #expect(answer.status == 1)
      #expect(answer.errors.contains(words == ["network", "off"] ? "has no network" : "clock is held"), "\(answer)")
      // It asked for nothing before.
      #expect(try await fixture.journal.all().allSatisfy { $0.kind != "timeline.reload" })
    }
  }

  @Test func `the demo says at its end what the downloads wait for`() async throws {
    try await LiveFixture.run("demo waits", settings: ["widgetTransfersAreDiscretionary: true"]) { fixture in
      try await fixture.cluster.run("network", "cellular")
      // The time of the demo is not that of a launch.
      try await fixture.cluster.run("reload", LiveFixture.kind)
      try await fixture.progress(of: LiveFixture.widgetExtension, .waiting)
      let answer = try await fixture.cluster.attempt([
        "demo", "--attach", "--kill", "none", "--widget", LiveFixture.kind, "--timeout", "5",
      ])
      #expect(answer.status == 1 && answer.errors.contains("\(LiveFixture.session) of "), "\(answer)")
      #expect(answer.errors.contains("waits for"), "\(answer)")
    }
  }

  @Test func `no process survives a killed up command`() async throws {
    try await LiveFixture.run("up killed") { fixture in
      try await fixture.begin()
      let processes = LabProcess.descendants(of: fixture.cluster.up.pid)
      #expect(processes.count == 6, "bus, agent, host, provider, extension and app")
      try fixture.cluster.up.signal(SIGKILL)
      for process in [fixture.cluster.up] + processes { try await process.ended() }
      #expect(LabProcess.all(naming: fixture.cluster.folder).isEmpty)
    }
  }

  @Test func `up leaves no process and no state file after Ctrl-C`() async throws {
    try await LiveFixture.run("Ctrl-C") { fixture in
      try await fixture.begin()
      let processes = LabProcess.descendants(of: fixture.cluster.up.pid)
      #expect(await fixture.cluster.stop() == 0)
      for process in processes { try await process.ended() }
      for file in ["bus/bus.json", "provider.json", "processes.json", "up.lock"] {
        #expect(!FileManager.default.fileExists(atPath: "\(fixture.cluster.folder)/\(file)"), "\(file)")
      }
    }
  }

  @Test func `a second up on an instance reports the pid of the first`() async throws {
    try await LiveFixture.run("second up") { fixture in
      let answer = try await fixture.cluster.attempt([
        "up", "--config", fixture.cluster.ready.configuration, "--executables", fixture.cluster.executables,
      ])
      #expect(answer.status == 75)
      #expect(answer.errors.contains("\(fixture.cluster.up.pid)"))
    }
  }

  @Test func `up refuses an invalid budget file with its line before it starts anything`() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await LiveFixture.run("bad budget") { fixture in
      let ownConfiguration = try String(contentsOfFile: fixture.cluster.ready.configuration, encoding: .utf8)
      let settings = ownConfiguration.replacing("settings:\n", with: "settings:\n  budget: budget.yaml\n")
      #expect(settings != ownConfiguration)
      try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/widgetlab.yaml"))
      try Data("perDay: 55\nburst: 0\n".utf8).write(to: URL(fileURLWithPath: folder + "/budget.yaml"))
      let answer = try await LabCluster.tool(
        [
          "up", "--config", folder + "/widgetlab.yaml", "--instance", folder + "/instance", "--executables",
          fixture.cluster.executables,
        ], executables: fixture.cluster.executables, in: folder)
      #expect(answer.status == 78)
      #expect(answer.errors.contains("budget.yaml:2: burst: must be at least 1"), "\(answer.errors)")
      #expect(!FileManager.default.fileExists(atPath: folder + "/instance/processes.json"))
    }
  }

  @Test func `down stops an instance, and a second down finds nothing to stop`() async throws {
    try await LiveFixture.run("down") { fixture in
      try await fixture.cluster.run("down")
      try await fixture.cluster.up.ended()
      let again = try await fixture.cluster.run("down")
      #expect(again.contains("no cluster is running"))
      let ping = try await fixture.cluster.attempt(["ping", "host"])
      #expect(ping.status == 69)
    }
  }

  @Test func `up restarts a killed process, and ps reports how the previous instance ended`() async throws {
    try await LiveFixture.run("restart") { fixture in
      let old = try #require(fixture.cluster.pid(of: "host"))
      try await fixture.kill("host")
      try await fixture.cluster.eventually("the host runs again") {
        guard let pid = fixture.cluster.pid(of: "host"), pid != old else { return false }
        return try await fixture.cluster.attempt(["ping", "host"]).status == 0
      }
      let ps = try await fixture.cluster.run("ps", "--json")
      struct Report: Decodable {
        struct Row: Decodable {
          let process: String
          let generation: UInt32?
          let state: String
          let lastEnding: String?
        }
        let processes: [Row]
      }
      let host = try #require(
        try JSONDecoder().decode(Report.self, from: Data(ps.utf8)).processes.first { $0.process == "host" })
      #expect(host.lastEnding == "SIGKILL")
      #expect(host.generation == 2)
      #expect(host.state == "running")
    }
  }

  @Test func `a stopped process does not reply to a ping until it continues`() async throws {
    try await LiveFixture.run("stopped") { fixture in
      try await fixture.cluster.run("kill", "host", "--signal", "STOP")
      #expect(try await fixture.cluster.attempt(["ping", "host", "--timeout", "5"]).status == 1)
      let ps = try await fixture.cluster.run("ps")
      #expect(ps.contains("stopped"))
      try await fixture.cluster.run("kill", "host", "--signal", "CONT")
      try await fixture.cluster.eventually("the host replies again") {
        try await fixture.cluster.attempt(["ping", "host"]).status == 0
      }
    }
  }

  @Test func `tail continues across kills of the bus without a gap or a repetition`() async throws {
    try await LiveFixture.run("tail") { fixture in
      let output = fixture.cluster.folder + "/tail.out"
      let tail = try await LabChild.start(
        fixture.cluster.executables + "/widgetlab",
        ["tail", "--follow", "--output", "json", "--instance", fixture.cluster.folder], output: output,
        errors: fixture.cluster.folder + "/tail.err")
      let verdict = await Task { try await expectNoGap(fixture, output) }.result
      tail.signal(SIGKILL)
      #expect(await tail.ending() == 128 + SIGKILL)
      try verdict.get()
    }
  }

  /// Kills the bus three times, and checks the sequence numbers that the tail printed.
  private func expectNoGap(_ fixture: LiveFixture, _ output: String) async throws {
    for generation in UInt32(2)...4 {
      try await fixture.cluster.run("reload", LiveFixture.kind)
      try await fixture.kill("bus")
      try await fixture.journal.waitFor("generation \(generation) of the broker") {
        $0.reading(BusStarted.self)?.generation == generation
      }
      try await fixture.cluster.eventually("the host is back on the bus") {
        try await fixture.cluster.attempt(["ping", "host"]).status == 0
      }
    }
    let last = try #require(try await fixture.journal.all().last?.sequence)
    struct Line: Decodable { let sequence: UInt64 }
    var seen: [UInt64] = []
    try await fixture.cluster.eventually("the tail has printed number \(last)") {
      let text = try String(contentsOfFile: output, encoding: .utf8)
      let whole = text.prefix(upTo: text.lastIndex(of: "\n") ?? text.startIndex)
      seen = try whole.split(separator: "\n").map {
        try JSONDecoder().decode(Line.self, from: Data($0.utf8)).sequence
      }
      return seen.last ?? 0 >= last
    }
    #expect(seen == Array(1...UInt64(seen.count)))
  }
}
