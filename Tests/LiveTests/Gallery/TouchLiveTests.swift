import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Section 4.4 of the rules of WidgetKit, over real processes.
@Suite(.live, .timeLimit(.live)) struct `a touch on a placed widget` {
  private typealias Place = (family: String, location: String)

  private static let phone: [Place] = [
    ("systemSmall", "homeScreen"), ("systemMedium", "homeScreen"), ("systemLarge", "homeScreen"),
    ("accessoryRectangular", "lockScreen"), ("accessoryCircular", "lockScreen"), ("accessoryInline", "lockScreen"),
  ]

  @Test func `follows a link in systemSmall and larger and in accessoryRectangular, and else the widget's URL`()
    async throws
  {
    try await run("links") { trial in
      try await trial.place(Self.phone)
      for (number, place) in zip(1..., Self.phone) {
        let isOneTarget = ["accessoryCircular", "accessoryInline"].contains(place.family)
        let url = isOneTarget ? "trial://linked" : "trial://more"
        #expect(try await trial.opened("tap", "\(number)", "--link", "More") == url, "\(place.family)")
        #expect(try await trial.opened("tap", "\(number)") == "trial://linked", "\(place.family)")
      }
    }
    try await run("links of a pad", device: "model: iPad Pro 11-inch, version: \"17.0\"") { trial in
      try await trial.place([("systemExtraLarge", "homeScreen")])
      #expect(try await trial.opened("tap", "1", "--link", "More") == "trial://more")
    }
  }

  @Test func `follows a link in systemMedium and larger alone before iOS 17`() async throws {
    try await run("links 16", device: "model: iPhone 14, version: \"16.4\"") { trial in
      try await trial.place([("systemSmall", "homeScreen"), ("systemMedium", "homeScreen")])
      #expect(try await trial.opened("tap", "1", "--link", "More") == "trial://linked")
      #expect(try await trial.opened("tap", "2", "--link", "More") == "trial://more")
    }
  }

  @Test func `has a button and a toggle act in all system families and the circular and rectangular ones, not inline`()
    async throws
  {
    try await run("controls") { trial in
      try await trial.place(Self.phone)
      for (number, place) in zip(1..., Self.phone) {
        for control in ["1", "2"] {
          let said = try await trial.cluster.run("tap", "\(number)", "--control", control)
          let isInline = place.family == "accessoryInline"
          #expect(
            said.contains(isInline ? "nothing happens" : "was performed by extension"), "\(place.family): \(said)")
        }
      }
    }
  }

  @Test func `does nothing on a locked device, whatever it hits, before that is unlocked`() async throws {
    try await run("locked") { trial in
      try await trial.place([("systemMedium", "homeScreen"), ("accessoryRectangular", "lockScreen")])
      try await trial.cluster.run("lock")
      try await trial.cluster.run("look", "lockScreen")
      let before = try await trial.last
      for words in [["1"], ["1", "--link", "More"], ["1", "--control", "1"], ["2", "--control", "2"]] {
        let answer = try await trial.cluster.attempt(["tap"] + words)
        #expect(answer.output.contains("nothing happens") && answer.output.contains("widgetlab unlock"), "\(words)")
      }
      let after = try await trial.journal.all().filter { $0.sequence > before }
      #expect(!after.contains { $0.reading(PerformIntent.self) != nil || $0.reading(OpenFromWidget.self) != nil })
      try await trial.cluster.run("unlock")
      #expect(try await trial.cluster.run("tap", "2", "--control", "2").contains("was performed by extension"))
    }
  }

  @Test func `shows a toggle's new state, and what becomes invalid as invalid, until its timeline comes`() async throws
  {
    let gate = FileManager.default.temporaryDirectory.path + "/gate-\(UUID().uuidString)"
    defer { unlink(gate) }
    try await GalleryTrial.run("toggle", product: GalleryTrial.touched + ["  TRIAL_GATE: \(gate)"]) { trial in
      unlink(gate)
      try await trial.add("Slow")
      let before = try await trial.entry(of: 1).views.joined()
      #expect(before.contains("Toggle(isOn: false)") && !before.contains("redacted"))
      async let said = trial.cluster.run("tap", "1", "--control", "1")
      try await trial.cluster.eventually("the toggle is on, without a new timeline") {
        let views = try await trial.entry(of: 1).views.joined()
        return views.contains("Toggle(isOn: true)") && views.contains(".redacted(invalidated)")
      }
      #expect(try await trial.all(TimelineStored.self).count == 1)
      try Data().write(to: URL(fileURLWithPath: gate))
      #expect(try await said.contains("was performed by extension"))
      try await trial.cluster.eventually("the new timeline is shown") {
        let views = try await trial.entry(of: 1).views.joined()
        return views.contains("Toggle(isOn: true)") && !views.contains("redacted")
      }
      #expect(try await trial.all(TimelineStored.self).count == 2)
    }
  }

  @Test func `has an intent performed in the extension, or behind the front in the app where its kind needs that`()
    async throws
  {
    try await run("performers") { trial in
      try await trial.add("Intents")
      _ = try await trial.entry(of: 1)
      try await trial.expectPerformed("Pour", 1, cups: 2, by: GalleryTrial.widgetExtension)
      try await trial.expectPerformed("Sing", 3, cups: 4, by: trial.app)
      try await trial.expectPerformed("Continue", 4, cups: 5, by: trial.app)
      // One that is dead is launched for it, and one that a person ended too.
      for (command, intent, control) in [("kill", "Live", 5), ("force-quit", "Talk", 6)] {
        let before = try await trial.last
        _ = try await trial.cluster.attempt(command == "kill" ? ["kill", "app"] : [command])
        try await trial.journal.waitFor("the app is dead", after: before) {
          $0.reading(ProcessExited.self)?.address.role == .app
        }
        try await trial.expectPerformed(intent, control, cups: control + 1, by: trial.app)
      }
      let before = try await trial.last
      #expect(try await trial.cluster.run("look", "light") == "unlocked, homeScreen is seen\n")
      try await trial.journal.waitFor("the app is suspended again", after: before) {
        $0.reading(ProcessState.self).map { $0.address.role == .app && $0.state == "suspended" } ?? false
      }
    }
  }

  @Test func `has an intent that opens the app performed in the app, in front, with its parameters alone`() async throws
  {
    try await run("opens") { trial in
      try await trial.add("Intents")
      _ = try await trial.entry(of: 1)
      try await trial.expectPerformed("Open", 2, cups: 3, by: trial.app)
      #expect(try await trial.cluster.run("look", "light").contains("\(GalleryTrial.app) is in front"))
    }
  }

  private func run(
    _ name: String, device: String = "model: iPhone 16, version: \"18.0\"",
    _ body: @Sendable (GalleryTrial) async throws -> Void
  ) async throws {
    try await GalleryTrial.run(
      name, device: device, product: GalleryTrial.touched, app: GalleryTrial.reloading, body)
  }
}

