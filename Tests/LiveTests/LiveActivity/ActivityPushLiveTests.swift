// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Pushes of the type liveactivity, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Pushes to Live Activities` {
  /// 2026-03-01T06:00:00Z.
  private static let six = 1_772_344_800

  @Test(.rule("ACTIVITY-06", "ACTIVITY-13", "ACTIVITY-14", "ACTIVITY-21"))
  func `a push starts an activity and launches the app, which gets the token for updates when the user allows it`()
    async throws
  {
    try await ActivitiesFixture.run("activity pushed", requests: false) { fixture in
      // The app was launched once, so that its backend has the token.
      try await fixture.cluster.run("reload", "--all")
      try await fixture.cluster.run("app", "open")
      try await fixture.app.prints("start token ")
      let tokens = try await fixture.cluster.run("token", "list")
      #expect(tokens.contains("liveactivity-start-RideAttributes"), "\(tokens)")
      try await fixture.cluster.run("app", "background")
      try await fixture.cluster.run("kill", "app")
      let start = try await fixture.push(
        "start",
        #""attributes-type":"RideAttributes","attributes":{"rider":"Joan"},"content-state":{"minutes":8},"alert":"x""#,
        to: ["--starts", ActivitiesFixture.type], timestamp: Self.six)
      try await fixture.step(start, name: .handled, detail: "started")
      try await fixture.moved(.archived, text: "in 8 minutes")
      try await fixture.app.prints("activity of Joan, active")
      #expect(try await fixture.cluster.run("activity", "list").contains("token none until the user allows"))
      let lock = try await fixture.cluster.run("activity", "show", "1")
      #expect(lock.contains("Allow Live Activities of com.example.Rides?"), "\(lock)")
      try await fixture.cluster.run("activity", "allow", "yes")
      try await fixture.app.prints("update token \(try await fixture.token(1))")
      #expect(try await !fixture.cluster.run("activity", "show", "1").contains("Allow Live Activities"))

      let stale = Self.six + 60
      let update = try await fixture.push(
        "update", #""content-state":{"minutes":2},"stale-date":\#(stale),"relevance-score":9"#, timestamp: Self.six + 1)
      try await fixture.step(update, name: .handled, detail: "updated")
      try await fixture.moved(.archived, text: "in 2 minutes")
      #expect(try await fixture.activities().first?.content.relevanceScore == 9)
      let late = try await fixture.push("update", #""content-state":{"minutes":4}"#, timestamp: Self.six)
      try await fixture.step(late, name: .discarded, detail: "newer")
      try await fixture.cluster.run("clock", "advance", "1m")
      try await fixture.moved(.stale)

      let end = try await fixture.push(
        "end", #""content-state":{"minutes":0},"dismissal-date":\#(Self.six + 3600)"#, timestamp: Self.six + 2)
      try await fixture.step(end, name: .handled, detail: "ended")
      // It was suspended in the meantime.
      try await fixture.tell("wake")
      try await fixture.app.prints("state ended")
      try await fixture.journal.waitFor("the token is released") {
        let token = $0.reading(TokenChanged.self)?.token
        return token?.subject.use == .liveActivity(1) && token?.state == .unregistered
      }
      try await fixture.cluster.run("clock", "advance", "58m")
      #expect(try await fixture.activities().count == 1)
      try await fixture.cluster.run("clock", "advance", "1m")
      try await fixture.moved(.dismissed)
    }
  }

  @Test(.rule("ACTIVITY-18", "ACTIVITY-19", "ACTIVITY-20"))
  func `a start without an alert or of other types shows nothing, and one that is shown replaces the token`()
    async throws
  {
    try await ActivitiesFixture.run("activity starts", requests: false) { fixture in
      try await fixture.cluster.run("reload", "--all")
      try await fixture.cluster.run("app", "open")
      let first = try await fixture.app.prints("start token ")
      func start(_ attributes: String, _ alert: String) async throws -> UUID {
        try await fixture.push(
          "start",
          #""attributes-type":"RideAttributes","attributes":\#(attributes),"content-state":{"minutes":8}\#(alert)"#,
          to: ["--starts", ActivitiesFixture.type], timestamp: Self.six)
      }
      let silent = try await start(#"{"rider":"Joan"}"#, "")
      try await fixture.step(silent, name: .discarded, detail: "alert is missing")
      for _ in 1...6 {
        let wrong = try await start(#"{"driver":"Joan"}"#, #","alert":"x""#)
        try await fixture.step(wrong, name: .discarded, detail: "no JSON of")
      }
      #expect(try await fixture.activities().isEmpty)
      let right = try await start(#"{"rider":"Joan"}"#, #","alert":"x""#)
      try await fixture.step(right, name: .handled, detail: "started")
      #expect(try await fixture.activities().count == 1)
      try await fixture.app.prints("start token ", after: first.sequence)
    }
  }

  @Test(.rule("ACTIVITY-15"))
  func `updates of priority 10 beyond the budget are not shown, but those of priority 5 are`() async throws {
    try await ActivitiesFixture.run("activity budget", settings: ["activityPushBudget: 2"]) { fixture in
      try await fixture.begin()
      for number in 1...2 {
        let push = try await fixture.push(
          "update", #""content-state":{"minutes":\#(10 + number)}"#, timestamp: Self.six + number)
        try await fixture.step(push, name: .handled, detail: "updated")
      }
      let third = try await fixture.push("update", #""content-state":{"minutes":13}"#, timestamp: Self.six + 3)
      try await fixture.step(third, name: .budget, detail: "priority 10")
      let five = try await fixture.push(
        "update", #""content-state":{"minutes":14}"#, timestamp: Self.six + 4, priority: 5)
      try await fixture.step(five, name: .handled, detail: "updated")
      try await fixture.moved(.archived, text: "in 14 minutes")
      // Half an hour earns one of two.
      try await fixture.cluster.run("clock", "advance", "30m")
      let later = try await fixture.push("update", #""content-state":{"minutes":15}"#, timestamp: Self.six + 5)
      try await fixture.step(later, name: .handled, detail: "updated")
    }
  }

  @Test(.rule("ACTIVITY-16"))
  func `an activity survives kills of each process`() async throws {
    try await ActivitiesFixture.run("activity kills", settings: ["developerMode: true"], diesOnce: true) { fixture in
      // The extension exits once while it is asked for the first views.
      let token = try await fixture.begin()
      var minutes = 20
      let victims = ["host", "app", "extension", "push-server", "bus", "agent", "host"]
      for (position, victim) in victims.enumerated() {
        let after = try await fixture.journal.all().last?.sequence ?? 0
        if victim != "extension" {
          try await fixture.cluster.run("kill", victim)
          for name in ["bus": ["bus", "host", "agent/1"], "agent": ["agent/1"]][victim] ?? [] {
            try await fixture.cluster.eventually("\(name) replies") {
              try await fixture.cluster.attempt(["ping", name]).status == 0
            }
          }
          if ["host", "push-server"].contains(victim) { try await fixture.cluster.isBack(victim) }
        } else {
          // It may be suspended, or be gone.
          _ = try await fixture.cluster.attempt(["kill", victim])
        }
        minutes += 1
        let push = try await fixture.push(
          "update", #""content-state":{"minutes":\#(minutes)}"#, to: ["--token", token], timestamp: Self.six + position)
        try await fixture.step(push, name: .handled, detail: "updated")
        try await fixture.moved(.archived, text: "in \(minutes) minutes", after: after)
        let all = try await fixture.activities()
        #expect(all.count == 1 && all.first?.token == token, "after the kill of \(victim): \(all)")
      }
      try await fixture.cluster.run("kill", "host")
      try await fixture.cluster.isBack("host")
      try await fixture.cluster.run("clock", "advance", "8h")
      try await fixture.moved(.ended, because: .system)
      // The app was killed: its next instance sees the activity that has ended.
      try await fixture.cluster.run("app", "open")
      try await fixture.app.prints("activity of Ada, ended")
    }
  }

  @Test(.rule("ACTIVITY-17"))
  func `without aps-environment a request with a push type fails, and nothing is shown`() async throws {
    try await ActivitiesFixture.run("activity unentitled", isEntitled: false) { fixture in
      try await fixture.cluster.run("app", "open")
      try await fixture.app.prints("refused Error Domain=com.apple.ActivityKit.ActivityInput Code=0")
      try await fixture.journal.waitFor("the token is withheld") {
        let withheld = $0.reading(PushWithheld.self)
        return withheld?.address == ActivitiesFixture.app && withheld?.reason == .noEntitlement
          && withheld?.handlers == ["pushTokenUpdates"]
      }
      #expect(try await fixture.activities().isEmpty)
    }
  }
}
