// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Processes that the system ends by itself, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Processes that the system ends` {
  @Test(.rule("PROCESS-22", "PROCESS-23"))
  func `an extension that is suspended with a lock on a file of its group is ended, and diagnose names the file`()
    async throws
  {
    try await LifecycleFixture.run("locks") { fixture in
      try await fixture.reload("idle")
      try await fixture.shows("idle 1")
      try await fixture.state("suspended")
      #expect(try await fixture.exits().isEmpty)
      try await fixture.reload("transaction")
      try await fixture.shows("transaction 2")
      let held = try await fixture.held(1)
      let lock = HeldLock(group: LiveFixture.group, file: "notes.sqlite", kind: "SQLite transaction")
      #expect(held.reading(LocksHeld.self)?.locks == [lock])
      try await fixture.state("absent", after: held.sequence)
      #expect(try await fixture.ps().lastEnding == "evicted: \(try #require(held.reading(LocksHeld.self)))")
      try await fixture.reload("idle")
      try await fixture.shows("idle 2")
      try await fixture.reload("file")
      let second = try await fixture.held(2)
      #expect(
        second.reading(LocksHeld.self)?.locks == [
          HeldLock(group: LiveFixture.group, file: "caches/flag", kind: "flock")
        ])
      try await fixture.state("absent", after: second.sequence)
      let answer = try await fixture.cluster.attempt(["diagnose", "suspended-with-lock"])
      #expect(answer.status == 1 && answer.output.contains("on notes.sqlite of \(LiveFixture.group)"), "\(answer)")
    }
  }

  @Test(.rule("PROCESS-24"))
  func `an idle extension is ended by the system, and creates its session again for the events of its download`()
    async throws
  {
    try await LiveFixture.run("idle extension", settings: ["endIdleAfter: 0.3"], heldAt: 0.2) { fixture in
      try await fixture.begin()
      let end = try await fixture.whileHeld {
        // Its events would resume it.
        try await fixture.cluster.run("network", "off")
        return try await fixture.ended(1)
      }
      #expect(end.reading(ProcessExited.self)?.ending == .signalled(signal: SIGKILL))
      let absent = try await fixture.state("absent", of: LiveFixture.widgetExtension, after: end.sequence)
      #expect(absent.reading(ProcessState.self)?.why == "evicted: idle for 0.3 s")
      #expect(try await fixture.cluster.run("ps").contains("evicted: idle for 0.3 s"))
      try await fixture.cluster.run("network", "on")
      try await fixture.expectWholeScenario(newInstance: true, endsWhenIdle: true)
    }
  }

  @Test(.rule("TIMELINE-31"))
  func `a provider is asked for several placements at once, and receives the calls on several threads`() async throws {
    let settings = ["concurrentTimelines: 3"]
    try await LifecycleFixture.run("concurrent calls", settings: settings) { fixture in
      try await fixture.reload("meet 1")
      try await fixture.shows("met")
      for _ in 1...2 { try await fixture.cluster.run("add", LiveFixture.kind) }
      for number in 2...3 { try await fixture.shows("met", at: number) }
      try await fixture.reload("meet 3")
      for call in 1...3 { try await fixture.prints("call \(call) of 3") }
      #expect(try await fixture.exits().isEmpty)
    }
  }

  @Test(.rule("TIMELINE-32"))
  func `a provider is asked for each timeline twice at once, and one timeline is stored`() async throws {
    let settings = ["requestsTimelinesTwice: true"]
    try await LifecycleFixture.run("asked twice", settings: settings) { fixture in
      try await fixture.reload("meet 2")
      for call in 1...2 { try await fixture.prints("call \(call) of 2") }
      let shown = try await fixture.shows("met")
      try await fixture.state("suspended", after: shown.sequence)
      let stored = try await fixture.journal.all().filter { $0.reading(TimelineStored.self) != nil }
      #expect(stored.count == 1)
    }
  }
}

/// A cluster of one extension with one widget.
struct LifecycleFixture: Sendable {
  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }

  static func run(
    _ name: String, settings: [String] = [], _ body: @Sendable (LifecycleFixture) async throws -> Void
  ) async throws {
    let configuration = TrialCluster.yaml(
      widget: ["TRIAL_FIXTURE: lifecycle"], hasProvider: false, settings: ["suspendAfter: 0.2"] + settings)
    for _ in 1...LiveTrait.rounds {
      try await LabCluster.with(name, configuration: configuration) { try await body(LifecycleFixture(cluster: $0)) }
    }
  }

  /// Tells the extension what to do, and reloads its widget.
  func reload(_ instruction: String) async throws {
    let folder = cluster.instance.device(LiveFixture.device).group(LiveFixture.group)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(instruction.utf8).write(to: URL(fileURLWithPath: "\(folder)/instruction"))
    try await cluster.run("reload", LiveFixture.kind)
  }

  @discardableResult
  func shows(_ text: String, at placement: Int = 1) async throws -> LabEnvelope {
    try await journal.waitFor("placement \(placement) shows \(text)") {
      guard let shown = $0.reading(EntryShown.self) else { return false }
      return shown.placement == placement && shown.text == [text]
    }
  }

  func prints(_ line: String) async throws {
    try await journal.waitFor("the extension prints: \(line)") { $0.reading(ProcessOutput.self)?.line == line }
  }

  /// Waits for the report about the locks of a generation of the extension.
  func held(_ generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("generation \(generation) holds locks") {
      $0.reading(LocksHeld.self)?.generation == generation
    }
  }

  @discardableResult
  func state(_ state: String, after: UInt64 = 0) async throws -> LabEnvelope {
    try await journal.waitFor("the extension is \(state)", after: after) {
      let change = $0.reading(ProcessState.self)
      return change?.address == LiveFixture.widgetExtension && change?.state == state
    }
  }

  /// How the extension's processes have ended.
  func exits() async throws -> [ProcessExited] {
    try await journal.all().compactMap { $0.reading(ProcessExited.self) }
  }

  /// The extension's row of `ps`.
  func ps() async throws -> PsRow {
    struct Report: Decodable { let processes: [PsRow] }
    var row: PsRow?
    // A host that is busy for two seconds is not in it.
    try await cluster.eventually("ps has the extension") {
      let report = try JSONDecoder().decode(Report.self, from: Data(try await cluster.run("ps", "--json").utf8))
      row = report.processes.first { $0.process == LiveFixture.widgetExtension.short }
      return row != nil
    }
    return try #require(row)
  }

  struct PsRow: Decodable {
    let process: String
    let why: String
    let lastEnding: String?
  }
}