extension GalleryTrial {
  fileprivate var app: Address { .app("phone", GalleryTrial.app) }

  /// Places the widget with links and controls, and waits until all of them show it.
  fileprivate func place(_ places: [(family: String, location: String)]) async throws {
    for place in places { try await add("Linked", "--family", place.family, "--location", place.location) }
    for (number, place) in zip(1..., places) { _ = try await entry(of: number, at: place.location) }
  }

  /// What the app opens with.
  fileprivate func opened(_ words: String...) async throws -> String? {
    let before = try await last
    let answer = try await cluster.attempt(words)
    guard answer.status == 0 else { throw LabError("\(words): \(answer.errors)") }
    let event = try await journal.waitFor("the app is told", after: before) { $0.reading(OpenFromWidget.self) != nil }
    let url = event.reading(OpenFromWidget.self)?.url
    if let url { try await printed("opened with \(url)", after: before) }
    return url
  }

  /// Touches a control of widget 1: the process performs its intent with what travelled, and the widget has a new timeline.
  fileprivate func expectPerformed(_ intent: String, _ control: Int, cups: Int, by performer: Address) async throws {
    let before = try await last
    let said = try await cluster.run("tap", "1", "--control", "\(control)")
    #expect(said.contains("was performed by \(performer.short)"), "\(said)")
    let output = try await printed("\(intent) with \(cups) cups and no note", after: before)
    #expect(output.address == performer)
    // By itself, or with one that the app asked for when it came to the front.
    let asked = try await journal.waitFor("a timeline is asked for", after: before) {
      $0.reading(RequestTimeline.self).map { [.interaction, .app].contains($0.because) } ?? false
    }
    #expect(asked.destination == GalleryTrial.widgetExtension.text)
    #expect(try await ledger(after: before).contains { $0.hasPrefix("interaction free") })
  }
}
