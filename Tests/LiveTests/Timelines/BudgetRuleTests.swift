import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Section 4.3 of the rules of WidgetKit, over real processes.
@Suite struct `the budget of a placed widget` {
  @Test func `pays for what its policy asks, not for adding and for a person, and tells of both`() async throws {
    try await TimelinesTrial.run("budget", only: "Hourly") { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "61m")
      let ledger = try await trial.ledger()
      #expect(
        ledger == [
          "added free added", "added merged newer-reload", "operator free paid-before", "policy granted budget",
        ])
      let page = try await trial.cluster.run("budget")
      #expect(page.contains("policy: standard   developer mode: off"))
      #expect(page.contains("1          Hourly"))
      let report = try await trial.cluster.run("budget", "1")
      #expect(report.contains("granted by budget"))
      let why = try await trial.cluster.run("why", "3")
      #expect(why.contains("reload 3 of placement 1 (Hourly): because of policy"))
      #expect(why.contains("outcome: a timeline of 1 entries"))
      let unknown = try await trial.cluster.attempt(["why", "99"])
      #expect(unknown.status == 1 && unknown.errors.contains("the journal has no reload 99"))
    }
  }

  @Test func `is spared what the system asks for when one of its settings changes`() async throws {
    try await TimelinesTrial.run("setting", only: "Never") { trial in
      try await trial.begin()
      try await trial.cluster.run("setting", "locale")
      let stored = try await trial.stored(2)
      #expect(stored.because == .system)
      #expect(try await trial.ledger().last == "system free system")
    }
  }

  @Test func `is passed over in developer mode`() async throws {
    try await TimelinesTrial.run("developer", only: "Hourly", settings: ["developerMode: true"]) { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "61m")
      #expect(try await trial.ledger().last == "policy free developer-mode")
    }
  }

  @Test(arguments: [("perDay: 24\ninitial: 0", "policy delayed budget"), ("perDay: none", "policy granted no-budget")])
  func `is what the policy's file says`(policy: String, verdict: String) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    try Data((policy + "\nlearningDays: 0").utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    try await TimelinesTrial.run("policy", only: "AtEnd", settings: ["budget: \(path)"]) { trial in
      try await trial.begin()
      try await trial.cluster.run("clock", "advance", "41m")
      #expect(try await trial.ledger().last == verdict)
    }
  }

  @Test func `comes to the same in two days that begin alike`() async throws {
    var days: [[String]] = []
    for _ in 1...2 {
      let (told, continuation) = AsyncStream.makeStream(of: [String].self)
      try await TimelinesTrial.run("day") { trial in
        try await trial.begin(5)
        try await trial.cluster.run("clock", "advance", "24h")
        let ledger = try await trial.all(BudgetDecided.self).map {
          "\($0.entry.number) \($0.entry.date) \($0.entry.placement) \($0.entry.because) \($0.entry.verdict) \($0.entry.balance)"
        }
        continuation.yield(ledger + (try await trial.shown()))
      }
      if let day = await told.first(where: { _ in true }) { days.append(day) }
    }
    #expect(days[0].count > 300)
    #expect(days[0] == days[1])
  }
}
