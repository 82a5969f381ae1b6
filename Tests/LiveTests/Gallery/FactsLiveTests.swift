import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What the system tells an author's provider and view, over real processes.
@Suite(.live, .timeLimit(.live)) struct `a placed widget's provider and view` {
  @Test func `know the family, the size, the place's look, the person's choice and all that is placed`() async throws {
    try await GalleryTrial.run("facts") { trial in
      try await trial.add("Facts", "--family", "systemMedium", "--set", "word=home")
      let home = try await trial.entry(of: 1)
      #expect(
        home.texts == [
          "asked for home", "context systemMedium 338 x 158 preview false", "schemes 2",
          "placed Facts systemMedium home", "told of 1",
          "view systemMedium fullColor margins 16 background true", "label false detail default", "labelled",
          "marked",
        ])
      try await trial.add("Facts", "--family", "accessoryRectangular", "--location", "lockScreen", "--set", "word=lock")
      let lock = try await trial.entry(of: 2, at: "lockScreen")
      #expect(
        lock.texts == [
          "asked for lock", "context accessoryRectangular 160 x 72 preview false", "schemes 2",
          "placed Facts accessoryRectangular lock, Facts systemMedium home", "told of 2",
          "view accessoryRectangular vibrant margins 0 background false", "label false detail default", "labelled",
          "marked",
        ])
      let replies = try await trial.journal.all().filter { $0.kind == RequestTimeline.kind.answered(.ok).name }
      let entries = try replies.flatMap {
        try BodyCoding.decode(RequestTimeline.Reply.self, from: $0.envelope.body).entries
      }
      #expect(entries.contains { $0.relevance == .init(score: 7, duration: 60) })
      #expect(try await trial.cluster.run("snapshot", "Facts").contains("preview true"))
    }
  }

  @Test func `mark views for accents, curves and labels, which stand in the archive`() async throws {
    try await GalleryTrial.run("marks") { trial in
      try await trial.add("Facts", "--family", "accessoryCircular", "--location", "lockScreen")
      let views = try await trial.entry(of: 1, at: "lockScreen").views
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

extension GalleryTrial.Seen {
  /// The letters of its texts, in order.
  var texts: [String] {
    views.compactMap { $0.firstMatch(of: /Text "([^"]*)"/).map { String($0.1) } }
  }
}
