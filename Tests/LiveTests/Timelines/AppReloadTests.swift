// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Reloads that an app requests, and their cost: section 4.3 of the rules of WidgetKit, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Reloads that an app requests` {
  @Test(.rule("BUDGET-03", "BUDGET-06"))
  func `an app in the foreground reloads its widgets at once and free; in the background it pays from the budget`()
    async throws
  {
    try await run("app reloads") { fixture in
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      let front = try await fixture.comesToFront()
      #expect(front.last == "app free app-in-foreground")
      let waitingReload = try await fixture.leavesFront()
      #expect(waitingReload.last == "app delayed budget")
      // The waiting reload runs at once when the user opens the app again.
      #expect(try await fixture.comesToFront().first == "app free app-in-foreground")
      #expect(try await fixture.leavesFront().last == "app delayed budget")
      let before = try await fixture.last
      try await fixture.cluster.run("clock", "advance", "2h")
      #expect(try await fixture.ledger(after: before) == ["app granted budget"])
      #expect(try await fixture.cluster.run("budget", "1").contains("granted by budget"))
      #expect(try await fixture.all(TimelineStored.self, after: before).map(\.because) == [.app])
    }
  }

  @Test(.rule("BUDGET-09"), arguments: [0, 30])
  func `an app's reload waits after the user opens it from the widget, if the policy sets a pause`(
    pause: Int
  ) async throws {
    try await run("opened", policy: "afterOpenedFromWidget: \(pause)") { fixture in
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      let tapped = try await fixture.moves(["tap", "1"], line: "in front", reloads: true)
      #expect(tapped == (pause > 0 ? ["app delayed opened-from-widget"] : ["app free app-in-foreground"]))
      let before = try await fixture.last
      try await fixture.cluster.run("clock", "advance", "31s")
      #expect(try await fixture.ledger(after: before) == (pause > 0 ? ["app free app-in-foreground"] : []))
      try await fixture.leavesFront()
      #expect(try await fixture.comesToFront().first == "app free app-in-foreground", "the widget did not open it")
    }
  }

  @Test(.rule("BUDGET-07"))
  func `an app with an audio, navigation or location session reloads free in the background, across a host kill`()
    async throws
  {
    try await run("activities") { fixture in
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      for (activity, rule) in [
        ("audio", "app-audio-session"), ("navigation", "app-navigation-session"), ("location", "app-location-service"),
      ] {
        try await fixture.comesToFront()
        #expect(try await fixture.leavesFront().last == "app delayed budget")
        let before = try await fixture.last
        #expect(try await fixture.cluster.run("app", "activity", activity).contains("\(GalleryFixture.app) "))
        try await fixture.cluster.eventually("the waiting reload runs") {
          try await fixture.ledger(after: before) == ["app free \(rule)"]
        }
        try await fixture.cluster.run("app", "activity", "none")
      }
      try await fixture.comesToFront()
      try await fixture.cluster.run("app", "activity", "audio")
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      #expect(try await fixture.cluster.run("look", "light").contains("has an audio session"))
      #expect(try await fixture.leavesFront().last == "app free app-audio-session")
    }
  }

  @Test(.rule("BUDGET-08"))
  func `an app with an activity is not suspended, and the activity ends with its process`() async throws {
    try await run("at work") { fixture in
      try await fixture.comesToFront(reloads: false)
      try await fixture.cluster.run("app", "activity", "audio")
      let before = try await fixture.last
      try await fixture.leavesFront(reloads: false)
      try await fixture.cluster.run("clock", "advance", "60s")
      #expect(try await !fixture.all(ProcessState.self, after: before).contains { $0.state == "suspended" && $0.isApp })
      try await fixture.cluster.run("app", "activity", "none")
      try await fixture.cluster.run("clock", "advance", "60s")
      #expect(try await fixture.all(ProcessState.self, after: before).contains { $0.state == "suspended" && $0.isApp })
      try await fixture.comesToFront(reloads: false)
      try await fixture.cluster.run("app", "activity", "audio")
      try await fixture.cluster.run("kill", "app")
      try await fixture.cluster.eventually("the session is over") {
        try await !fixture.cluster.run("look", "light").contains("audio")
      }
      #expect(try await fixture.refusal("app", "activity", "audio").contains("is not running"))
    }
  }

  @Test(.rule("TIMELINE-01", "GALLERY-12"))
  func `an app's reload reaches the widgets of each of its extensions, which run in separate processes`() async throws {
    let second = ["executable: FixtureWidgets", "environment:", "  TRIAL_WIDGETS: renamed"]
    try await run("two extensions", second: second) { fixture in
      let bundles = Dictionary(grouping: try await fixture.gallery("homeScreen"), by: \.bundle)
      #expect(Set(bundles.keys) == [GalleryFixture.bundle, GalleryFixture.second])
      try await fixture.add("Touch")
      try await fixture.add("Before")
      _ = try await fixture.entry(of: 1)
      _ = try await fixture.entry(of: 2)
      let before = try await fixture.last
      try await fixture.comesToFront()
      try await fixture.cluster.eventually("both have new timelines") {
        let stored = try await fixture.all(TimelineStored.self, after: before).filter { $0.because == .app }
        return Set(stored.map(\.placement)) == [1, 2]
      }
      let instances = try await fixture.all(ProcessStarted.self).filter { $0.address.role == .widgetExtension }
      #expect(Set(instances.map(\.address.bundleIdentifier)) == [GalleryFixture.bundle, GalleryFixture.second])
      #expect(Set(instances.map(\.pid)).count == 2)
    }
  }

  @Test(.rule("TIMELINE-01"))
  func `a reload by one extension reaches the widgets of all extensions of the app`() async throws {
    let second = ["executable: FixtureWidgets", "environment:", "  TRIAL_WIDGETS: renamed"]
    try await run("asked by another extension", second: second) { fixture in
      try await fixture.add("Touch")
      try await fixture.add("Before")
      _ = try await fixture.entry(of: 1)
      _ = try await fixture.entry(of: 2)
      try await fixture.cluster.run("clock", "advance", "2h")
      let before = try await fixture.last
      try await fixture.cluster.run("tap", "2", "--button", "2")
      try await fixture.cluster.eventually("the other extension's widget has a new timeline") {
        let stored = try await fixture.all(TimelineStored.self, after: before)
        return stored.contains { $0.placement == 1 && $0.because == .extension }
      }
    }
  }

  /// Runs a device with a clock held at noon, a budget that is empty at first, and an app that was launched and left.
  private func run(
    _ name: String, policy more: String = "", second: [String] = [],
    _ body: @Sendable (GalleryFixture) async throws -> Void
  ) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    let policy = "perDay: 24\ninitial: 0\nminimumSpacing: 0\nlearningDays: 0\n\(more)"
    try Data(policy.utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    try await GalleryFixture.run(
      name, settings: ["placesEachKind: false", "budget: \(path)"], product: GalleryFixture.touched,
      app: GalleryFixture.reloading, second: second, isLaunched: false
    ) { fixture in
      try await fixture.cluster.run("clock", "hold")
      try await fixture.cluster.run("clock", "set", "2026-03-01T12:00:00Z")
      let before = try await fixture.last
      try await fixture.comesToFront(reloads: false)
      try await fixture.leavesFront(reloads: false)
      // No widget is placed yet, so both of the app's reloads fail.
      try await fixture.cluster.eventually("both reloads of the launch are over") {
        try await fixture.all(ReloadFailed.self, after: before).count { $0.because == .app } >= 2
      }
      try await body(fixture)
    }
  }
}

