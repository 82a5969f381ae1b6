// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Glibc
import Messages
import Testing
import WidgetLabTesting

/// A `widgetlab fleet up` with its own bus and push server, and a third-party provider that pushes to its devices.
struct FleetFixture: Sendable {
  let folder: String
  let executables: String
  let up: LabChild

  /// The ready line of `widgetlab fleet up --json`.
  struct Ready: Decodable {
    let devices: Int
    let tokens: Int
    let pids: [String: Int32]
  }

  /// The parts of a report that the tests look at.
  struct Report: Decodable {
    struct TypeFigures: Decodable {
      let type: String
      let accepted: Int
      let ends: [String: Int]
      let open: Int
      let delivered: Int
      let outcomes: [String: Int]
      let refused: [String: Int]
    }
    struct Verdict: Decodable {
      let law: String
      let answer: String
      let text: String
    }
    let types: [TypeFigures]
    let verdicts: [Verdict]
    let unknownTokens: [String: Int]

    subscript(type: String) -> TypeFigures? { types.first { $0.type == type } }
    var accepted: Int { types.reduce(0) { $0 + $1.accepted } }
  }

  /// Devices to which nothing happens, with all tokens.
  static let still = """
    tokens: {app: 1, widgets: 1, control: 1, complication: 1, fileprovider: 1, liveactivity-start: 1, location: 1, mdm: 1,
      pushtotalk: 1, voip: 1}
    offline: {timesPerDay: 0}
    asleep: {timesPerDay: 0}
    rotationsPerYear: 0
    uninstallsPerYear: 0
    liveActivities: {perDay: 0}

    """

