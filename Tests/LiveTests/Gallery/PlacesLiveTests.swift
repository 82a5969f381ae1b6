// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The widgets that a bundle declares, and their places, languages and appearance, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Widget bundles in the gallery and on the screen` {
  @Test
  func `the gallery lists a bundle's widgets, also in if #available, and leaves out controls and empty configurations`()
    async throws
  {
    try await GalleryFixture.run("bundle") { fixture in
      let items = try await fixture.gallery("homeScreen")
      let kinds = Set(items.map(\.widgetKind))
      #expect(kinds.count == 18 && kinds.isSuperset(of: ["Choices", "Milk", "Texts", "MilkControl", "Gated"]))
      let control = try #require(items.first { $0.widgetKind == "MilkControl" })
      #expect(control.section == .leftOut && control.reason?.contains("controlCenter") == true)
      #expect(control.displayName == "Milk, by a control" && control.description == "A control beside widgets")
      try await fixture.add("Gated")
      #expect(try await fixture.entry(of: 1).views.joined().contains("in if #available"))
    }
  }

  @Test(
    .rule("WIDGET-23", "WIDGET-24"),
    arguments: [
      (
        "de_DE", "Texte", "Was die Sprache des Geräts aus Texten macht",
        [
          "Guten Tag", "Guten Tag", "3 von ten", "1 Becher", "3 Becher", "1.234 Becher", "de_DE", "de-DE", "1.234,5",
          "1. Januar 1970",
        ]
      ),
      (
        "pl_PL", "Texts", "What the device's language makes of texts",
        [
          "Good day", "Good day", "3 of ten", "1 kubek", "3 kubki", "1234 kubki", "pl_PL", "pl-PL", "1234,5",
          "1 stycznia 1970",
        ]
      ),
    ])
  func `widgets use the device's language for names, texts, plurals and formats`(
    locale: String, name: String, description: String, texts: [String]
  ) async throws {
    let device = "model: iPhone 16, version: \"18.0\", locale: \(locale)"
    try await GalleryFixture.run("language \(locale)", device: device) { fixture in
      let item = try #require(try await fixture.item("Texts").first { $0.section == .main })
      #expect(item.displayName == name && item.description == description)
      #expect(item.families == [.systemLarge])
      try await fixture.add("Texts", "--family", "systemLarge")
      let shown = try await fixture.entry(of: 1).texts.map { $0.replacing("\u{A0}", with: " ") }
      // A sanitizer build links Foundation as a shared library, whose own formats are not replaced.
      #expect(LiveFixture.isSanitized ? Array(shown.prefix(8)) == Array(texts.prefix(8)) : shown == texts)
    }
  }

  @Test
  func `the iPad Lock Screen and CarPlay list disfavored widgets under Other, and iOS 27 has systemExtraLargePortrait`()
    async throws
  {
    try await GalleryFixture.run("lock screen", device: "model: iPad Pro 11-inch, version: \"17.0\"") { fixture in
      let sections = try await fixture.item("Disfavored", at: "iPadLockScreen")
      #expect(sections.first { $0.families.contains(.systemSmall) }?.section == .other)
      let liked = try await fixture.item("Removable", at: "iPadLockScreen").first { $0.families.contains(.systemSmall) }
      #expect(liked?.section == .main)
    }
    try await GalleryFixture.run("car", device: "model: iPhone 16, version: \"27.0\"") { fixture in
      let sections = try await fixture.item("Disfavored", at: "carPlay")
      #expect(sections.first { $0.families == [.systemSmall] }?.section == .other)
      #expect(try await fixture.item("TextName", at: "carPlay").map(\.section) == [.main])
      let plain = try await fixture.item("Plain").filter { $0.families.contains(.systemExtraLargePortrait) }
      #expect(plain.map(\.section) == [.main], "\(plain)")
      #expect(try await fixture.add("Plain", "--family", "systemExtraLargePortrait").placement.id == 1)
      #expect(try await fixture.entry(of: 1).family == "systemExtraLargePortrait")
    }
  }

  @Test(.rule("VIEW-15"))
  func `a widget on a tinted Home Screen receives the accented rendering mode, and is drawn in two groups`()
    async throws
  {
    let settings = ["placesEachKind: false", "homeScreenRenderingMode: accented"]
    try await GalleryFixture.run("tinted", settings: settings) { fixture in
      try await fixture.add("Facts", "--family", "systemLarge")
      let seen = try await fixture.entry(of: 1)
      #expect(seen.renderingMode == "accented" && seen.background == "removed")
      #expect(seen.texts.contains("view systemLarge accented margins 16 background false"), "\(seen.texts)")
      #expect(seen.texts.contains("context systemLarge 338 x 354 preview false"), "\(seen.texts)")
      let drawn = ["\"marked\"": "accent", "\"labelled\"": "default", "star": "default by luminance"]
      for (view, style) in drawn {
        let line = seen.views.first { $0.contains(view) } ?? ""
        #expect(line.contains(".drawn(\(style))"), "\(view): \(line)")
      }
    }
  }

  @Test(.rule("GALLERY-44"))
  func `a tap calls onOpenURL, or the app delegate with an activity that names the widget and its configuration`()
    async throws
  {
    let app = ["executable: FixtureHandlers", "environment:", "  TRIAL_FORM: opened"]
    try await GalleryFixture.run("opened", app: app) { fixture in
      try await fixture.add("Touch")
      try await fixture.add("Facts", "--set", "word=chosen")
      _ = try await fixture.entry(of: 1)
      _ = try await fixture.entry(of: 2)
      for (number, line) in [("1", "a view opens trial://touch"), ("2", "continues Facts systemMedium chosen")] {
        let before = try await fixture.journal.all().last?.sequence ?? 0
        try await fixture.cluster.run("tap", number)
        try await fixture.journal.waitFor("the app prints '\(line)'", after: before) {
          $0.reading(ProcessOutput.self)?.line == line
        }
        try await fixture.cluster.run("app", "background")
      }
      let lines = try await fixture.journal.all().compactMap { $0.reading(ProcessOutput.self)?.line }
      #expect(!lines.contains { $0.hasPrefix("the delegate opens") })
    }
  }
}
