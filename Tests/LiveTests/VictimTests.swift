// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Less common kills during a background download. `WIDGETLAB_REPEAT=20` runs each test twenty times.
@Suite(.live, .timeLimit(.live)) struct `Background downloads across less common kills` {
  @Test func `a background download completes after its extension is killed during its first launch`() async throws {
    try await LiveFixture.run("killed in the first launch", heldAt: 0.3) { fixture in
      try fixture.hold("launched")
      try await fixture.ask()
      try await fixture.reached("launched")
      try fixture.release("launched")
      try await fixture.kill("extension")
      let end = try await fixture.ended(1)
      #expect(try await fixture.isReady(1) == false)
      let absent = try await fixture.state("absent", of: LiveFixture.widgetExtension, after: end.sequence)
      let why = try #require(absent.reading(ProcessState.self)?.why)
      #expect(why == "signal SIGKILL before it was ready; backing off for 1 s")
      try await fixture.begun()
      try await fixture.endWhileSuspended()
      try await fixture.expectWholeScenario(newInstance: true)
    }
  }

  @Test
  func `a background download completes after its extension is killed during the launch for its events`() async throws {
    try await LiveFixture.run("killed in the launch for events", heldAt: 0.3) { fixture in
      try await fixture.begin()
      let first = try await fixture.whileHeld {
        try await fixture.answered()
        try fixture.hold("launched")
        let first = try await fixture.journal.all().last?.sequence ?? 0
        try await fixture.kill("extension")
        return first
      }
      try await fixture.progress(of: LiveFixture.widgetExtension, .finished)
      try await fixture.reached("launched", after: first)
      try fixture.release("launched")
      try await fixture.kill("extension")
      _ = try await fixture.ended(2)
      #expect(try await fixture.isReady(2) == false)
      try await fixture.expectWholeScenario(newInstance: true)
      #expect(try await fixture.deliveries().map(\.destinationGeneration) == [3])
    }
  }

  @Test(arguments: ["handler", "finish"])
  func `a background download is delivered once when the host is killed before the acknowledgement`(
    point: String
  ) async throws {
    try await LiveFixture.run("host killed at \(point)", heldAt: 0.3) { fixture in
      try fixture.closeGate(at: point)
      try await fixture.begin()
      try await fixture.endWhileSuspended()
      try await fixture.reached(point)
      try await fixture.kill("host")
      let again = try await fixture.delivery(byHost: 2)
      try await fixture.openGate(at: point)
      try await fixture.expectWholeScenario(newInstance: false)
      let deliveries = try await fixture.deliveries()
      #expect(Set(deliveries.map(\.id)) == [again.id], "one delivery")
      #expect(Set(deliveries.map(\.destinationGeneration)) == [1], "to the process that was handling it")
      #expect(try await fixture.acknowledgements() == 1)
    }
  }

  @Test
  func `a background download completes after host and extension are killed before the acknowledgement`() async throws {
    try await LiveFixture.run("host and extension killed", heldAt: 0.3) { fixture in
      try fixture.hold("handler")
      try await fixture.begin()
      try await fixture.endWhileSuspended()
      try await fixture.reached("handler")
      try fixture.release("handler")
      let process = try await fixture.extensionProcess()
      try await fixture.kill("host")
      try process.signal(SIGKILL)
      try await fixture.expectWholeScenario(newInstance: true)
      let deliveries = try await fixture.deliveries()
      #expect(Set(deliveries.map(\.id)).count == 1, "one delivery")
      #expect(deliveries.last?.destinationGeneration == 2)
      #expect(try await fixture.acknowledgements() == 1)
    }
  }

  @Test func `a background download completes while its extension is suspended, and the host resumes the extension`()
    async throws
  {
    try await LiveFixture.run("suspended in the download", heldAt: 0.2) { fixture in
      try await fixture.begin()
      try await fixture.whileHeld {
        // Its events would resume it.
        try await fixture.cluster.run("network", "off")
        try await fixture.cluster.run("suspend", "extension")
      }
      let process = try await fixture.extensionProcess()
      #expect(process.isStopped)
      try await fixture.cluster.run("network", "on")
      let finished = try await fixture.progress(of: LiveFixture.widgetExtension, .finished)
      let handler = try await fixture.reached("handler", after: finished.sequence)
      let resumed = try await fixture.journal.waitFor("the host resumes it", after: finished.sequence) {
        let signal = $0.reading(SignalProcess.self)
        return $0.source == LiveFixture.host.text && signal?.address == LiveFixture.widgetExtension
          && signal?.signal == SIGCONT
      }
      #expect(resumed.sequence < handler.sequence)
      try await fixture.expectWholeScenario(newInstance: false)
    }
  }

  @Test func `an extension that crashes at launch backs off and reports it, and its background download completes`()
    async throws
  {
    try await LiveFixture.run("crash on launch", settings: ["crashBackoffFirst: 0.2"], heldAt: 0.3) { fixture in
      try await fixture.begin()
      try await fixture.whileHeld {
        try await fixture.answered()
        try fixture.set(.crash, at: "launched")
        try await fixture.kill("extension")
      }
      _ = try await fixture.ended(5)
      try await fixture.cluster.eventually("ps reports the back-off") {
        try await fixture.cluster.run("ps").contains("exit code 3 before it was ready; ")
      }
      try fixture.clear(.crash, at: "launched")
      try await fixture.expectWholeScenario(newInstance: true)
      try await fixture.expectDoublingPauses(after: 2...5, first: 0.2, failure: "exit code 3 before it was ready")
    }
  }

  @Test(.rule("PROCESS-04"), .disabled(if: LiveFixture.isSanitized, "a sanitized extension has no memory limit"))
  func `an extension that exceeds its memory limit is evicted, and its background download completes`() async throws {
    // An extension that is evicted before it returns its timeline is relaunched for the timeline, and then not for its
    // events.
    try await LiveFixture.run("evicted", suspendAfter: 30, heldAt: 0.3) { fixture in
      try fixture.closeGate(at: "notified")
      try fixture.set(.grow, at: "notified", "64")
      try await fixture.begin()
      let (report, dying) = try await fixture.whileHeld {
        try await fixture.answered()
        try await fixture.openGate(at: "notified")
        let exceeded = try await fixture.exceeded(1)
        try fixture.clear(.grow, at: "notified")
        let report = try #require(exceeded.reading(MemoryExceeded.self))
        return (report, try await fixture.state("dying", of: LiveFixture.widgetExtension, after: exceeded.sequence))
      }
      #expect(report.limit == 30 << 20)
      #expect(report.memory > 30 << 20 && report.memory < 256 << 20)
      #expect(dying.reading(ProcessState.self)?.why == report.description)
      let end = try await fixture.ended(1)
      #expect(end.reading(ProcessExited.self)?.ending == .signalled(signal: SIGKILL))
      let absent = try await fixture.state("absent", of: LiveFixture.widgetExtension, after: end.sequence)
      #expect(absent.reading(ProcessState.self)?.why == "evicted: \(report); backing off for 1 s")
      try await fixture.expectWholeScenario(newInstance: true)
      try await fixture.expectPs(lastEnding: "evicted: \(report)")
    }
  }

  @Test(.disabled(if: LiveFixture.isSanitized, "a sanitized extension has no memory limit"))
  func `an extension that exceeds its memory limit while no host runs is evicted by the next host`() async throws {
    try await LiveFixture.run("evicted without a host", suspendAfter: 30, heldAt: 0.3) { fixture in
      try fixture.closeGate(at: "notified")
      try fixture.set(.grow, at: "notified", "64")
      try await fixture.begin()
      try await fixture.whileHeld {
        try await fixture.answered()
        try await fixture.reached("notified")
        let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
        // While `up` is stopped no other host is started.
        try fixture.cluster.up.signal(SIGSTOP)
        let exceeded: LabEnvelope
        do {
          try host.signal(SIGKILL)
          try await host.ended()
          try await fixture.openGate(at: "notified")
          exceeded = try await fixture.exceeded(1)
          try fixture.clear(.grow, at: "notified")
        } catch {
          try fixture.cluster.up.signal(SIGCONT)
          throw error
        }
        #expect(try await fixture.extensionProcess().isAlive, "only the host evicts")
        try fixture.cluster.up.signal(SIGCONT)
        try await fixture.state("dying", of: LiveFixture.widgetExtension, after: exceeded.sequence)
      }
      try await fixture.expectWholeScenario(newInstance: true)
      let reports = try await fixture.journal.all().filter { $0.kind == MemoryExceeded.kind.name }
      #expect(Set(reports.map(\.id)).count == 1 && reports.count > 1, "it is sent again until it is acknowledged")
    }
  }

  @Test(
    .rule("PROCESS-05", "PROCESS-07"),
    .disabled(if: LiveFixture.isSanitized, "a sanitized extension has no memory limit")
  )
  func `an extension over its memory limit at each launch backs off, and its background download completes`()
    async throws
  {
    let settings = ["crashBackoffFirst: 0.2", "memoryInterval: 0.05"]
    try await LiveFixture.run("evicted at each launch", settings: settings, heldAt: 0.3) { fixture in
      try fixture.set(.grow, at: "launched", "64")
      try fixture.hold("launched")
      try await fixture.ask()
      _ = try await fixture.ended(4)
      try fixture.release("launched")
      try fixture.clear(.grow, at: "launched")
      try await fixture.begun()
      try await fixture.endWhileSuspended()
      try await fixture.expectWholeScenario(newInstance: true)
      try await fixture.expectDoublingPauses(after: 1...4, first: 0.2, failure: "evicted: memory")
    }
  }
}

