import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Reloads that an app asks for, and who pays: section 4.3 of the rules of WidgetKit, over real processes.
@Suite(.live, .timeLimit(.live)) struct `an app that reloads its widgets` {
  @Test func `has it free and at once in front, and waits for the budget behind`() async throws {
    try await run("app reloads") { trial in
      try await trial.add("Touch")
      _ = try await trial.entry(of: 1)
      let front = try await trial.comesToFront()
      #expect(front.last == "app free app-in-foreground")
      let waiting = try await trial.leavesFront()
      #expect(waiting.last == "app delayed budget")
      // What waited comes at once when the person opens the app again.
      #expect(try await trial.comesToFront().first == "app free app-in-foreground")
      #expect(try await trial.leavesFront().last == "app delayed budget")
      let before = try await trial.last
      try await trial.cluster.run("clock", "advance", "2h")
      #expect(try await trial.ledger(after: before) == ["app granted budget"])
      #expect(try await trial.cluster.run("budget", "1").contains("granted by budget"))
      #expect(try await trial.all(TimelineStored.self, after: before).map(\.because) == [.app])
    }
  }

  @Test(arguments: [0, 30])
  func `waits with what it reloads right after a person opened it from the widget, where the policy says so`(
    pause: Int
  ) async throws {
    try await run("opened", policy: "afterOpenedFromWidget: \(pause)") { trial in
      try await trial.add("Touch")
      _ = try await trial.entry(of: 1)
      let tapped = try await trial.moves(["tap", "1"], "in front", true)
      #expect(tapped == (pause > 0 ? ["app delayed opened-from-widget"] : ["app free app-in-foreground"]))
      let before = try await trial.last
      try await trial.cluster.run("clock", "advance", "31s")
      #expect(try await trial.ledger(after: before) == (pause > 0 ? ["app free app-in-foreground"] : []))
      try await trial.leavesFront()
      #expect(try await trial.comesToFront().first == "app free app-in-foreground", "the widget did not open it")
    }
  }

  @Test func `has it free behind the front while it plays, leads or follows, over the host's death`() async throws {
    try await run("activities") { trial in
      try await trial.add("Touch")
      _ = try await trial.entry(of: 1)
      for (activity, rule) in [
        ("audio", "app-audio-session"), ("navigation", "app-navigation-session"), ("location", "app-location-service"),
      ] {
        try await trial.comesToFront()
        #expect(try await trial.leavesFront().last == "app delayed budget")
        let before = try await trial.last
        #expect(try await trial.cluster.run("app", "activity", activity).contains("\(GalleryTrial.app) "))
        try await trial.cluster.eventually("what waited comes") {
          try await trial.ledger(after: before) == ["app free \(rule)"]
        }
        try await trial.cluster.run("app", "activity", "none")
      }
      try await trial.comesToFront()
      try await trial.cluster.run("app", "activity", "audio")
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      #expect(try await trial.cluster.run("look", "light").contains("has an audio session"))
      #expect(try await trial.leavesFront().last == "app free app-audio-session")
    }
  }

  @Test func `is not suspended while it is at work, which ends with its process`() async throws {
    try await run("at work") { trial in
      try await trial.comesToFront(reloads: false)
      try await trial.cluster.run("app", "activity", "audio")
      let before = try await trial.last
      try await trial.leavesFront(reloads: false)
      try await trial.cluster.run("clock", "advance", "60s")
      #expect(try await !trial.all(ProcessState.self, after: before).contains { $0.state == "suspended" && $0.isApp })
      try await trial.cluster.run("app", "activity", "none")
      try await trial.cluster.run("clock", "advance", "60s")
      #expect(try await trial.all(ProcessState.self, after: before).contains { $0.state == "suspended" && $0.isApp })
      try await trial.comesToFront(reloads: false)
      try await trial.cluster.run("app", "activity", "audio")
      try await trial.cluster.run("kill", "app")
      try await trial.cluster.eventually("the session is over") {
        try await !trial.cluster.run("look", "light").contains("audio")
      }
      #expect(try await trial.refusal("app", "activity", "audio").contains("does not run"))
    }
  }

  @Test func `reaches the widgets of each of its extensions, which are in the gallery and processes of their own`()
    async throws
  {
    let second = ["executable: TrialWidgets", "environment:", "  TRIAL_WIDGETS: renamed"]
    try await run("two extensions", second: second) { trial in
      let bundles = Dictionary(grouping: try await trial.gallery("homeScreen"), by: \.bundle)
      #expect(Set(bundles.keys) == [GalleryTrial.bundle, GalleryTrial.second])
      try await trial.add("Touch")
      try await trial.add("Before")
      _ = try await trial.entry(of: 1)
      _ = try await trial.entry(of: 2)
      let before = try await trial.last
      try await trial.comesToFront()
      try await trial.cluster.eventually("both have new timelines") {
        let stored = try await trial.all(TimelineStored.self, after: before).filter { $0.because == .app }
        return Set(stored.map(\.placement)) == [1, 2]
      }
      let lives = try await trial.all(ProcessStarted.self).filter { $0.address.role == .widgetExtension }
      #expect(Set(lives.map(\.address.bundleIdentifier)) == [GalleryTrial.bundle, GalleryTrial.second])
      #expect(Set(lives.map(\.pid)).count == 2)
    }
  }

  @Test func `reloads the widgets of all its extensions when one of them asks`() async throws {
    let second = ["executable: TrialWidgets", "environment:", "  TRIAL_WIDGETS: renamed"]
    try await run("asked by another extension", second: second) { trial in
      try await trial.add("Touch")
      try await trial.add("Before")
      _ = try await trial.entry(of: 1)
      _ = try await trial.entry(of: 2)
      try await trial.cluster.run("clock", "advance", "2h")
      let before = try await trial.last
      try await trial.cluster.run("tap", "2", "--control", "2")
      try await trial.cluster.eventually("the other extension's widget has a new timeline") {
        let stored = try await trial.all(TimelineStored.self, after: before)
        return stored.contains { $0.placement == 1 && $0.because == .extension }
      }
    }
  }

  /// A device at noon that stands still, whose budget is empty at first, and whose app was launched and left.
  private func run(
    _ name: String, policy more: String = "", second: [String] = [],
    _ body: @Sendable (GalleryTrial) async throws -> Void
  ) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    let policy = "perDay: 24\ninitial: 0\nminimumSpacing: 0\nlearningDays: 0\n\(more)"
    try Data(policy.utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    try await GalleryTrial.run(
      name, settings: ["placesEachKind: false", "budget: \(path)"], product: GalleryTrial.touched,
      app: GalleryTrial.reloading, second: second, isLaunched: false
    ) { trial in
      try await trial.cluster.run("clock", "hold")
      try await trial.cluster.run("clock", "set", "2026-03-01T12:00:00Z")
      let before = try await trial.last
      try await trial.comesToFront(reloads: false)
      try await trial.leavesFront(reloads: false)
      // Nothing is placed yet: both of its reloads come to nothing.
      try await trial.cluster.eventually("both reloads of the launch are over") {
        try await trial.all(ReloadFailed.self, after: before).count { $0.because == .app } >= 2
      }
      try await body(trial)
    }
  }
}

