// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Section 4.3 of the rules of WidgetKit, over real processes.
@Suite(.live, .timeLimit(.live)) struct `The budget of a placed widget` {
  @Test(.rule("BUDGET-05"))
  func `policy reloads pay from the budget, adding and the operator's reload do not, and commands report all of them`()
    async throws
  {
    try await TimelinesFixture.run("budget", only: "Hourly") { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "61m")
      let ledger = try await fixture.ledger()
      #expect(
        ledger == [
          "added free added", "added merged newer-reload", "operator free paid-before", "policy granted budget",
        ])
      let page = try await fixture.cluster.run("budget")
      #expect(page.contains("policy: standard   developer mode: off"))
      #expect(page.contains("1          Hourly"))
      let report = try await fixture.cluster.run("budget", "1")
      #expect(report.contains("granted by budget"))
      let why = try await fixture.cluster.run("why", "3")
      #expect(why.contains("reload 3 of placement 1 (Hourly): because of policy"))
      #expect(why.contains("outcome: a timeline of 1 entry"))
      let unknown = try await fixture.cluster.attempt(["why", "99"])
      #expect(unknown.status == 1 && unknown.errors.contains("the journal does not contain reload 99"))
    }
  }

  @Test(.rule("BUDGET-05")) func `a reload after a change of a system setting is free`() async throws {
    try await TimelinesFixture.run("setting", only: "Never") { fixture in
      try await fixture.begin()
      let changes = [["locale", "de_DE"], ["text-size", "small"], ["bold-text", "on"], ["account"], ["time"]]
      for (number, change) in zip(2..., changes) {
        #expect(try await fixture.cluster.attempt(["setting"] + change).status == 0)
        #expect(try await fixture.stored(number).because == .system)
        #expect(try await fixture.ledger().last == "system free system")
      }
    }
  }

  @Test(
    .rule("SETTING-08"),
    arguments: [("Europe/London", "policy granted budget"), ("America/New_York", "policy delayed budget")])
  func `the budget accrues in the day of the device's time zone`(zone: String, line: String) async throws {
    // 06:00 in London, where the day begins; 01:00 in New York.
    try await run("day of \(zone)", policy: "initial: 0\nminimumSpacing: 0", only: "Hourly") { fixture in
      try await fixture.cluster.run("setting", "time-zone", zone)
      try await fixture.stored(2)
      try await fixture.cluster.run("kill", "host")
      try await fixture.cluster.run("clock", "advance", "61m")
      #expect(try await fixture.ledger().filter { $0.hasPrefix("policy") }.first == line)
    }
  }

  @Test(.rule("BUDGET-13"))
  func `a widget that was out of sight for hours reloads free when it becomes visible`() async throws {
    try await run("stale", policy: "minimumSpacing: 86400", only: "AtEnd") { fixture in
      try await fixture.cluster.run("look", "off")
      try await fixture.cluster.run("clock", "advance", "41m")
      #expect(try await fixture.ledger().last == "policy delayed minimum-spacing")
      try await fixture.cluster.run("look", "homeScreen")
      try await fixture.cluster.run("look", "off")
      try await fixture.cluster.run("clock", "advance", "7h")
      #expect(try await fixture.all(TimelineStored.self).count == 1, "a short display does not reload")
      try await fixture.cluster.run("look", "homeScreen")
      #expect(try await fixture.stored(2).because == .stale)
      #expect(try await fixture.ledger().last == "stale free stale")
    }
  }

  @Test(.rule("BUDGET-11"), arguments: [("standByEvery: 600", 3), ("standByEvery: none", 0)])
  func `StandBy reloads only the widgets that it shows, free and at its own rate`(
    policy: String, count: Int
  ) async throws {
    try await run("standby", policy: policy, only: "Never") { fixture in
      try await fixture.cluster.run("app", "open")
      try await fixture.cluster.eventually("the app was launched") {
        try await fixture.cluster.attempt(["add", "Never", "--location", "standBy"]).status == 0
      }
      try await fixture.stored(2)
      try await fixture.cluster.run("clock", "advance", "1h")
      #expect(try await fixture.all(TimelineStored.self).count == 2, "StandBy is not visible")
      try await fixture.cluster.run("look", "standBy")
      try await fixture.cluster.run("clock", "advance", "25m")
      // Once at once, since the last timeline is an hour old, and twice in 25 minutes.
      let ledger = try await fixture.ledger().filter { $0.hasPrefix("standBy") }
      #expect(ledger == Array(repeating: "standBy free standBy", count: count))
      let placements = try await fixture.all(TimelineStored.self).dropFirst(2).map(\.placement)
      #expect(placements == Array(repeating: 2, count: count))
      try await fixture.cluster.run("look", "homeScreen")
      try await fixture.cluster.run("clock", "advance", "1h")
      #expect(try await fixture.all(TimelineStored.self).count == 2 + count)
    }
  }

  @Test(.rule("BUDGET-14", "BUDGET-15")) func `developer mode bypasses the budget`() async throws {
    try await TimelinesFixture.run("developer", only: "Hourly", settings: ["developerMode: true"]) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "61m")
      #expect(try await fixture.ledger().last == "policy free developer-mode")
    }
  }

  @Test(
    .rule("BUDGET-03"),
    arguments: [("perDay: 24\ninitial: 0", "policy delayed budget"), ("perDay: none", "policy granted no-budget")])
  func `the policy file sets the budget`(policy: String, verdict: String) async throws {
    try await run("policy", policy: policy, only: "AtEnd") { fixture in
      try await fixture.cluster.run("clock", "advance", "41m")
      #expect(try await fixture.ledger().last == verdict)
    }
  }

  @Test(
    .rule("BUDGET-01", "BUDGET-02"),
    arguments: [
      // One reload an hour accrues from 06:00 on; the policy requests the next timeline at 06:40.
      ("", "homeScreen", 60.0), ("learningDays: 1\nlearningFactor: 2", "homeScreen", 40),
      ("unseenAfter: 0", "off", 240),
      (
        "hours: [\(["0", "0", "0", "0", "0", "0", "0", "0", "1"].joined(separator: ", "))"
          + String(repeating: ", 0", count: 15) + "]", "homeScreen", 122.5
      ),
    ])
  func `the budget accrues by the hours of the user's day, more for a new widget and less for an unseen one`(
    more: String, seen: String, minutes: Double
  ) async throws {
    let even = more.contains("hours") ? "" : "hours: [\(Array(repeating: "1", count: 24).joined(separator: ", "))]\n"
    let policy = "perDay: 24\ninitial: 0\n\(even)\(more)"
    try await run("accrual", policy: policy, only: "AtEnd", looksAt: seen) { fixture in
      try await fixture.cluster.run("clock", "advance", "5h")
      let lines = try await fixture.all(BudgetDecided.self).map(\.entry)
      let granted = try #require(lines.first { $0.verdict == .granted })
      let seconds = granted.date.timeIntervalSince(TimelinesFixture.morning)
      #expect((minutes * 60...minutes * 60 + 1).contains(seconds.rounded()), "\(lines)")
    }
  }

  @Test(
    .rule("BUDGET-01", "BUDGET-04"),
    arguments: [
      ("perDay: 2\ninitial: 10\nminimumSpacing: 0", ["granted budget", "granted budget", "delayed window"]),
      ("perDay: none\nminimumSpacing: 5400", ["delayed minimum-spacing", "granted no-budget"]),
    ])
  func `the budget holds in any 24 hours and keeps the reloads of a placement apart`(
    policy: String, verdicts: [String]
  ) async throws {
    try await run("window", policy: policy, only: "Hourly") { fixture in
      try await fixture.cluster.run("clock", "advance", "200m")
      let ledger = try await fixture.ledger().filter { $0.hasPrefix("policy ") }.prefix(verdicts.count)
      #expect(Array(ledger) == verdicts.map { "policy \($0)" })
    }
  }

  /// Runs a device with its own budget policy; the first timeline is stored.
  private func run(
    _ name: String, policy: String, only: String, looksAt place: String? = nil,
    body: @Sendable (TimelinesFixture) async throws -> Void
  ) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    let learning = policy.contains("learningDays") ? "" : "\nlearningDays: 0"
    try Data((policy + learning).utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    try await TimelinesFixture.run(name, only: only, settings: ["budget: \(path)"]) { fixture in
      if let place { try await fixture.cluster.run("look", place) }
      try await fixture.begin()
      try await body(fixture)
    }
  }

  @Test(.rule("BUDGET-01"))
  func `two days with the same start have the same budget decisions and entries`() async throws {
    var days: [[String]] = []
    for _ in 1...2 {
      let (received, continuation) = AsyncStream.makeStream(of: [String].self)
      try await TimelinesFixture.run("day") { fixture in
        try await fixture.begin(5)
        try await fixture.cluster.run("clock", "advance", "24h")
        let ledger = try await fixture.all(BudgetDecided.self).map {
          "\($0.entry.number) \($0.entry.date) \($0.entry.placement) \($0.entry.because) \($0.entry.verdict) \($0.entry.balance)"
        }
        continuation.yield(ledger + (try await fixture.shown()))
      }
      if let day = await received.first(where: { _ in true }) { days.append(day) }
    }
    #expect(days[0].count > 300)
    #expect(days[0] == days[1])
  }
}
