// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

@Suite(.live, .timeLimit(.live)) struct `Widget stacks` {
  @Test(.rule("GALLERY-24"))
  func `a stack shows one of up to ten widgets of one size, and the user's turns survive a host kill`() async throws {
    let wanting = try FixtureInfoPlist(wantsLocation: true)
    defer { wanting.remove() }
    try await GalleryFixture.run("stack", product: [wanting.line]) { fixture in
      try await fixture.add("Touch")
      #expect(
        try await fixture.refusal("add", "Touch", "--stack", "1", "--family", "systemLarge").contains("same size"))
      for number in 2...10 { #expect(try await fixture.add("Touch", "--stack", "1").placement.id == number) }
      #expect(try await fixture.refusal("add", "Touch", "--stack", "4").contains("at most 10 widgets"))
      let seen = try await fixture.screen("homeScreen")
      #expect(seen.map(\.number) == [10] && seen.first?.covers == Array(1...9))
      #expect(try await fixture.cluster.run("screen").contains("on top of 1 Touch, 2 Touch"))
      #expect(
        try await fixture.cluster.run("turn", "2") == "2 is on top of the stack of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n")
      #expect(try await fixture.refusal("tap", "1").contains("1 is under 2 in its stack"))
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await fixture.cluster.isBack("host")
      #expect(try await fixture.entry(of: 2, at: "homeScreen").covers == Array(3...10) + [1])
      // Covered widgets are not visible.
      #expect(
        try await fixture.cluster.run("device", "moved")
          == "reloaded: 2; when seen: 1, 3, 4, 5, 6, 7, 8, 9, 10\n")
      try await fixture.cluster.run("turn", "7")
      try await fixture.journal.waitFor("the widget that is now on top is reloaded") {
        $0.reading(TimelineStored.self).map { $0.because == .location && $0.placement == 7 } ?? false
      }
      let turned = try await fixture.all(StackTurned.self).suffix(3)
      #expect(turned.map { "\($0.top) \($0.because)" } == ["10 added", "2 person", "7 person"])
      try await fixture.cluster.run("remove", "7")
      #expect(try await fixture.screen("homeScreen").map(\.number) == [8])
    }
  }

  /// Each turn: minutes after the stack was made, the widget that is on top from then on, and its score.
  @Test(
    .rule("GALLERY-25"),
    arguments: [
      ([], ["60 Noon 5", "120 Steady 1"]),
      (["smartRotatePause: 4500"], ["75 Noon 5", "150 Steady 1"]),
      (["smartRotatePause: 4500", "developerMode: true"], ["60 Noon 5", "120 Steady 1"]),
    ])
  func `a stack turns to the most relevant widget no more often than the setting allows, also across a host kill`(
    settings: [String], turns: [String]
  ) async throws {
    try await TimelinesFixture.run("smart rotate", only: "Relevant", settings: settings) { fixture in
      try await fixture.begin(2)
      try await fixture.cluster.run("app", "open")
      try await fixture.journal.waitFor("the app runs") { $0.reading(AppActivation.self) != nil }
      try await fixture.cluster.run("look", "homeScreen")
      try await fixture.cluster.run("remove", "1")
      try await fixture.cluster.run("add", "Steady", "--stack", "2")
      try await fixture.stored(3)
      try await fixture.cluster.run("clock", "advance", "50m")
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await fixture.cluster.isBack("host")
      try await fixture.cluster.run("clock", "advance", "110m")
      let turned = try await fixture.journal.all().compactMap { found -> String? in
        guard let turn = found.reading(StackTurned.self), turn.because == .relevance else { return nil }
        let minutes = turn.date.timeIntervalSince(TimelinesFixture.morning) / 60
        return "\(minutes.formatted()) \(turn.top == 2 ? "Noon" : "Steady") \((turn.score ?? 0).formatted())"
      }
      #expect(turned == turns)
    }
  }
}
