import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// The story's less common deaths. `WIDGETLAB_REPEAT=20` plays each twenty times in a row.
@Suite(.live, .timeLimit(.live)) struct `a background download survives also` {
  @Test func `its extension killed during its first launch`() async throws {
    try await Trial.run("killed in the first launch") { trial in
      try trial.hold("launched")
      try await trial.ask()
      try await trial.reached("launched")
      try trial.release("launched")
      try await trial.kill("extension")
      let end = try await trial.ended(1)
      #expect(try await trial.isReady(1) == false)
      let absent = try await trial.state("absent", of: Trial.widgetExtension, after: end.sequence)
      let why = try #require(absent.reading(ProcessState.self)?.why)
      #expect(why == "signal SIGKILL before it was ready; left alone for 1 s")
      try await trial.begun()
      try await trial.expectWholeStory(newLife: true)
    }
  }

  @Test func `its extension killed during the launch for its events`() async throws {
    try await Trial.run("killed in the launch for events") { trial in
      try await trial.begin()
      try await trial.downloaded(0.3)
      try trial.hold("launched")
      let first = try await trial.journal.all().last?.sequence ?? 0
      try await trial.kill("extension")
      try await trial.progress(of: Trial.widgetExtension, .finished)
      try await trial.reached("launched", after: first)
      try trial.release("launched")
      try await trial.kill("extension")
      _ = try await trial.ended(2)
      #expect(try await trial.isReady(2) == false)
      try await trial.expectWholeStory(newLife: true)
      #expect(try await trial.handOvers().map(\.destinationGeneration) == [3])
    }
  }

  @Test(arguments: ["handler", "finish"])
  func `the host killed between the events and their acknowledgement`(point: String) async throws {
    try await Trial.run("host killed at \(point)") { trial in
      try trial.closeGate(at: point)
      try await trial.begin()
      try await trial.reached(point)
      try await trial.kill("host")
      let again = try await trial.handOver(byHost: 2)
      try await trial.openGate(at: point)
      try await trial.expectWholeStory(newLife: false)
      let handOvers = try await trial.handOvers()
      #expect(Set(handOvers.map(\.id)) == [again.id], "one delivery")
      #expect(Set(handOvers.map(\.destinationGeneration)) == [1], "to the life that had it in hand")
      #expect(try await trial.acknowledgements() == 1)
    }
  }

  @Test func `the host and its extension killed between the events and their acknowledgement`() async throws {
    try await Trial.run("host and extension killed") { trial in
      try trial.hold("handler")
      try await trial.begin()
      try await trial.reached("handler")
      try trial.release("handler")
      let process = try await trial.extensionProcess()
      try await trial.kill("host")
      try process.signal(SIGKILL)
      try await trial.expectWholeStory(newLife: true)
      let handOvers = try await trial.handOvers()
      #expect(Set(handOvers.map(\.id)).count == 1, "one delivery")
      #expect(handOvers.last?.destinationGeneration == 2)
      #expect(try await trial.acknowledgements() == 1)
    }
  }

  @Test func `its extension suspended in the middle of it`() async throws {
    try await Trial.run("suspended in the download") { trial in
      try await trial.begin()
      try await trial.downloaded(0.2)
      // Its events would have it go on.
      try await trial.cluster.run("network", "off")
      try await trial.cluster.run("suspend", "extension")
      let process = try await trial.extensionProcess()
      #expect(process.isStopped)
      try await trial.cluster.run("network", "on")
      let finished = try await trial.progress(of: Trial.widgetExtension, .finished)
      let handler = try await trial.reached("handler", after: finished.sequence)
      let resumed = try await trial.journal.waitFor("the host has it go on", after: finished.sequence) {
        let signal = $0.reading(SignalProcess.self)
        return $0.source == Trial.host.text && signal?.address == Trial.widgetExtension && signal?.signal == SIGCONT
      }
      #expect(resumed.sequence < handler.sequence)
      try await trial.expectWholeStory(newLife: false)
    }
  }

  @Test func `its extension crashing on launch, which backs off and says so`() async throws {
    try await Trial.run("crash on launch", settings: ["crashBackoffFirst: 0.2"]) { trial in
      try await trial.begin()
      try await trial.downloaded(0.3)
      try trial.set(.crash, at: "launched")
      try await trial.kill("extension")
      _ = try await trial.ended(5)
      try await trial.cluster.eventually("ps says that it is left alone") {
        try await trial.cluster.run("ps").contains("exit code 3 before it was ready; ")
      }
      try trial.clear(.crash, at: "launched")
      try await trial.expectWholeStory(newLife: true)
      try await trial.expectDoublingPauses(after: 2...5, first: 0.2, failure: "exit code 3 before it was ready")
    }
  }

  @Test(.disabled(if: Trial.isSanitized, "a sanitizer's own memory is over any limit"))
  func `its extension evicted for its memory`() async throws {
    // One that is evicted before it gave its timeline is started for that again, and then not for its events.
    try await Trial.run("evicted", suspendAfter: 30) { trial in
      try trial.closeGate(at: "told")
      try trial.set(.grow, at: "told", "64")
      try await trial.begin()
      try await trial.journal.waitFor("the timeline is stored") { $0.kind == "timeline.stored" }
      try await trial.openGate(at: "told")
      let exceeded = try await trial.exceeded(1)
      try trial.clear(.grow, at: "told")
      let found = try #require(exceeded.reading(MemoryExceeded.self))
      #expect(found.limit == 30 << 20)
      #expect(found.memory > 30 << 20 && found.memory < 256 << 20)
      let dying = try await trial.state("dying", of: Trial.widgetExtension, after: exceeded.sequence)
      #expect(dying.reading(ProcessState.self)?.why == found.description)
      let end = try await trial.ended(1)
      #expect(end.reading(ProcessExited.self)?.ending == .signalled(signal: SIGKILL))
      let absent = try await trial.state("absent", of: Trial.widgetExtension, after: end.sequence)
      #expect(absent.reading(ProcessState.self)?.why == "evicted: \(found); left alone for 1 s")
      try await trial.expectWholeStory(newLife: true)
      try await trial.expectPs(lastEnding: "evicted: \(found)")
    }
  }

  @Test(.disabled(if: Trial.isSanitized, "a sanitizer's own memory is over any limit"))
  func `its extension evicted for its memory while the host was dead`() async throws {
    try await Trial.run("evicted without a host", suspendAfter: 30) { trial in
      try trial.closeGate(at: "told")
      try trial.set(.grow, at: "told", "64")
      try await trial.begin()
      try await trial.journal.waitFor("the timeline is stored") { $0.kind == "timeline.stored" }
      try await trial.reached("told")
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      // Nobody starts another host until it has happened.
      try trial.cluster.up.signal(SIGSTOP)
      let exceeded: LabEnvelope
      do {
        try host.signal(SIGKILL)
        try await host.ended()
        try await trial.openGate(at: "told")
        exceeded = try await trial.exceeded(1)
        try trial.clear(.grow, at: "told")
      } catch {
        try trial.cluster.up.signal(SIGCONT)
        throw error
      }
      #expect(try await trial.extensionProcess().isAlive, "only the host evicts")
      try trial.cluster.up.signal(SIGCONT)
      try await trial.state("dying", of: Trial.widgetExtension, after: exceeded.sequence)
      try await trial.expectWholeStory(newLife: true)
      let told = try await trial.journal.all().filter { $0.kind == MemoryExceeded.kind.name }
      #expect(Set(told.map(\.id)).count == 1 && told.count > 1, "it was said again until it was heard")
    }
  }

  @Test(.disabled(if: Trial.isSanitized, "a sanitizer's own memory is over any limit"))
  func `its extension over its memory limit at each launch, which backs off`() async throws {
    let settings = ["crashBackoffFirst: 0.2", "memoryInterval: 0.05"]
    try await Trial.run("evicted at each launch", settings: settings) { trial in
      try trial.set(.grow, at: "launched", "64")
      try trial.hold("launched")
      try await trial.ask()
      _ = try await trial.ended(4)
      try trial.release("launched")
      try trial.clear(.grow, at: "launched")
      try await trial.begun()
      try await trial.expectWholeStory(newLife: true)
      try await trial.expectDoublingPauses(after: 1...4, first: 0.2, failure: "evicted: memory")
    }
  }
}

