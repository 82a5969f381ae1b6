import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Section 4.5 of the rules of WidgetKit, what becomes of reloads, over real processes.
@Suite(.live, .timeLimit(.live)) struct `a locked device` {
  @Test(arguments: ["complete", "completeUnlessOpen"])
  func `withholds new timelines while the device is locked and its data protected, over the host's death`(
    protection: String
  ) async throws {
    try await run("withheld", protection) { trial in
      try await trial.cluster.run("lock")
      let locked = try await trial.last
      try await trial.cluster.run("reload", "Touch")
      try await trial.isDecided("operator delayed device-locked", after: locked)
      #expect(try await trial.cluster.run("why", "2").contains("it waits until the device is unlocked"))
      #expect(try await trial.cluster.run("budget").contains("when it is unlocked, operator"))
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await trial.cluster.run("clock", "advance", "1h")
      #expect(try await trial.asked(after: locked).isEmpty)
      #expect(try await trial.screen("homeScreen").first?.content == "placeholder")
      let before = try await trial.last
      try await trial.cluster.run("unlock")
      try await trial.journal.waitFor("the timeline comes", after: before) {
        $0.reading(TimelineStored.self)?.because == .operator
      }
      #expect(try await trial.ledger(after: locked) == ["operator delayed device-locked", "operator free operator"])
    }
  }

  @Test func `has new timelines where its data is not protected`() async throws {
    try await run("open", "completeUntilFirstUserAuthentication") { trial in
      try await trial.cluster.run("lock")
      let locked = try await trial.last
      try await trial.cluster.run("reload", "Touch")
      try await trial.journal.waitFor("the timeline comes", after: locked) {
        $0.reading(TimelineStored.self)?.because == .operator
      }
    }
  }

  @Test func `withholds every new timeline until it was unlocked once`() async throws {
    try await run("started anew", "completeUntilFirstUserAuthentication") { trial in
      let before = try await trial.last
      try await trial.cluster.run("lock", "--restart")
      try await trial.cluster.run("reload", "Touch")
      try await trial.isDecided("operator delayed before-first-unlock", after: before)
      try await trial.cluster.run("clock", "advance", "1h")
      #expect(try await trial.asked(after: before).isEmpty)
      try await trial.cluster.run("unlock")
      try await trial.journal.waitFor("the timeline comes", after: before) {
        $0.reading(TimelineStored.self)?.because == .operator
      }
    }
  }

  /// A device whose time is held, with one widget that shows its first entry.
  private func run(
    _ name: String, _ protection: String, _ body: @Sendable (GalleryTrial) async throws -> Void
  ) async throws {
    try await GalleryTrial.run("\(name) \(protection)", product: ["dataProtection: \(protection)"]) { trial in
      try await trial.cluster.run("clock", "hold")
      try await trial.add("Touch")
      _ = try await trial.entry(of: 1)
      try await body(trial)
    }
  }
}

extension GalleryTrial {
  fileprivate func isDecided(_ line: String, after sequence: UInt64) async throws {
    try await journal.waitFor(line, after: sequence) {
      $0.reading(BudgetDecided.self).map { "\($0.entry.because) \($0.entry.verdict) \($0.entry.rule)" } == line
    }
  }

  /// What extensions were asked for.
  fileprivate func asked(after sequence: UInt64) async throws -> [RequestTimeline] {
    try await journal.all().filter { $0.sequence > sequence }.compactMap { $0.reading(RequestTimeline.self) }
  }
}
