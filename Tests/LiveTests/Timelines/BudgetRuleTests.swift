import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Section 4.3 of the rules of WidgetKit, over real processes.
@Suite(.live, .timeLimit(.live)) struct `the budget of a placed widget` {
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
      for (number, setting) in zip(2..., ["locale", "text-size", "accessibility", "account", "time"]) {
        try await trial.cluster.run("setting", setting)
        #expect(try await trial.stored(number).because == .system)
        #expect(try await trial.ledger().last == "system free system")
      }
    }
  }

  @Test func `is spared what waits for a widget that was out of sight for hours, when it is looked at`() async throws {
    try await run("stale", "minimumSpacing: 86400", only: "AtEnd") { trial in
      try await trial.cluster.run("look", "off")
      try await trial.cluster.run("clock", "advance", "41m")
      #expect(try await trial.ledger().last == "policy delayed minimum-spacing")
      try await trial.cluster.run("look", "homeScreen")
      try await trial.cluster.run("look", "off")
      try await trial.cluster.run("clock", "advance", "7h")
      #expect(try await trial.all(TimelineStored.self).count == 1, "a short look was not enough")
      try await trial.cluster.run("look", "homeScreen")
      #expect(try await trial.stored(2).because == .stale)
      #expect(try await trial.ledger().last == "stale free stale")
    }
  }

  @Test(arguments: [("standByEvery: 600", 3), ("standByEvery: none", 0)])
  func `has new timelines of what StandBy shows, free, at its own rate, and of nothing else`(
    policy: String, count: Int
  ) async throws {
    try await run("standby", policy, only: "Never") { trial in
      try await trial.cluster.run("app", "open")
      try await trial.cluster.eventually("the app was launched") {
        try await trial.cluster.attempt(["add", "Never", "--location", "standBy"]).status == 0
      }
      try await trial.stored(2)
      try await trial.cluster.run("clock", "advance", "1h")
      #expect(try await trial.all(TimelineStored.self).count == 2, "it is not looked at")
      try await trial.cluster.run("look", "standBy")
      try await trial.cluster.run("clock", "advance", "25m")
      // At once, since the last one is an hour old, and twice in 25 minutes.
      let ledger = try await trial.ledger().filter { $0.hasPrefix("standBy") }
      #expect(ledger == Array(repeating: "standBy free standBy", count: count))
      let placements = try await trial.all(TimelineStored.self).dropFirst(2).map(\.placement)
      #expect(placements == Array(repeating: 2, count: count))
      try await trial.cluster.run("look", "homeScreen")
      try await trial.cluster.run("clock", "advance", "1h")
      #expect(try await trial.all(TimelineStored.self).count == 2 + count)
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
    try await run("policy", policy, only: "AtEnd") { trial in
      try await trial.cluster.run("clock", "advance", "41m")
      #expect(try await trial.ledger().last == verdict)
    }
  }

  @Test(arguments: [
    // At six in the morning one reload an hour accrues; the provider is to be asked again at 6:40.
    ("", "homeScreen", 60.0), ("learningDays: 1\nlearningFactor: 2", "homeScreen", 40),
    ("unseenAfter: 0", "off", 240),
    (
      "hours: [\(["0", "0", "0", "0", "0", "0", "0", "0", "1"].joined(separator: ", "))"
        + String(repeating: ", 0", count: 15) + "]", "homeScreen", 122.5
    ),
  ])
  func `accrues in the hours of the person's day, more while it is new, less while nobody sees it`(
    more: String, seen: String, minutes: Double
  ) async throws {
    let even = more.contains("hours") ? "" : "hours: [\(Array(repeating: "1", count: 24).joined(separator: ", "))]\n"
    let policy = "perDay: 24\ninitial: 0\n\(even)\(more)"
    try await run("accrual", policy, only: "AtEnd", looksAt: seen) { trial in
      try await trial.cluster.run("clock", "advance", "5h")
      let lines = try await trial.all(BudgetDecided.self).map(\.entry)
      let granted = try #require(lines.first { $0.verdict == .granted })
      let seconds = granted.date.timeIntervalSince(TimelinesTrial.morning)
      #expect((minutes * 60...minutes * 60 + 1).contains(seconds.rounded()), "\(lines)")
    }
  }

  @Test(arguments: [
    ("perDay: 2\ninitial: 10\nminimumSpacing: 0", ["granted budget", "granted budget", "delayed window"]),
    ("perDay: none\nminimumSpacing: 5400", ["delayed minimum-spacing", "granted no-budget"]),
  ])
  func `holds in any 24 hours, and reloads of a placement apart`(policy: String, verdicts: [String]) async throws {
    try await run("window", policy, only: "Hourly") { trial in
      try await trial.cluster.run("clock", "advance", "200m")
      let ledger = try await trial.ledger().filter { $0.hasPrefix("policy ") }.prefix(verdicts.count)
      #expect(Array(ledger) == verdicts.map { "policy \($0)" })
    }
  }

  /// A device with a policy of its own, whose first timeline has come.
  private func run(
    _ name: String, _ policy: String, only: String, looksAt place: String? = nil,
    _ body: @Sendable (TimelinesTrial) async throws -> Void
  ) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    let learning = policy.contains("learningDays") ? "" : "\nlearningDays: 0"
    try Data((policy + learning).utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    try await TimelinesTrial.run(name, only: only, settings: ["budget: \(path)"]) { trial in
      if let place { try await trial.cluster.run("look", place) }
      try await trial.begin()
      try await body(trial)
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
