// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Section 4.5 of the rules of WidgetKit for reloads, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Reloads of a locked device` {
  @Test(.rule("GALLERY-29"), arguments: ["complete", "completeUnlessOpen"])
  func `a locked device withholds reloads of protected widgets until it is unlocked, also across a host kill`(
    protection: String
  ) async throws {
    try await run("withheld", protection: protection) { fixture in
      try await fixture.cluster.run("lock")
      let locked = try await fixture.last
      try await fixture.cluster.run("reload", "Touch")
      try await fixture.isDecided("operator delayed device-locked", after: locked)
      #expect(try await fixture.cluster.run("why", "2").contains("waiting until the device is unlocked"))
      #expect(try await fixture.cluster.run("budget").contains("when unlocked, operator"))
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await fixture.cluster.run("clock", "advance", "1h")
      #expect(try await fixture.asked(after: locked).isEmpty)
      #expect(try await fixture.screen("homeScreen").first?.content == "placeholder")
      let before = try await fixture.last
      try await fixture.cluster.run("unlock")
      try await fixture.journal.waitFor("the timeline is stored", after: before) {
        $0.reading(TimelineStored.self)?.because == .operator
      }
      #expect(try await fixture.ledger(after: locked) == ["operator delayed device-locked", "operator free operator"])
    }
  }

  @Test func `a locked device reloads widgets whose data is not protected`() async throws {
    try await run("open", protection: "completeUntilFirstUserAuthentication") { fixture in
      try await fixture.cluster.run("lock")
      let locked = try await fixture.last
      try await fixture.cluster.run("reload", "Touch")
      try await fixture.journal.waitFor("the timeline is stored", after: locked) {
        $0.reading(TimelineStored.self)?.because == .operator
      }
    }
  }

  @Test(.rule("GALLERY-30")) func `a restarted device withholds every reload until it is unlocked once`() async throws {
    try await run("started again", protection: "completeUntilFirstUserAuthentication") { fixture in
      let before = try await fixture.last
      try await fixture.cluster.run("lock", "--restart")
      try await fixture.cluster.run("reload", "Touch")
      try await fixture.isDecided("operator delayed before-first-unlock", after: before)
      try await fixture.cluster.run("clock", "advance", "1h")
      #expect(try await fixture.asked(after: before).isEmpty)
      try await fixture.cluster.run("unlock")
      try await fixture.journal.waitFor("the timeline is stored", after: before) {
        $0.reading(TimelineStored.self)?.because == .operator
      }
    }
  }

  /// Runs a device with a held clock and one widget that shows its first entry.
  private func run(
    _ name: String, protection: String, body: @Sendable (GalleryFixture) async throws -> Void
  ) async throws {
    try await GalleryFixture.run("\(name) \(protection)", product: ["dataProtection: \(protection)"]) { fixture in
      try await fixture.cluster.run("clock", "hold")
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      try await body(fixture)
    }
  }
}

extension GalleryFixture {
  fileprivate func isDecided(_ line: String, after sequence: UInt64) async throws {
    try await journal.waitFor(line, after: sequence) {
      $0.reading(BudgetDecided.self).map { "\($0.entry.because) \($0.entry.verdict) \($0.entry.rule)" } == line
    }
  }

  /// The timeline requests that extensions received.
  fileprivate func asked(after sequence: UInt64) async throws -> [RequestTimeline] {
    try await journal.all().filter { $0.sequence > sequence }.compactMap { $0.reading(RequestTimeline.self) }
  }
}