extension Trial {
  fileprivate func isReady(_ generation: UInt32) async throws -> Bool {
    try await journal.all().contains {
      $0.kind == ProcessReady.kind.name && $0.envelope.header.source == Self.widgetExtension
        && $0.sourceGeneration == generation
    }
  }

  /// All hand-overs of the extension's events that reached a life of it.
  fileprivate func handOvers() async throws -> [LabEnvelope] {
    try await journal.all().filter {
      $0.reading(SessionEvents.self)?.session == Self.session && $0.destinationGeneration > 0
    }
  }

  /// The first hand-over by a life of the host.
  fileprivate func handOver(byHost generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("generation \(generation) of the host hands over the events") {
      $0.reading(SessionEvents.self)?.session == Self.session && $0.sourceGeneration == generation
    }
  }

  /// How often the host forgot the extension's events.
  fileprivate func acknowledgements() async throws -> Int {
    try await journal.all().count { $0.reading(SessionAcknowledged.self)?.owner == Self.widgetExtension }
  }

  fileprivate func exceeded(_ generation: UInt32) async throws -> LabEnvelope {
    try await journal.waitFor("the agent says that generation \(generation) has too much memory") {
      $0.reading(MemoryExceeded.self)?.generation == generation
    }
  }

  /// Between the end of each of these lives and the next spawn the host waited twice as long as before, and said so.
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
      #expect(why.hasSuffix("; \(count == 1 ? "" : "\(count) failures in a row, ")left alone for \(pause) s"), "\(why)")
      pause *= 2
    }
  }

  /// `ps` says how the extension's last life ended, and what it and the app have of memory.
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
    let report = try JSONDecoder().decode(Report.self, from: Data(try await cluster.run("ps", "--json").utf8))
    let widget = try #require(report.processes.first { $0.process == Self.widgetExtension.short })
    #expect(widget.lastEnding == lastEnding)
    #expect(widget.memoryLimit == 30 << 20)
    #expect(try #require(widget.memory) < 30 << 20)
    let app = try #require(report.processes.first { $0.process == Self.app.short })
    #expect(app.memory != nil && app.memoryLimit == nil)
  }
}
