// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The values that an author's provider and view receive from the system, over real processes.
@Suite(.live, .timeLimit(.live)) struct `The provider and the view of a placed widget` {
  @Test(.rule("TIMELINE-25", "WIDGET-14"))
  func `a provider and its view receive the family, size, rendering mode, configuration and all placed widgets`()
    async throws
  {
    try await GalleryFixture.run("facts") { fixture in
      try await fixture.add("Facts", "--family", "systemMedium", "--set", "word=home")
      let home = try await fixture.entry(of: 1)
      #expect(
        home.texts == [
          "asked for home", "context systemMedium 338 x 158 preview false", "schemes 2",
          "placed Facts systemMedium home", "current 1",
          "view systemMedium fullColor margins 16 background true", "label false detail default", "labelled",
          "marked",
        ])
      // Empty outside the accessory families.
      #expect(!home.views.contains { $0.contains("AccessoryWidgetBackground") })
      try await fixture.add(
        "Facts", "--family", "accessoryRectangular", "--location", "lockScreen", "--set", "word=lock")
      let lock = try await fixture.entry(of: 2, at: "lockScreen")
      #expect(
        lock.texts == [
          "asked for lock", "context accessoryRectangular 160 x 72 preview false", "schemes 2",
          "placed Facts accessoryRectangular lock, Facts systemMedium home", "current 2",
          "view accessoryRectangular vibrant margins 0 background false", "label false detail default", "labelled",
          "marked",
        ])
      let replies = try await fixture.journal.all().filter { $0.kind == RequestTimeline.kind.answered(.ok).name }
      let entries = try replies.flatMap {
        try BodyCoding.decode(RequestTimeline.Reply.self, from: $0.envelope.body).entries
      }
      #expect(entries.contains { $0.relevance == .init(score: 7, duration: 60) })
      #expect(try await fixture.cluster.run("snapshot", "Facts").contains("preview true"))
    }
  }

  @Test func `a widget without a configuration, or with another intent, has no configuration of an intent type`()
    async throws
  {
    try await GalleryFixture.run("other intents") { fixture in
      for kind in ["Milk", "Choices"] { try await fixture.add(kind) }
      try await fixture.add("Facts", "--family", "systemMedium", "--set", "word=home")
      let facts = try await fixture.entry(of: 3).texts.first { $0.hasPrefix("placed") } ?? ""
      #expect(facts.contains("Facts systemMedium home"))
      #expect(facts.contains("Milk systemSmall -") && facts.contains(/Choices \w+ -/), "\(facts)")
    }
  }

  @Test func `widget modifiers for accents, curves and labels are recorded in the archived views`() async throws {
    try await GalleryFixture.run("marks") { fixture in
      try await fixture.add("Facts", "--family", "accessoryCircular", "--location", "lockScreen")
      let views = try await fixture.entry(of: 1, at: "lockScreen").views
      let marked = views.first { $0.contains("\"marked\"") } ?? ""
      for name in [".widgetAccentable", ".widgetCurvesContent", ".widgetLabel"] {
        #expect(marked.contains(name), "\(marked)")
      }
      let labelled = views.first { $0.contains("\"labelled\"") } ?? ""
      #expect(labelled.contains(".widgetLabel(Text \"a label of views\")"), "\(views)")
      #expect(
        views.contains { $0.contains("star") && $0.contains(".widgetAccentedRenderingMode(desaturated") }, "\(views)")
      #expect(views.contains { $0.contains("AccessoryWidgetBackground") })
    }
  }
}

extension GalleryFixture.Seen {
  /// The contents of its texts, in order.
  var texts: [String] {
    views.compactMap { $0.firstMatch(of: /Text "([^"]*)"/).map { String($0.1) } }
  }
}
