// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Live Activities over real processes: the app requests, the host keeps, the extension shows.
@Suite(.live, .timeLimit(.live)) struct `Live Activities` {
  @Test(.rule("ACTIVITY-01", "ACTIVITY-02", "ACTIVITY-10", "ACTIVITY-12"))
  func `an app requests an activity, updates it in the background and ends it, and the screen shows each state`()
    async throws
  {
    try await ActivitiesFixture.run("activity app") { fixture in
      try await fixture.begin()
      try await fixture.app.prints("enabled true, activities 0")
      try await fixture.app.prints("requested 5")
      try await fixture.app.prints("update token ")
      try await fixture.cluster.run("app", "background")
      let home = try await fixture.cluster.run("screen", "homeScreen")
      #expect(home.contains("Dynamic Island, compact") && home.contains("5m"), "\(home)")

      try await fixture.tell("update 3")
      try await fixture.app.prints("updated 3")
      try await fixture.moved(.archived, text: "in 3 minutes")
      try await fixture.app.prints("content 3")
      try await fixture.cluster.run("lock")
      let lock = try await fixture.cluster.run("screen", "lockScreen")
      #expect(lock.contains("Lock Screen") && lock.contains("in 3 minutes") && lock.contains("Ada"), "\(lock)")

      try await fixture.tell("end 0")
      try await fixture.moved(.ended, because: .app)
      try await fixture.app.prints("state ended")
      try await fixture.cluster.run("clock", "advance", "4h")
      try await fixture.moved(.dismissed, because: .system)
      // It was suspended in the meantime.
      try await fixture.tell("wake")
      try await fixture.app.prints("state dismissed")
      try await fixture.app.prints("no more states")
      #expect(try await fixture.activities().isEmpty)
    }
  }

  @Test(.rule("ACTIVITY-22"))
  func `a button of an activity performs its intent in the app, which updates it, and a toggle in the extension`()
    async throws
  {
    try await ActivitiesFixture.run("activity tap") { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("app", "background")
      let button = ["activity", "tap", "1", "--presentation", "lockScreen", "--button", "1"]
      for victim in [nil, "app"] {
        if let victim { try await fixture.cluster.run("kill", victim) }
        let before = try await fixture.journal.all().last?.sequence ?? 0
        let tapped = try await fixture.cluster.attempt(button)
        #expect(tapped.status == 0 && tapped.output.contains("was performed by app"), "\(tapped)")
        try await fixture.app.prints("hurried", after: before)
        try await fixture.moved(.archived, text: "in \(victim == nil ? 2 : -1) minutes")
      }
      let toggled = try await fixture.cluster.run("activity", "tap", "1", "--button", "1")
      #expect(toggled.contains("was performed by extension"), "\(toggled)")
      try await fixture.widget.prints("hushed")
      try await fixture.cluster.run("lock")
      let locked = try await fixture.cluster.attempt(button)
      #expect(locked.output.contains("nothing happens"), "\(locked)")
    }
  }

  @Test(.rule("ACTIVITY-05", "ACTIVITY-07"))
  func `content becomes stale at its date, and the system ends an activity after eight hours`() async throws {
    try await ActivitiesFixture.run("activity clock") { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("clock", "advance", "10m")
      try await fixture.moved(.stale, because: .system)
      try await fixture.moved(.archived, text: "late")
      try await fixture.app.prints("state stale")
      try await fixture.cluster.run("clock", "advance", "469m")
      #expect(try await fixture.activities().map(\.phase) == [.stale])
      try await fixture.cluster.run("clock", "advance", "1m")
      let ended = try await fixture.moved(.ended, because: .system).body.activity
      let stays = try #require(ended.dismissAt).timeIntervalSince(try #require(ended.endedAt))
      #expect(abs(stays - 14_400) < 1)
      try await fixture.cluster.run("clock", "advance", "239m")
      #expect(try await fixture.activities().map(\.phase) == [.ended])
      try await fixture.cluster.run("clock", "advance", "1m")
      try await fixture.moved(.dismissed, because: .system)
    }
  }

  @Test(.rule("ACTIVITY-03", "ACTIVITY-04", "ACTIVITY-11"))
  func `an activity is refused in the background, when it is too large, forbidden or one too many`() async throws {
    try await ActivitiesFixture.run("activity refused", settings: ["activityLimit: 2"]) { fixture in
      try await fixture.begin()
      try await fixture.tell("large")
      try await fixture.app.prints("refused attributesTooLarge")
      try await fixture.tell("request Grace")
      try await fixture.moved(.started, 2)
      try await fixture.tell("request Joan")
      try await fixture.app.prints("refused targetMaximumExceeded")
      try await fixture.cluster.run("app", "background")
      try await fixture.tell("request Ida")
      try await fixture.app.prints("refused visibility")

      try await fixture.cluster.run("activity", "allow", "no")
      for number in [1, 2] { try await fixture.moved(.dismissed, number) }
      try await fixture.cluster.run("app", "open")
      try await fixture.app.prints("refused denied")
      let refused = try await fixture.cluster.attempt(["activity", "start", ActivitiesFixture.type])
      #expect(refused.status == 1 && refused.errors.contains("activities-denied"), "\(refused.errors)")
    }
  }

  @Test(.rule("ACTIVITY-08"))
  func `the operator starts, updates, dismisses an activity, and content of another type keeps the former views`()
    async throws
  {
    try await ActivitiesFixture.run("activity operator", requests: false) { fixture in
      try await fixture.cluster.run(
        "activity", "start", ActivitiesFixture.type, "--attributes", #"{"rider":"Ada"}"#, "--state", #"{"minutes":9}"#)
      try await fixture.moved(.archived, text: "in 9 minutes")
      try await fixture.cluster.run("activity", "update", "1", "--state", #"{"hours":1}"#)
      let refused = try await fixture.moved(.notArchived).body
      #expect(refused.text.first?.contains("ContentState") == true, "\(refused.text)")
      let shown = try await fixture.cluster.run("activity", "show", "1")
      #expect(shown.contains("in 9 minutes") && shown.contains("  ! ") && shown.contains("leading:"), "\(shown)")
      try await fixture.cluster.run("activity", "dismiss", "1")
      #expect(try await fixture.activities().isEmpty)
      let unknown = try await fixture.cluster.attempt(["activity", "end", "1"])
      #expect(unknown.status == 1 && unknown.errors.contains("no-such-activity"), "\(unknown.errors)")
    }
  }

  @Test(.rule("ACTIVITY-09"))
  func `two activities are minimal in the Dynamic Island by their relevance, and a phone without it has none`()
    async throws
  {
    for (model, hasIsland) in [("iPhone 16", true), ("iPhone 14", false)] {
      try await ActivitiesFixture.run("activity island", requests: false, model: model) { fixture in
        for (number, minutes) in [(1, 7), (2, 8), (3, 9)] {
          try await fixture.cluster.run(
            "activity", "start", ActivitiesFixture.type, "--attributes", #"{"rider":"Ada"}"#, "--state",
            #"{"minutes":\#(minutes)}"#, "--relevance", number == 3 ? "0" : "\(number)")
          try await fixture.moved(.archived, number)
        }
        let text = try await fixture.cluster.run("screen", "homeScreen", "--json")
        let screen = try JSONDecoder().decode(Screen.self, from: Data(text.utf8))
        #expect(screen.activities.map(\.number) == [2, 1, 3])
        #expect(screen.activities.map(\.place) == (hasIsland ? ["minimal", "minimal", nil] : [nil, nil, nil]))
        for presentation in ["lockScreen", "compact", "minimal", "expanded"] {
          let file = fixture.cluster.folder + "/\(presentation).svg"
          try await fixture.cluster.run("activity", "show", "1", "--presentation", presentation, "--picture", file)
          #expect(try String(contentsOfFile: file, encoding: .utf8).contains("<svg"))
        }
        let file = fixture.cluster.folder + "/lock.svg"
        let printed = try await fixture.cluster.run("screen", "lockScreen", "--picture", file)
        #expect(printed.contains("3 Live Activities"), "\(printed)")
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("in 8 minutes"))
      }
    }
  }

  private struct Screen: Decodable {
    struct Activity: Decodable {
      let number: Int
      let place: String?
    }
    let activities: [Activity]
  }
}
