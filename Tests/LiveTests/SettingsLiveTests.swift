// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The settings of the device, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Settings of the device over real processes` {
  private static let product = ["environment:", "  TRIAL_WIDGETS: settings"]
  private static let usual = [
    "size large", "bold false", "contrast standard", "motion false transparency false color false voice false",
    "scheme light", "locale en_US leftToRight",
  ]

  private func run(
    _ name: String, adding lines: [String] = [], _ body: @Sendable (GalleryFixture) async throws -> Void
  ) async throws {
    try await GalleryFixture.run(
      "settings \(name)", device: "model: iPhone 16, version: \"18.0\", timeZone: Europe/Berlin",
      product: Self.product + lines
    ) { fixture in
      try await fixture.add("Settings")
      #expect(try await Array(fixture.entry(of: 1).texts.prefix(6)) == Self.usual)
      try await body(fixture)
    }
  }

  @Test(.rule("SETTING-01", "SETTING-03", "SETTING-05", "BUDGET-05"))
  func `a view reads each setting that the user changes, also after the host was killed`() async throws {
    try await run("values") { fixture in
      let changes = [
        ("text-size", "xxxLarge", "size xxxLarge"), ("text-size", "accessibility1", "size accessibility1"),
        ("bold-text", "on", "bold true"), ("contrast", "increased", "contrast increased"),
        ("reduce-motion", "on", "motion true transparency false color false voice false"),
        ("reduce-transparency", "on", "motion true transparency true color false voice false"),
        ("differentiate-without-color", "on", "motion true transparency true color true voice false"),
        ("voice-over", "on", "motion true transparency true color true voice true"),
      ]
      for (name, value, text) in changes {
        let output = try await fixture.cluster.run("setting", name, value)
        #expect(output == "\(name) \(value): all widgets are reloaded\n")
        try await fixture.shows(text)
        #expect(try await fixture.ledger().last == "system free system", "\(name)")
      }
      #expect(try await fixture.cluster.run("setting", "voice-over", "on") == "voice-over on, as before\n")
      let before = try await fixture.cluster.run("setting")
      try await fixture.cluster.run("kill", "host")
      #expect(try await fixture.cluster.run("setting") == before)
      let screen = try await fixture.cluster.run("screen")
      #expect(screen.contains("\ntext-size accessibility1, bold-text on, contrast increased, reduce-motion on"))
      let reloads = try await fixture.ledger().count { $0.hasPrefix("system free") }
      try await fixture.cluster.run("setting", "appearance", "dark")
      try await fixture.shows("scheme dark")
      #expect(try await fixture.ledger().count { $0.hasPrefix("system free") } == reloads)
      try await fixture.cluster.run("setting", "text-size", "default")
      try await fixture.shows("size large")
    }
  }

  @Test(.rule("SETTING-04")) func `a new language ends the extension and turns its layout round`() async throws {
    try await run("language") { fixture in
      let first = try #require(try await fixture.pids().last)
      try await fixture.cluster.run("setting", "locale", "ar")
      try await fixture.shows("locale ar rightToLeft")
      try await fixture.shows("process ar Europe/Berlin 01:00")
      #expect(try await fixture.cluster.run("screen").contains("\nlocale ar, the layout is from right to left\n"))
      let second = try #require(try await fixture.pids().last)
      #expect(first != second)
      let ended = try await fixture.all(ProcessState.self).contains {
        $0.address == GalleryFixture.widgetExtension && $0.why == "the language or region of the device changed"
      }
      #expect(ended)
      try await fixture.cluster.run("setting", "locale", "fr_FR")
      try await fixture.shows("locale fr_FR leftToRight")
      try await fixture.shows("process fr_FR Europe/Berlin 01:00")
    }
  }

  @Test(.rule("SETTING-06")) func `a running process has a new time zone at once, and the next one too`() async throws {
    try await run("time zone") { fixture in
      let first = try await fixture.pids()
      try await fixture.cluster.run("setting", "time-zone", "Asia/Tokyo")
      try await fixture.shows("zone Asia/Tokyo Asia/Tokyo")
      try await fixture.shows("process en_US Asia/Tokyo 09:00")
      #expect(try await fixture.pids() == first, "the process was not launched again")
      try await fixture.cluster.run("kill", "host")
      try await fixture.cluster.run("kill", "extension")
      try await fixture.cluster.run("setting", "time-zone", "America/New_York")
      try await fixture.shows("process en_US America/New_York 19:00")
      #expect(try await fixture.pids() != first)
    }
  }

  @Test(.rule("SETTING-07")) func `a product keeps the time zone that its environment names`() async throws {
    try await run("own time zone", adding: ["  TZ: Asia/Kolkata"]) { fixture in
      try await fixture.shows("process en_US Asia/Kolkata 05:30")
      try await fixture.cluster.run("setting", "time-zone", "Asia/Tokyo")
      try await fixture.cluster.run("setting", "text-size", "small")
      try await fixture.shows("size small")
      let texts = try await fixture.entry(of: 1).texts
      #expect(texts.suffix(2) == ["zone Asia/Kolkata Asia/Kolkata", "process en_US Asia/Kolkata 05:30"])
      try await fixture.cluster.run("setting", "locale", "de_DE")
      try await fixture.shows("process de_DE Asia/Kolkata 05:30")
    }
  }
}

extension GalleryFixture {
  /// Waits until the first widget shows a text.
  func shows(_ text: String) async throws {
    try await cluster.eventually("the widget shows \(text)") {
      try await screen().first { $0.content == "entry" }?.texts.contains(text) == true
    }
  }

  /// The process ids of the extension's instances, in order.
  fileprivate func pids() async throws -> [Int32] {
    // An instance reports ready again to the next host.
    try await journal.all().compactMap { $0.reading(ProcessReady.self)?.pid }
      .reduce(into: []) { pids, pid in if !pids.contains(pid) { pids.append(pid) } }
  }
}
