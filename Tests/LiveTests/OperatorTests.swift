import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// The operator's tool over real processes.
@Suite(.live, .timeLimit(.live)) struct `the operator's tool` {
  @Test(arguments: ["extension", "host", "bus", "agent", "app", "none"])
  func `the demo sees every step`(victim: String) async throws {
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

  @Test func `nothing survives a killed up`() async throws {
    try await Trial.run("up killed") { trial in
      try await trial.begin()
      let processes = LabProcess.descendants(of: trial.cluster.up.pid)
      #expect(processes.count == 6, "bus, agent, host, provider, extension and app")
      try trial.cluster.up.signal(SIGKILL)
      for process in processes { try await process.ended() }
      #expect(LabProcess.all(naming: trial.cluster.folder).isEmpty)
    }
  }

  @Test func `nothing is left behind by Ctrl-C`() async throws {
    try await Trial.run("Ctrl-C") { trial in
      try await trial.begin()
      let processes = LabProcess.descendants(of: trial.cluster.up.pid)
      #expect(await trial.cluster.stop() == 0)
      for process in processes { try await process.ended() }
      for file in ["bus/bus.json", "provider.json", "processes.json", "up.lock"] {
        #expect(!FileManager.default.fileExists(atPath: "\(trial.cluster.folder)/\(file)"), "\(file)")
      }
    }
  }

  @Test func `a second up on an instance is told who holds it`() async throws {
    try await Trial.run("second up") { trial in
      let answer = try await trial.cluster.attempt([
        "up", "--config", trial.cluster.ready.configuration, "--executables", trial.cluster.executables,
      ])
      #expect(answer.status == 75)
      #expect(answer.errors.contains("\(trial.cluster.up.pid)"))
    }
  }

  @Test func `a budget's file that says what it may not is named before anything is started`() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await Trial.run("bad budget") { trial in
      let own = try String(contentsOfFile: trial.cluster.ready.configuration, encoding: .utf8)
      let settings = own.replacing("settings:\n", with: "settings:\n  budget: budget.yaml\n")
      #expect(settings != own)
      try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/widgetlab.yaml"))
      try Data("perDay: 55\nburst: 0\n".utf8).write(to: URL(fileURLWithPath: folder + "/budget.yaml"))
      let answer = try await LabCluster.tool(
        [
          "up", "--config", folder + "/widgetlab.yaml", "--instance", folder + "/instance", "--executables",
          trial.cluster.executables,
        ], executables: trial.cluster.executables, in: folder)
      #expect(answer.status == 78)
      #expect(answer.errors.contains("budget.yaml:2: burst: is at least 1"), "\(answer.errors)")
      #expect(!FileManager.default.fileExists(atPath: folder + "/instance/processes.json"))
    }
  }

  @Test func `down stops an instance, and again there is nothing to stop`() async throws {
    try await Trial.run("down") { trial in
      try await trial.cluster.run("down")
      try await trial.cluster.up.ended()
      let again = try await trial.cluster.run("down")
      #expect(again.contains("nothing is up"))
      let ping = try await trial.cluster.attempt(["ping", "host"])
      #expect(ping.status == 69)
    }
  }

  @Test func `a dead standing process is started again, and ps says how it ended`() async throws {
    try await Trial.run("restart") { trial in
      let old = try #require(trial.cluster.pid(of: "host"))
      try await trial.kill("host")
      try await trial.cluster.eventually("the host lives again") {
        guard let pid = trial.cluster.pid(of: "host"), pid != old else { return false }
        return try await trial.cluster.attempt(["ping", "host"]).status == 0
      }
      let ps = try await trial.cluster.run("ps", "--json")
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

  @Test func `a stopped process does not answer, and does again when it goes on`() async throws {
    try await Trial.run("stopped") { trial in
      try await trial.cluster.run("kill", "host", "--signal", "STOP")
      #expect(try await trial.cluster.attempt(["ping", "host", "--timeout", "5"]).status == 1)
      let ps = try await trial.cluster.run("ps")
      #expect(ps.contains("stopped"))
      try await trial.cluster.run("kill", "host", "--signal", "CONT")
      try await trial.cluster.eventually("the host answers again") {
        try await trial.cluster.attempt(["ping", "host"]).status == 0
      }
    }
  }

  @Test func `a tail goes on over the death of the bus without a gap or a repetition`() async throws {
    try await Trial.run("tail") { trial in
      let output = trial.cluster.folder + "/tail.out"
      let tail = try await LabChild.start(
        trial.cluster.executables + "/widgetlab",
        ["tail", "--follow", "--output", "json", "--instance", trial.cluster.folder], output: output,
        errors: trial.cluster.folder + "/tail.err")
      let verdict = await Task { try await expectNoGap(trial, output) }.result
      kill(tail.pid, SIGKILL)
      #expect(await tail.ending() == 128 + SIGKILL)
      try verdict.get()
    }
  }

  /// Kills the bus three times, and looks at the numbers that the tail printed.
  private func expectNoGap(_ trial: Trial, _ output: String) async throws {
    for life in UInt32(2)...4 {
      try await trial.cluster.run("reload", Trial.kind)
      try await trial.kill("bus")
      try await trial.journal.waitFor("life \(life) of the broker") {
        $0.reading(BusStarted.self)?.generation == life
      }
      try await trial.cluster.eventually("the host is back on the bus") {
        try await trial.cluster.attempt(["ping", "host"]).status == 0
      }
    }
    let last = try #require(try await trial.journal.all().last?.sequence)
    struct Line: Decodable { let sequence: UInt64 }
    var seen: [UInt64] = []
    try await trial.cluster.eventually("the tail has printed number \(last)") {
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
