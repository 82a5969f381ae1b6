// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Sections 4.1 and 4.2 of the rules of WidgetKit, and the rules of timeline policies, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Timelines of a placed widget` {
  private static let free = ["developerMode: true"]

  @Test(.rule("TIMELINE-02", "TIMELINE-03", "TIMELINE-06"))
  func `the host shows each entry at its time while the extension is suspended`() async throws {
    try await TimelinesFixture.run("entries", only: "Quarters", settings: Self.free) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "50m")
      #expect(
        try await fixture.shown() == ["0.0 Quarters 0", "15.0 Quarters 15", "30.0 Quarters 30", "45.0 Quarters 45"])
      let asked = try await fixture.journal.all().compactMap { $0.reading(RequestTimeline.self) }
      #expect(asked.map(\.purpose) == [.placeholder, .timeline])
      #expect(asked.map(\.placement) == [1, 1])
    }
  }

  @Test(.rule("TIMELINE-15")) func `an after policy requests the next timeline from its date on`() async throws {
    try await TimelinesFixture.run("after", only: "Hourly", settings: Self.free) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "150m")
      let asked = try await fixture.journal.all().compactMap { $0.reading(RequestTimeline.self) }
      #expect(asked.filter { $0.purpose == .timeline }.map(\.because) == [.operator, .policy, .policy])
      #expect(try await fixture.shown() == ["0.0 Hourly 0", "60.0 Hourly 0", "120.0 Hourly 0"])
    }
  }

  @Test(.rule("TIMELINE-15")) func `an atEnd policy requests the next timeline after the last entry`() async throws {
    try await TimelinesFixture.run("at end", only: "AtEnd", settings: Self.free) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "45m")
      #expect(
        try await fixture.shown()
          == ["0.0 AtEnd 0", "20.0 AtEnd 20", "40.0 AtEnd 40", "40.0 AtEnd 0"])
    }
  }

  @Test(.rule("TIMELINE-16"), arguments: [("oneEntryPause: 900", 15.0), ("oneEntryPause: 60", 1)])
  func `a timeline with one entry is requested again after the pause that the system chooses`(
    setting: String, minutes: Double
  ) async throws {
    try await TimelinesFixture.run("one entry", only: "Single", settings: Self.free + [setting]) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "\(Int(minutes * 60 * 2.5))s")
      #expect(try await fixture.shown() == [0, 1, 2].map { "\(minutes * $0) Single 0" })
    }
  }

  @Test(.rule("TIMELINE-15")) func `a never policy requests no timeline until an explicit reload`() async throws {
    try await TimelinesFixture.run("never", only: "Never", settings: Self.free) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "24h")
      #expect(try await fixture.all(TimelineStored.self).count == 1)
      try await fixture.cluster.run("reload", "Never")
      try await fixture.stored(2)
    }
  }

  @Test(.rule("TIMELINE-11", "TIMELINE-12"))
  func `a widget shows the latest of its past entries, and unsorted entries are sorted`() async throws {
    try await TimelinesFixture.run("unsorted", only: "Unsorted", settings: Self.free) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "1h")
      #expect(try await fixture.shown() == ["0.0 Unsorted 0", "20.0 Unsorted 20", "40.0 Unsorted 40"])
    }
    try await TimelinesFixture.run("past", only: "Past", settings: Self.free) { fixture in
      try await fixture.begin()
      try await fixture.cluster.journal.waitFor("an entry is shown") { $0.kind == EntryShown.kind.name }
      #expect(try await fixture.shown() == ["-30.0 Past -30"])
    }
  }

  @Test(.rule("TIMELINE-04", "TIMELINE-05"))
  func `a text size change requests a new placeholder, which is shown where content is hidden`() async throws {
    try await TimelinesFixture.run("text size", only: "Counted") { fixture in
      try await fixture.begin()
      #expect(try await fixture.hidden() == "▒")
      try await fixture.cluster.run("setting", "text-size", "xLarge")
      try await fixture.stored(2)
      try await fixture.cluster.run("setting", "time")
      try await fixture.stored(3)
      let asked = try await fixture.journal.all().compactMap { $0.reading(RequestTimeline.self)?.purpose }
      #expect(asked == [.placeholder, .timeline, .placeholder, .timeline, .timeline])
      #expect(try await fixture.ledger().suffix(2) == ["system free system", "system free system"])
      #expect(try await fixture.hidden() == "▒▒")
      #expect(try await fixture.shown() == Array(repeating: "0.0 Counted 0", count: 3))
    }
  }

  @Test(.rule("TIMELINE-20")) func `a host that replaces a killed one shows the next entry`() async throws {
    try await TimelinesFixture.run("host", only: "Quarters", settings: Self.free) { fixture in
      try await fixture.begin()
      try await fixture.cluster.journal.waitFor("an entry is shown") { $0.kind == EntryShown.kind.name }
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await fixture.cluster.run("clock", "advance", "16m")
      #expect(try await fixture.shown() == ["0.0 Quarters 0", "15.0 Quarters 15"])
    }
  }
}

extension TimelinesFixture {
  /// The placeholder of the widget's text before the first unlock of the device.
  fileprivate func hidden() async throws -> String? {
    try await cluster.run("lock", "--restart")
    let screen = try await cluster.run("screen", "homeScreen")
    try await cluster.run("unlock")
    return screen.split(separator: "\n").lazy.compactMap { line in
      line.split(separator: " ").first { $0.allSatisfy { $0 == "▒" } }
    }.first.map(String.init)
  }
}
