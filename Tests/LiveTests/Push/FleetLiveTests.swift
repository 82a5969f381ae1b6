// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import Messages
import Testing
import WidgetLabTesting

/// A fleet of light devices with a real bus, push server and third-party provider.
@Suite(.live, .timeLimit(.live)) struct `Fleets` {
  @Test func `a push of each of the eleven types reaches a light device`() async throws {
    try await FleetFixture.run(5, profile: FleetFixture.still) { fleet, ready in
      #expect(ready.devices == 5)
      #expect(ready.tokens == 50)
      // The provider repeats requests whose connection has ended.
      let first = try await fleet.push(rounds: 2).filter { $0.key != "retried" }
      #expect(first.keys.allSatisfy { $0.hasSuffix(" 200") }, "\(first)")
      // Each start has begun an activity, whose token is registered in turn.
      try await fleet.eventually("ten activities") { $0.activities == 10 && $0.tokens.registered == 60 }
      let second = try await fleet.push(rounds: 3) { $0.hasPrefix("liveactivity-") && $0 != "liveactivity-start" }
        .filter { $0.key != "retried" }
      #expect(second == ["liveactivity 200": 30], "\(second)")
      let (report, exit) = try await fleet.report()
      #expect(exit == 0, "\(report.verdicts)")
      for type in PushType.allCases {
        let figures = try #require(report[type.rawValue], "\(type)")
        #expect(figures.accepted > 0 && figures.delivered > 0, "\(figures)")
      }
      #expect(report["liveactivity"]?.outcomes == ["started": 10, "updated": 20, "ended": 10])
      #expect(report.accepted == first.values.reduce(0, +) + 30)
      // The tokens of ended activities are unregistered.
      try await fleet.eventually("the tokens are ended") { $0.tokens.all == 50 && $0.tokens.ending == 0 }
      let late = try await fleet.push { $0.hasPrefix("liveactivity-") && $0 != "liveactivity-start" }.filter {
        $0.key != "retried"
      }
      #expect(late == ["liveactivity Unregistered": 10], "\(late)")
      let laws = try await fleet.tool("check")
      #expect(laws.status == 0, "\(laws.output)")
    }
  }

  @Test func `what is pushed to devices without a network is stored, superseded, and delivered when they return`()
    async throws
  {
    try await FleetFixture.run(50, profile: FleetFixture.still) { fleet, _ in
      #expect(try await fleet.tool("fleet", "network", "off").status == 0)
      let answers = try await fleet.push(rounds: 3) { $0 == "voip" || $0 == "widgets" }.filter { $0.key != "retried" }
      #expect(answers == ["voip 200": 150, "widgets 200": 150], "\(answers)")
      let before = try await fleet.tool("fleet", "report", "--json")
      #expect(before.status == 2, "100 are open")
      #expect(try await fleet.tool("fleet", "network", "on").status == 0)
      let (report, exit) = try await fleet.report()
      #expect(exit == 0, "\(report.verdicts)")
      #expect(report["voip"]?.ends == ["delivered": 50, "superseded": 100])
      #expect(report["widgets"]?.outcomes == ["reloading": 50])
    }
  }

  @Test func `a push to a fleet's token has the topic of the token's app, and kill finds the only fleet`() async throws
  {
    try await FleetFixture.run(1, profile: FleetFixture.still) { fleet, _ in
      let tokens = try String(contentsOfFile: fleet.folder + "/tokens.jsonl", encoding: .utf8)
      let line = try #require(tokens.split(separator: "\n").first { $0.contains("\"app\"") })
      let token = try #require(line.firstMatch(of: /"token":"([0-9a-f]+)"/)).1
      let answer = try await fleet.tool("push", "--type", "alert", "--token", String(token))
      #expect(answer.status == 0, "\(answer)")
      #expect(try await fleet.tool("suspend", "fleet").status == 0)
      #expect(try await fleet.tool("resume", "fleet").status == 0)
      let pid = try fleet.pid(of: "fleet-load")
      #expect(try await fleet.tool("kill", "fleet").status == 0)
      try await fleet.eventually("the fleet is back") { _ in (try? fleet.pid(of: "fleet-load")) != pid }
    }
  }

  @Test func `no push is lost or delivered twice when fleet and push server are killed`() async throws {
    try await FleetFixture.run(40, profile: FleetFixture.still) { fleet, _ in
      async let answers = fleet.push(rounds: 5) { $0 == "app" || $0 == "voip" || $0 == "mdm" }
      for name in ["fleet-load", "push-server", "fleet-load", "push-server"] {
        try await fleet.deliveriesGoOn()
        try await fleet.kill(name)
      }
      let sentAnswers = try await answers
      let (report, exit) = try await fleet.report()
      #expect(exit == 0, "\(report.verdicts)")
      let accepted = sentAnswers.filter { $0.key.hasSuffix(" 200") }.values.reduce(0, +)
      // A push whose answer was lost with a connection is accepted, and sent again.
      #expect(report.accepted >= accepted)
      #expect(report.accepted <= accepted + (sentAnswers["retried"] ?? 0))
      let laws = try await fleet.tool("check")
      #expect(laws.status != 1, "\(laws.output)")
    }
  }

  @Test func `a process that is killed again and again after the fleet was ready does not end the fleet`() async throws
  {
    try await FleetFixture.run(1, profile: FleetFixture.still) { fleet, _ in
      for _ in 1...4 { try await fleet.kill("fleet-load") }
      _ = try await fleet.push { $0 == "voip" }
      // The supervisor looks at its processes before it notes this.
      try await fleet.eventually("the delivery is noted") { _ in
        (try? String(contentsOfFile: fleet.folder + "/up.err", encoding: .utf8).contains("delivered 1,")) == true
      }
    }
  }

  @Test func `a day with rotations and removals ends with the same tokens on both sides`() async throws {
    let profile = """
      speed: 20000
      rotationsPerYear: 300
      uninstallsPerYear: 300
      reinstallDays: 0.2
      liveActivities: {perDay: 20}

      """
    try await FleetFixture.run(100, profile: profile) { fleet, _ in
      try await fleet.eventually("ten days") { $0.events > 50_000 }
      let answers = try await fleet.push()
      #expect(answers.keys.contains { $0.hasSuffix(" Unregistered") }, "\(answers)")
      #expect(answers.keys.contains { $0.hasSuffix(" 200") }, "\(answers)")
      let state = try await fleet.state()
      #expect(state.liveActivities["ended-by-system", default: 0] > 0, "\(state.liveActivities)")
    }
  }

  @Test func `a backend that answers with 500 and slowly gets all tokens in the end`() async throws {
    let backend = try await FleetBackend.start(failures: 30, delay: 0.02)
    try await FleetFixture.run(
      20, profile: FleetFixture.still,
      prepare: { _ in "registration: {url: 'http://127.0.0.1:\(backend.port)/{device}/{use}', concurrency: 8}\n" }
    ) { fleet, _ in
      let registration = try await fleet.state().registration
      #expect(registration.succeeded == 200)
      #expect(registration.retried["status 500"] == 30)
      #expect(try backend.lines().count == 200)
    }
    await backend.stop()
  }

  @Test func `the day of a new fleet begins when its tokens are registered`() async throws {
    // 400 tokens a second are rotated, and 80 are registered.
    let backend = try await FleetBackend.start(failures: 0, delay: 0.1)
    let day = FleetFixture.still.replacing("rotationsPerYear: 0", with: "rotationsPerYear: 3000") + "speed: 20000\n"
    try await FleetFixture.run(
      20, profile: day,
      prepare: { _ in "registration: {url: 'http://127.0.0.1:\(backend.port)/{device}/{use}', concurrency: 8}\n" }
    ) { fleet, _ in
      try await fleet.eventually("tokens are rotated") { $0.registration.succeeded > 200 }
    }
    await backend.stop()
  }

  @Test func `a second fleet of the same name is refused, and one with another name joins`() async throws {
    try await FleetFixture.run(10, profile: FleetFixture.still) { fleet, _ in
      let same = try await fleet.tool(
        "fleet", "up", "--devices", "10", "--seed", "7", "--config", fleet.folder + "/widgetlab.yaml")
      #expect(same.status == 70)
      #expect(same.errors.contains("is run by another process"), "\(same.errors)")
      let other = try await LabChild.start(
        fleet.executables + "/widgetlab",
        [
          "fleet", "up", "--devices", "10", "--seed", "7", "--name", "other", "--json", "--instance", fleet.folder,
          "--die-with-parent", "\(getpid())",
        ],
        output: fleet.folder + "/other.out", errors: fleet.folder + "/other.err")
      // `status` without a name fails from now on, so that the fixture cannot read a state.
      let deadline = ContinuousClock.now + LabTimeout.usual
      while (try? String(contentsOfFile: fleet.folder + "/other.out", encoding: .utf8).contains("\n")) != true {
        try #require(ContinuousClock.now < deadline, "the other one is not ready")
        try await Task.sleep(for: .milliseconds(50))  // polls its output
      }
      #expect(try await fleet.tool("fleet", "status").status == 64, "there are two")
      #expect(try await fleet.tool("fleet", "status", "--name", "other").output.contains("other: 10 devices"))
      try LabProcess(pid: other.pid).signal(SIGTERM)
      #expect(await other.ending() == 0)
    }
  }

  @Test func `a wrong profile and another seed are refused with what is wrong`() async throws {
    try await FleetFixture.run(10, profile: FleetFixture.still) { fleet, _ in
      try "speed: fast\n".write(toFile: fleet.folder + "/wrong.yaml", atomically: true, encoding: .utf8)
      let wrong = try await fleet.tool("fleet", "up", "--devices", "10", "--profile", fleet.folder + "/wrong.yaml")
      #expect(wrong.status == 78)
      #expect(wrong.errors.contains("wrong.yaml:1: speed: expected a number"), "\(wrong.errors)")
    }
  }
}

/// A backend of scripts/push.d.
private struct FleetBackend {
  let folder: String
  let port: Int
  let child: LabChild

  static func start(failures: Int, delay: Double) async throws -> FleetBackend {
    let folder = FileManager.default.temporaryDirectory.appending(path: "backend-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let child = try await LabChild.start(
      "/usr/bin/python3", [FleetFixture.script("fleet_backend.py"), folder, "\(failures)", "\(delay)"],
      output: folder + "/out", errors: folder + "/err")
    let deadline = ContinuousClock.now + LabTimeout.usual
    while ContinuousClock.now < deadline {
      if let text = try? String(contentsOfFile: folder + "/backend.port", encoding: .utf8), let port = Int(text) {
        return FleetBackend(folder: folder, port: port, child: child)
      }
      try await Task.sleep(for: .milliseconds(20))  // polls for the port
    }
    throw LabError("the backend does not listen")
  }

  func lines() throws -> [Substring] {
    try String(contentsOfFile: folder + "/backend.jsonl", encoding: .utf8).split(separator: "\n")
  }

  func stop() async {
    try? LabProcess(pid: child.pid).signal(SIGKILL)
    _ = await child.ending()
    try? LabRemains.retire(folder)
  }
}
