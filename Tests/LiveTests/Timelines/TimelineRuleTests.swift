import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Sections 4.1 and 4.2 of the rules of WidgetKit, and those of a timeline's policy, over real processes.
@Suite(.live, .timeLimit(.live)) struct `a placed widget` {
  private static let free = ["developerMode: true"]

  @Test func `shows each entry at its time, by the host, while its extension sleeps`() async throws {
    try await TimelinesTrial.run("entries", only: "Quarters", settings: Self.free) { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "50m")
      #expect(
        try await trial.shown() == ["0.0 Quarters 0", "15.0 Quarters 15", "30.0 Quarters 30", "45.0 Quarters 45"])
      let asked = try await trial.journal.all().compactMap { $0.reading(RequestTimeline.self) }
      #expect(asked.map(\.purpose) == [.placeholder, .timeline])
      #expect(asked.map(\.placement) == [1, 1])
    }
  }

  @Test func `is asked again from the date of its policy on`() async throws {
    try await TimelinesTrial.run("after", only: "Hourly", settings: Self.free) { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "150m")
      let asked = try await trial.journal.all().compactMap { $0.reading(RequestTimeline.self) }
      #expect(asked.filter { $0.purpose == .timeline }.map(\.because) == [.operator, .policy, .policy])
      #expect(try await trial.shown() == ["0.0 Hourly 0", "60.0 Hourly 0", "120.0 Hourly 0"])
    }
  }

  @Test func `is asked again after its last entry`() async throws {
    try await TimelinesTrial.run("at end", only: "AtEnd", settings: Self.free) { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "45m")
      #expect(
        try await trial.shown()
          == ["0.0 AtEnd 0", "20.0 AtEnd 20", "40.0 AtEnd 40", "40.0 AtEnd 0"])
    }
  }

  @Test(arguments: [("oneEntryPause: 900", 15.0), ("oneEntryPause: 60", 1)])
  func `with one entry is asked again when the system chooses`(setting: String, minutes: Double) async throws {
    try await TimelinesTrial.run("one entry", only: "Single", settings: Self.free + [setting]) { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "\(Int(minutes * 60 * 2.5))s")
      #expect(try await trial.shown() == [0, 1, 2].map { "\(minutes * $0) Single 0" })
    }
  }

  @Test func `is never asked again by a policy of never, but by WidgetCenter or a person`() async throws {
    try await TimelinesTrial.run("never", only: "Never", settings: Self.free) { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "24h")
      #expect(try await trial.all(TimelineStored.self).count == 1)
      try await trial.cluster.run("reload", "Never")
      try await trial.stored(2)
    }
  }

  @Test func `shows the latest of past entries, and sorts them`() async throws {
    try await TimelinesTrial.run("unsorted", only: "Unsorted", settings: Self.free) { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "1h")
      #expect(try await trial.shown() == ["0.0 Unsorted 0", "20.0 Unsorted 20", "40.0 Unsorted 40"])
    }
    try await TimelinesTrial.run("past", only: "Past", settings: Self.free) { trial in
      try await trial.begin()
      try await trial.cluster.journal.waitFor("an entry is shown") { $0.kind == EntryShown.kind.name }
      #expect(try await trial.shown() == ["-30.0 Past -30"])
    }
  }

  @Test func `is asked for its placeholder again when the text size changes, which stands where its content is hidden`()
    async throws
  {
    try await TimelinesTrial.run("text size", only: "Counted") { trial in
      try await trial.begin()
      #expect(try await trial.hidden() == "▒")
      try await trial.cluster.run("setting", "text-size")
      try await trial.stored(2)
      try await trial.cluster.run("setting", "time")
      try await trial.stored(3)
      let asked = try await trial.journal.all().compactMap { $0.reading(RequestTimeline.self)?.purpose }
      #expect(asked == [.placeholder, .timeline, .placeholder, .timeline, .timeline])
      #expect(try await trial.ledger().suffix(2) == ["system free system", "system free system"])
      #expect(try await trial.hidden() == "▒▒")
      #expect(try await trial.shown() == Array(repeating: "0.0 Counted 0", count: 3))
    }
  }

  @Test func `shows the next entry from a host that was killed in between`() async throws {
    try await TimelinesTrial.run("host", only: "Quarters", settings: Self.free) { trial in
      try await trial.begin()
      try await trial.cluster.journal.waitFor("an entry is shown") { $0.kind == EntryShown.kind.name }
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await trial.cluster.run("clock", "advance", "16m")
      #expect(try await trial.shown() == ["0.0 Quarters 0", "15.0 Quarters 15"])
    }
  }
}

extension TimelinesTrial {
  /// What stands in the place of the widget's text before the device is unlocked for the first time.
  fileprivate func hidden() async throws -> String? {
    try await cluster.run("lock", "--restart")
    let screen = try await cluster.run("screen", "homeScreen")
    try await cluster.run("unlock")
    return screen.split(separator: "\n").lazy.compactMap { line in
      line.split(separator: " ").first { $0.allSatisfy { $0 == "▒" } }
    }.first.map(String.init)
  }
}