extension ProcessState {
  fileprivate var isApp: Bool { address.role == .app }
}

extension GalleryFixture {
  /// Opens the app, which requests new timelines.
  ///
  /// - Returns: the new lines of the ledger, when all work is done.
  @discardableResult
  fileprivate func comesToFront(reloads: Bool = true) async throws -> [String] {
    try await moves(["app", "open"], line: "in front", reloads: reloads)
  }

  /// Sends the app to the background, which also requests new timelines.
  @discardableResult
  fileprivate func leavesFront(reloads: Bool = true) async throws -> [String] {
    try await moves(["app", "background"], line: "behind", reloads: reloads)
  }

  fileprivate func moves(_ command: [String], line: String, reloads: Bool) async throws -> [String] {
    let before = try await last
    let answer = try await cluster.attempt(command)
    guard answer.status == 0 else { throw LabError("\(command): \(answer.errors)") }
    try await printed(line, after: before)
    guard reloads else { return [] }
    let askedReload = try await journal.waitFor("the app requests new timelines", after: before) {
      $0.reading(ReloadTimelines.self) != nil
    }
    try await journal.waitFor("the budget decides", after: askedReload.sequence) {
      $0.reading(BudgetDecided.self) != nil
    }
    // An advance by zero waits for all work in progress.
    try await cluster.run("clock", "advance", "0s")
    return try await ledger(after: before)
  }
}
