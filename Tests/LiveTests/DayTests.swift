// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A day of a device in seconds: `clock advance 24h`.
@Suite(.live, .timeLimit(.live)) struct `A day of a device with twenty placements` {
  private static let configuration = """
    device:
      name: \(LiveFixture.device)
    extensions:
      - bundle: com.example.Day.Widget
        executable: FixtureExtension
        environment: {TRIAL_FIXTURE: day}
    settings:
      extensionMemoryLimit: 30
    """

  /// The events of the day that the host recorded.
  private struct Day: Equatable {
    var ledger: [LedgerEntry] = []
    var stored: [TimelineStored] = []
    var shown: [EntryShown] = []
    var seconds = 0.0

    static func == (left: Day, right: Day) -> Bool {
      left.ledger == right.ledger && left.stored == right.stored && left.shown == right.shown
    }
  }

  @Test func `a simulated day passes in seconds and is the same when it is repeated`() async throws {
    let first = try await day("first")
    let second = try await day("second")
    #expect(Set(first.ledger.map(\.placement)) == Set(1...20))
    #expect(Set(first.shown.map(\.placement)) == Set(1...20))
    #expect(first.ledger.filter { $0.verdict == .granted }.count > 200)
    #expect(first.ledger == second.ledger)
    #expect(first.stored == second.stored)
    #expect(first.shown == second.shown)
    for day in [first, second] {
      print(
        "a day: \(day.ledger.count) lines of the ledger, \(day.stored.count) timelines, \(day.shown.count) entries shown",
        "in \(day.seconds) s: \(Int(86_400 / day.seconds)) times as fast as time")
    }
  }

  private func day(_ name: String) async throws -> Day {
    try await LabCluster.with("\(name) day", configuration: Self.configuration) { cluster in
      try await cluster.run("clock", "hold")
      try await cluster.run("clock", "set", "2026-03-01T00:00:00Z")
      try await cluster.run("reload", "--all")
      _ = try await cluster.journal.waitFor("the first timeline of every widget") {
        $0.reading(TimelineStored.self)?.placement == 20
      }
      try await cluster.run("clock", "advance", "0s")
      let begun = ContinuousClock.now
      try await cluster.run("clock", "advance", "24h")
      var day = Day()
      day.seconds = (ContinuousClock.now - begun) / .seconds(1)
      for envelope in try await cluster.journal.all() {
        if let decided = envelope.reading(BudgetDecided.self) { day.ledger.append(decided.entry) }
        if let stored = envelope.reading(TimelineStored.self) { day.stored.append(stored) }
        if let shown = envelope.reading(EntryShown.self) { day.shown.append(shown) }
      }
      return day
    }
  }
}