  /// Starts a fleet, runs the body with it, and stops it; leaves no files.
  ///
  /// - Parameters:
  ///   - profile: lines of the profile; the tokens are registered in a file unless it says otherwise.
  ///   - pushServer: more settings of `pushServer`, each followed by a comma.
  static func run(
    _ devices: Int, profile: String, pushServer: String = "",
    prepare: (String) async throws -> String = { folder in
      "registration: {file: \(folder)/tokens.jsonl}\n"
    }, _ body: (FleetFixture, Ready) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? LabRemains.retire(folder) }
    let more = try await prepare(folder)
    try (profile + more).write(toFile: folder + "/profile.yaml", atomically: true, encoding: .utf8)
    let executables = try LabCluster.findExecutables()
    // The rules that delay pushes of low priority are not what these tests are about.
    try """
    device: {name: none}
    pushServer: {\(pushServer) priority5Interval: 0, priority1Interval: 0, backgroundInterval: 0}

    """.write(toFile: folder + "/widgetlab.yaml", atomically: true, encoding: .utf8)
    let up = try await LabChild.start(
      executables + "/widgetlab", arguments(devices, folder) + ["--json"], output: folder + "/up.out",
      errors: folder + "/up.err")
    let fixture = FleetFixture(folder: folder, executables: executables, up: up)
    do {
      try await body(fixture, try await fixture.ready())
    } catch {
      try? LabProcess(pid: up.pid).signal(SIGTERM)
      _ = await up.ending()
      throw error
    }
    try LabProcess(pid: up.pid).signal(SIGTERM)
    #expect(await up.ending() == 0)
  }

  private static func arguments(_ devices: Int, _ folder: String) -> [String] {
    [
      "fleet", "up", "--devices", "\(devices)", "--profile", folder + "/profile.yaml", "--instance", folder, "--config",
      folder + "/widgetlab.yaml", "--seed", "7",
    ]
  }

  private func ready() async throws -> Ready {
    let deadline = ContinuousClock.now + LabTimeout.usual
    while ContinuousClock.now < deadline {
      if let text = try? String(contentsOfFile: folder + "/up.out", encoding: .utf8), text.contains("\n") {
        return try JSONDecoder().decode(Ready.self, from: Data(text.utf8))
      }
      guard LabProcess(pid: up.pid).executable != nil else { break }
      try await Task.sleep(for: .milliseconds(20))  // polls for the ready line
    }
    let log = try? String(contentsOfFile: folder + "/up.err", encoding: .utf8)
    throw LabError("the fleet does not become ready: \(log ?? "no log")")
  }

  // MARK: The operator

  func tool(_ arguments: String...) async throws -> LabCluster.Answer {
    try await LabCluster.tool(arguments + ["--instance", folder], executables: executables, in: folder)
  }

  func state() async throws -> FleetState {
    let answer = try await tool("fleet", "status", "--json")
    guard answer.status == 0 else { throw LabError("widgetlab fleet status: \(answer.errors)") }
    return try BodyCoding.decode(FleetState.self, from: Array(answer.output.utf8))
  }

  /// The report, and the exit code.
  func report() async throws -> (Report, Int32) {
    let answer = try await tool("fleet", "report", "--json", "--wait", "60s")
    guard !answer.output.isEmpty else { throw LabError("widgetlab fleet report: \(answer.errors)") }
    return (try JSONDecoder().decode(Report.self, from: Data(answer.output.utf8)), answer.status)
  }

  /// Waits until the fleet's state is as wanted.
  func eventually(_ what: String, _ isReached: (FleetState) -> Bool) async throws {
    let deadline = ContinuousClock.now + LabTimeout.usual
    var last = "no state"
    while ContinuousClock.now < deadline, LabProcess(pid: up.pid).executable != nil {
      do {
        let state = try await state()
        if isReached(state) { return }
        last = "\(state)"
      } catch {
        last = "\(error)"
      }
      try await Task.sleep(for: .milliseconds(50))  // polls the fleet's state
    }
    let processes = try? String(contentsOfFile: folder + "/processes.json", encoding: .utf8)
    let notes = try? String(contentsOfFile: folder + "/up.err", encoding: .utf8)
    throw LabError("\(what): \(last); \(processes ?? "no processes"); \(notes ?? "no notes")")
  }

  /// Returns when something more is delivered, or when all pushes were answered: what was superseded while a process was away
  /// is never delivered.
  func deliveriesGoOn() async throws {
    let delivered = try await state().total.delivered
    try await eventually("deliveries go on") { $0.total.delivered > delivered || hasPushed }
  }

  private var hasPushed: Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.contains { name in
      name.hasPrefix("push-") && name.hasSuffix(".out")
        && (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) != ""
    }
  }

  /// Kills a process of this instance, and returns when it has been started again.
  func kill(_ name: String) async throws {
    try await eventually("\(name) runs") { _ in (try? pid(of: name)) != nil }
    let killed = try #require(try pid(of: name))
    try LabProcess(pid: killed).signal(SIGKILL)
    try await eventually("\(name) is back") { _ in
      let now = try? pid(of: name)
      return now != nil && now != killed
    }
  }

  /// The pid of a process of this instance.
  func pid(of name: String) throws -> Int32? {
    struct List: Decodable {
      struct Record: Decodable {
        let name: String
        let pid: Int32?
      }
      let processes: [Record]
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/processes.json"))
    return try JSONDecoder().decode(List.self, from: data).processes.first { $0.name == name }?.pid
  }

  // MARK: The provider

  /// Pushes to each registered token with httpx.
  ///
  /// - Parameter replicas: the push servers to which it pushes in turn; empty for the only one.
  /// - Returns: how often each type got each answer.
  func push(
    rounds: Int = 1, uses: (String) -> Bool = { _ in true }, expiration: Int? = nil, concurrency: Int = 16,
    replicas: [String] = []
  ) async throws -> [String: Int] {
    struct Plan: Encodable {
      let announcements: [String]
      let rounds: Int
      let concurrency: Int
      let expiration: Int?
    }
    struct Line: Decodable { let use: String }
    let name = "\(folder)/push-\(UUID().uuidString)"
    let plan = Plan(
      announcements: replicas.isEmpty
        ? [folder + "/push-server.json"] : replicas.map { InstanceFolder(folder).pushServerAnnouncement(of: $0) },
      rounds: rounds, concurrency: concurrency, expiration: expiration)
    try JSONEncoder().encode(plan).write(to: URL(fileURLWithPath: name + ".json"))
    let lines = try String(contentsOfFile: folder + "/tokens.jsonl", encoding: .utf8).split(separator: "\n").filter {
      uses(try JSONDecoder().decode(Line.self, from: Data($0.utf8)).use)
    }
    try (lines.joined(separator: "\n") + "\n").write(toFile: name + ".tokens", atomically: true, encoding: .utf8)
    let child = try await LabChild.start(
      "/usr/bin/python3", [Self.script("fleet_pushes.py"), name + ".json", name + ".tokens"], output: name + ".out",
      errors: name + ".err")
    guard await child.ending() == 0 else {
      throw LabError("fleet_pushes.py: \((try? String(contentsOfFile: name + ".err", encoding: .utf8)) ?? "")")
    }
    return try JSONDecoder().decode([String: Int].self, from: Data(contentsOf: URL(fileURLWithPath: name + ".out")))
  }

  static func script(_ name: String) -> String {
    Repository.root.appending(path: "scripts/push.d/\(name)").path
  }
}