extension ProcessState {
  fileprivate var isApp: Bool { address.role == .app }
}

extension GalleryTrial {
  /// The app comes to the front, and asks for new timelines.
  ///
  /// - Returns: the lines of the ledger that follow, when all is done.
  @discardableResult
  fileprivate func comesToFront(reloads: Bool = true) async throws -> [String] {
    try await moves(["app", "open"], "in front", reloads)
  }

  /// The same when it leaves it.
  @discardableResult
  fileprivate func leavesFront(reloads: Bool = true) async throws -> [String] {
    try await moves(["app", "background"], "behind", reloads)
  }

  fileprivate func moves(_ command: [String], _ line: String, _ reloads: Bool) async throws -> [String] {
    let before = try await last
    let answer = try await cluster.attempt(command)
    guard answer.status == 0 else { throw LabError("\(command): \(answer.errors)") }
    try await printed(line, after: before)
    guard reloads else { return [] }
    let asked = try await journal.waitFor("it asks for new timelines", after: before) {
      $0.reading(ReloadTimelines.self) != nil
    }
    try await journal.waitFor("that is decided", after: asked.sequence) { $0.reading(BudgetDecided.self) != nil }
    // Advanced by nothing, the clock waits for all that is under way.
    try await cluster.run("clock", "advance", "0s")
    return try await ledger(after: before)
  }
}
