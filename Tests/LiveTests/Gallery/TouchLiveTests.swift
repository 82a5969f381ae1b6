// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Section 4.4 of the rules of WidgetKit, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Taps on placed widgets` {
  private typealias Place = (family: String, location: String)

  private static let phone: [Place] = [
    ("systemSmall", "homeScreen"), ("systemMedium", "homeScreen"), ("systemLarge", "homeScreen"),
    ("accessoryRectangular", "lockScreen"), ("accessoryCircular", "lockScreen"), ("accessoryInline", "lockScreen"),
  ]

  @Test(.rule("GALLERY-43"))
  func `a tap follows a link in system families and accessoryRectangular, and the widget's URL elsewhere`()
    async throws
  {
    try await run("links") { fixture in
      try await fixture.place(Self.phone)
      for (number, place) in zip(1..., Self.phone) {
        let isOneTarget = ["accessoryCircular", "accessoryInline"].contains(place.family)
        let url = isOneTarget ? "trial://linked" : "trial://more"
        #expect(try await fixture.opened("tap", "\(number)", "--link", "More") == url, "\(place.family)")
        #expect(try await fixture.opened("tap", "\(number)") == "trial://linked", "\(place.family)")
      }
    }
    try await run("links of a pad", device: "model: iPad Pro 11-inch, version: \"17.0\"") { fixture in
      try await fixture.place([("systemExtraLarge", "homeScreen")])
      #expect(try await fixture.opened("tap", "1", "--link", "More") == "trial://more")
    }
  }

  @Test(.rule("GALLERY-43")) func `a tap before iOS 17 follows a link only in systemMedium and larger`() async throws {
    try await run("links 16", device: "model: iPhone 14, version: \"16.4\"") { fixture in
      try await fixture.place([("systemSmall", "homeScreen"), ("systemMedium", "homeScreen")])
      #expect(try await fixture.opened("tap", "1", "--link", "More") == "trial://linked")
      #expect(try await fixture.opened("tap", "2", "--link", "More") == "trial://more")
    }
  }

  @Test(.rule("GALLERY-35"))
  func `buttons and toggles act in system, circular and rectangular families, but not in accessoryInline`()
    async throws
  {
    try await run("controls") { fixture in
      try await fixture.place(Self.phone)
      for (number, place) in zip(1..., Self.phone) {
        for control in ["1", "2"] {
          let output = try await fixture.cluster.run("tap", "\(number)", "--button", control)
          let isInline = place.family == "accessoryInline"
          #expect(
            output.contains(isInline ? "nothing happens" : "was performed by extension"), "\(place.family): \(output)")
        }
      }
    }
  }

  @Test(.rule("GALLERY-35")) func `a tap on a locked device has no effect until the device is unlocked`() async throws {
    try await run("locked") { fixture in
      try await fixture.place([("systemMedium", "homeScreen"), ("accessoryRectangular", "lockScreen")])
      try await fixture.cluster.run("lock")
      try await fixture.cluster.run("look", "lockScreen")
      let before = try await fixture.last
      for words in [["1"], ["1", "--link", "More"], ["1", "--button", "1"], ["2", "--button", "2"]] {
        let answer = try await fixture.cluster.attempt(["tap"] + words)
        #expect(answer.output.contains("nothing happens") && answer.output.contains("widgetlab unlock"), "\(words)")
      }
      let after = try await fixture.journal.all().filter { $0.sequence > before }
      #expect(!after.contains { $0.reading(PerformIntent.self) != nil || $0.reading(OpenFromWidget.self) != nil })
      try await fixture.cluster.run("unlock")
      #expect(try await fixture.cluster.run("tap", "2", "--control", "2").contains("was performed by extension"))
    }
  }

  @Test(.rule("GALLERY-40"))
  func `a toggle shows its new state and invalidated content is redacted until the new timeline arrives`()
    async throws
  {
    let gate = FileManager.default.temporaryDirectory.path + "/gate-\(UUID().uuidString)"
    defer { unlink(gate) }
    try await GalleryFixture.run("toggle", product: GalleryFixture.touched + ["  TRIAL_GATE: \(gate)"]) { fixture in
      unlink(gate)
      try await fixture.add("Slow")
      let before = try await fixture.entry(of: 1).views.joined()
      #expect(before.contains("Toggle(isOn: false)") && !before.contains("redacted") && before.contains("is quiet"))
      async let output = fixture.cluster.run("tap", "1", "--button", "1")
      try await fixture.cluster.eventually("the toggle is on, without a new timeline") {
        let views = try await fixture.entry(of: 1).views.joined()
        return views.contains("Toggle(isOn: true)") && views.contains(".redacted(invalidated)")
          && views.contains("is being filled")
      }
      #expect(try await fixture.all(TimelineStored.self).count == 1)
      try Data().write(to: URL(fileURLWithPath: gate))
      #expect(try await output.contains("was performed by extension"))
      try await fixture.cluster.eventually("the new timeline is shown") {
        let views = try await fixture.entry(of: 1).views.joined()
        return views.contains("Toggle(isOn: true)") && !views.contains("redacted") && views.contains("is quiet")
      }
      #expect(try await fixture.all(TimelineStored.self).count == 2)
    }
  }

  @Test(.rule("GALLERY-37", "GALLERY-39"))
  func `an intent runs in the extension, or in the app in the background when its type requires it`() async throws {
    try await run("performers") { fixture in
      try await fixture.add("Intents")
      _ = try await fixture.entry(of: 1)
      try await fixture.expectPerformed("Pour", 1, cups: 2, by: GalleryFixture.widgetExtension)
      try await fixture.expectPerformed("Sing", 3, cups: 4, by: fixture.app)
      try await fixture.expectPerformed("Continue", 4, cups: 5, by: fixture.app)
      // An app that has exited or was force quit is launched for the intent.
      var before = try await fixture.last
      for (command, intent, control) in [("kill", "Live", 5), ("force-quit", "Talk", 6)] {
        before = try await fixture.last
        _ = try await fixture.cluster.attempt(command == "kill" ? ["kill", "app"] : [command])
        try await fixture.journal.waitFor("the app has exited", after: before) {
          $0.reading(ProcessExited.self)?.address.role == .app
        }
        try await fixture.expectPerformed(intent, control, cups: control + 1, by: fixture.app)
      }
      #expect(try await fixture.cluster.run("look", "light") == "unlocked, homeScreen is visible\n")
      try await fixture.journal.waitFor("the app is suspended again", after: before) {
        $0.reading(ProcessState.self).map { $0.address.role == .app && $0.state == "suspended" } ?? false
      }
    }
  }

  @Test(.rule("GALLERY-39")) func `a widget gets a free timeline after an intent that throws`() async throws {
    try await run("throws") { fixture in
      try await fixture.add("Intents")
      _ = try await fixture.entry(of: 1)
      let (before, storedCount) = (try await fixture.last, try await fixture.all(TimelineStored.self).count)
      let answer = try await fixture.cluster.attempt(["tap", "1", "--button", "7"])
      let output = answer.output
      #expect(answer.status == 1 && output.contains("failed in extension") && output.contains("Empty"), "\(answer)")
      try await fixture.printed("spilled", after: before)
      try await fixture.cluster.eventually("the new timeline is stored") {
        try await fixture.all(TimelineStored.self).count == storedCount + 1
      }
      #expect(try await fixture.ledger(after: before).contains { $0.hasPrefix("interaction free") })
    }
  }

  @Test(.rule("GALLERY-49"), arguments: [1, 3])
  func `a tap reports an intent that does not return within intentDeadline, and the widget is reloaded`(
    intentDeadline: Int
  ) async throws {
    let settings = ["placesEachKind: false", "intentDeadline: \(intentDeadline)"]
    // A gate that is never opened.
    let product = GalleryFixture.touched + ["  TRIAL_GATE: /never"]
    try await GalleryFixture.run("slow intent", settings: settings, product: product) { fixture in
      try await fixture.add("Slow")
      _ = try await fixture.entry(of: 1)
      let before = try await fixture.last
      let answer = try await fixture.cluster.attempt(["tap", "1", "--button", "1"])
      let output = answer.output
      #expect(answer.status == 1)
      #expect(
        output.contains("failed in extension") && output.contains("within \(intentDeadline).0 seconds"), "\(output)")
      try await fixture.cluster.eventually("the widget is reloaded") {
        try await fixture.ledger(after: before).contains { $0.hasPrefix("interaction free") }
      }
    }
  }

  @Test(.rule("GALLERY-36", "GALLERY-38"))
  func `an intent that opens the app runs in the foreground app with only its own parameters`() async throws {
    try await run("opens") { fixture in
      try await fixture.add("Intents")
      _ = try await fixture.entry(of: 1)
      try await fixture.expectPerformed("Open", 2, cups: 3, by: fixture.app)
      #expect(try await fixture.cluster.run("look", "light").contains("\(GalleryFixture.app) is in front"))
    }
  }

  @Test(.rule("GALLERY-50"))
  func `the result of an intent opens the app with a URL, as a link does, or performs another intent`() async throws {
    try await run("opening results") { fixture in
      try await fixture.add("Intents")
      _ = try await fixture.entry(of: 1)
      let before = try await fixture.last
      #expect(try await fixture.opened("tap", "1", "--button", "8") == "https://trial.example/visited")
      try await fixture.printed("visiting", after: before)
      #expect(try await fixture.cluster.run("look", "light").contains("\(GalleryFixture.app) is in front"))
      #expect(try await fixture.opened("tap", "1", "--button", "9") == "https://trial.example/linked")
      try await fixture.cluster.run("app", "background")
      try await fixture.expectPerformed("Open", 10, cups: 9, by: fixture.app)
      #expect(try await fixture.cluster.run("look", "light").contains("\(GalleryFixture.app) is in front"))
    }
  }

  @Test(.rule("GALLERY-50"))
  func `a custom scheme and a third intent open nothing, and a failed intent is diagnosed`() async throws {
    try await run("ignored results") { fixture in
      try await fixture.add("Intents")
      _ = try await fixture.entry(of: 1)
      let scheme = try await fixture.cluster.attempt(["tap", "1", "--button", "11"])
      #expect(scheme.status == 1 && scheme.output.contains("trial://scheme is not opened"), "\(scheme)")
      try await fixture.cluster.run("app", "background")
      let third = try await fixture.cluster.attempt(["tap", "1", "--button", "12"])
      #expect(third.output.contains("Open is not performed: an intent that was opened opens it"), "\(third)")
      #expect(!(try await fixture.cluster.run("look", "light").contains("is in front")))
      let failed = try await fixture.cluster.attempt(["tap", "1", "--button", "7"])
      #expect(failed.status == 1, "\(failed)")
      let found = try await fixture.cluster.attempt(["diagnose"])
      #expect(
        found.status == 1 && found.output.contains("custom-scheme-not-opened")
          && found.output.contains("intent-not-performed"), "\(found)")
    }
  }

  @Test(.rule("PROCESS-25")) func `an update keeps the entries of placed widgets and requests no timelines`()
    async throws
  {
    try await run("updated") { fixture in
      try await fixture.add("Touch")
      _ = try await fixture.entry(of: 1)
      let before = try await fixture.last
      try await fixture.cluster.run("update")
      #expect(try await fixture.screen().first?.content == "entry")
      try await fixture.cluster.run("reload", "Touch")
      try await fixture.cluster.eventually("a timeline is stored") {
        try await !fixture.all(TimelineStored.self, after: before).isEmpty
      }
      #expect(try await fixture.all(TimelineStored.self, after: before).map(\.because) == [.operator])
    }
  }

  private func run(
    _ name: String, device: String = "model: iPhone 16, version: \"18.0\"",
    _ body: @Sendable (GalleryFixture) async throws -> Void
  ) async throws {
    try await GalleryFixture.run(
      name, device: device, product: GalleryFixture.touched, app: GalleryFixture.reloading, body)
  }
}

