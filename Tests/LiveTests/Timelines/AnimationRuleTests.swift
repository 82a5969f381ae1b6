// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

@Suite(.live, .timeLimit(.live)) struct `Animation of entry changes` {
  @Test(.rule("TIMELINE-09", "BUDGET-12"))
  func `an entry change animates by the author's choice or the system's spring, for at most two seconds and free`()
    async throws
  {
    try await TimelinesFixture.run("animated", only: "Animated") { fixture in
      try await fixture.begin()
      let ledger = try await fixture.ledger()
      try await fixture.cluster.run("clock", "advance", "70m")
      let shown = try await fixture.all(EntryShown.self).map(\.animation)
      let spring = EntryAnimation(curve: "spring", seconds: 0.5, transition: "interpolate")
      #expect(
        shown == [
          nil, EntryAnimation(curve: "easeInOut", seconds: 0.7, transition: "interpolate"),
          EntryAnimation(curve: "linear", seconds: 2, transition: "interpolate"), nil, spring,
          EntryAnimation(curve: "spring", seconds: 0.5, transition: "numericText"),
          EntryAnimation(curve: "linear", seconds: 1, transition: "push bottom"),
          EntryAnimation(curve: "linear", seconds: 1, transition: "push bottom"),
        ])
      #expect(try await fixture.ledger() == ledger)
      #expect(
        try await fixture.cluster.run("tail", "--kind", "timeline.shown", "--no-follow").contains(
          "by easeInOut in 0.7 s")
      )
    }
  }

  @Test(.rule("TIMELINE-09", "TIMELINE-10"))
  func `an entry change is not animated on an Always-On display or out of sight, also across a host kill`()
    async throws
  {
    try await TimelinesFixture.run("always on", only: "Animated", model: "iPhone 16 Pro") { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("app", "open")
      try await fixture.journal.waitFor("the app runs") { $0.reading(AppActivation.self) != nil }
      try await fixture.cluster.run("add", "Animated", "--location", "lockScreen")
      try await fixture.stored(2)
      let refused = try await fixture.cluster.attempt(["look", "alwaysOn"])
      #expect(refused.status == 1 && refused.errors.contains("widgetlab lock"), "\(refused.errors)")
      try await fixture.cluster.run("lock")
      #expect(try await fixture.cluster.run("look", "alwaysOn") == "locked, lockScreen is visible, Always-On\n")
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      #expect(try await animations(fixture, advancing: "10m") == [nil, nil])
      #expect(try await fixture.cluster.run("look", "lockScreen") == "locked, lockScreen is visible\n")
      let second = try await animations(fixture, advancing: "10m")
      #expect(second.first == .some(nil) && second.last??.curve == "linear", "\(second)")
    }
  }

  /// The animations of the next entries: of the widget on the Home Screen, then of the one on the Lock Screen.
  private func animations(_ fixture: TimelinesFixture, advancing time: String) async throws -> [EntryAnimation?] {
    let before = try await fixture.all(EntryShown.self).count
    try await fixture.cluster.run("clock", "advance", time)
    return try await fixture.all(EntryShown.self).dropFirst(before).sorted { $0.placement < $1.placement }.map(
      \.animation)
  }
}