extension LiveFixture {
  fileprivate func isReady(_ generation: UInt32) async throws -> Bool {
    try await journal.all().contains {
      $0.kind == ProcessReady.kind.name && $0.envelope.header.source == Self.widgetExtension
        && $0.sourceGeneration == generation
    }
  }

  /// All deliveries of the extension's events that reached a process instance of it.
  fileprivate func deliveries() async throws -> [LabEnvelope] {
    try await journal.all().filter {
      $0.reading(SessionEvents.self)?.session == Self.session && $0.destinationGeneration > 0
    }
  }

  /// Waits for the first delivery by a generation of the host.
  fileprivate func delivery(byHost generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("generation \(generation) of the host delivers the events") {
      $0.reading(SessionEvents.self)?.session == Self.session && $0.sourceGeneration == generation
    }
  }

  /// How often the host removed acknowledged events of the extension.
  fileprivate func acknowledgements() async throws -> Int {
    try await journal.all().count { $0.reading(SessionAcknowledged.self)?.owner == Self.widgetExtension }
  }

  fileprivate func exceeded(_ generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("the agent reports that generation \(generation) exceeds its memory limit") {
      $0.reading(MemoryExceeded.self)?.generation == generation
    }
  }

  /// Checks that the pause between the exit of each generation and the next spawn doubles, and that the host reports
  /// it.
  fileprivate func expectDoublingPauses(
    after generations: ClosedRange<UInt32>, first: Double, failure: String
  ) async throws {
    let entries = try await journal.all()
    var pause = first
    for generation in generations {
      let end = try await ended(generation)
      let next = try #require(
        entries.first { $0.sequence > end.sequence && $0.reading(SpawnProcess.self)?.address == Self.widgetExtension })
      let waited = next.envelope.header.sentAt.microseconds - end.envelope.header.sentAt.microseconds
      #expect(Double(waited) / 1e6 >= pause, "after generation \(generation)")
      let absent = try await state("absent", of: Self.widgetExtension, after: end.sequence)
      let why = try #require(absent.reading(ProcessState.self)?.why)
      let count = generation - generations.lowerBound + 1
      #expect(why.hasPrefix(failure), "\(why)")
      #expect(
        why.hasSuffix("; \(count == 1 ? "" : "\(count) failures in a row, ")backing off for \(pause) s"), "\(why)")
      pause *= 2
    }
  }

  /// Checks that `ps` reports how the extension's last process ended, and the memory of the extension and the app.
  fileprivate func expectPs(lastEnding: String) async throws {
    struct Report: Decodable {
      struct Row: Decodable {
        let process: String
        let memory: Int?
        let memoryLimit: Int?
        let lastEnding: String?
      }
      let processes: [Row]
    }
    var rows: [Report.Row] = []
    // A host that is busy for two seconds is not in it.
    try await cluster.eventually("ps has the extension") {
      rows = try JSONDecoder().decode(Report.self, from: Data(try await cluster.run("ps", "--json").utf8)).processes
      return rows.contains { $0.process == Self.widgetExtension.short }
    }
    let widget = try #require(rows.first { $0.process == Self.widgetExtension.short })
    #expect(widget.lastEnding == lastEnding)
    #expect(widget.memoryLimit == 30 << 20)
    #expect(try #require(widget.memory) < 30 << 20)
    let app = try #require(rows.first { $0.process == Self.app.short })
    #expect(app.memory != nil && app.memoryLimit == nil)
  }
}