extension GalleryFixture {
  fileprivate var app: Address { .app("phone", GalleryFixture.app) }

  /// Adds the widget with links and controls to each place, and waits until each of them shows an entry.
  fileprivate func place(_ places: [(family: String, location: String)]) async throws {
    for place in places { try await add("Linked", "--family", place.family, "--location", place.location) }
    for (number, place) in zip(1..., places) { _ = try await entry(of: number, at: place.location) }
  }

  /// Runs a tap and returns the URL with which the app opens.
  fileprivate func opened(_ words: String...) async throws -> String? {
    let before = try await last
    let answer = try await cluster.attempt(words)
    guard answer.status == 0 else { throw LabError("\(words): \(answer.errors)") }
    let event = try await journal.waitFor("the app receives the tap", after: before) {
      $0.reading(OpenFromWidget.self) != nil
    }
    let url = event.reading(OpenFromWidget.self)?.url
    if let url { try await printed("opened with \(url)", after: before) }
    return url
  }

  /// Taps a control of widget 1 and checks that the process performs the intent with its parameters, and that a
  /// timeline is requested.
  fileprivate func expectPerformed(_ intent: String, _ control: Int, cups: Int, by performer: Address) async throws {
    let before = try await last
    let answer = try await cluster.run("tap", "1", "--button", "\(control)")
    #expect(answer.contains("was performed by \(performer.short)"), "\(answer)")
    let output = try await printed("\(intent) with \(cups) cups and no note", after: before)
    #expect(output.address == performer)
    // The request is the interaction's own, or the app's when it came to the foreground.
    let asked = try await journal.waitFor("a timeline is requested", after: before) {
      $0.reading(RequestTimeline.self).map { [.interaction, .app].contains($0.because) } ?? false
    }
    #expect(asked.destination == GalleryFixture.widgetExtension.text)
    #expect(try await ledger(after: before).contains { $0.hasPrefix("interaction free") })
  }
}
