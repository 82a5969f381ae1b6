import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What a bundle declares, and where and in which language and look it is seen, over real processes.
@Suite(.live, .timeLimit(.live)) struct `an author's widgets` {
  @Test func `are those of the bundle, with if #available and a control, and none for an empty configuration`()
    async throws
  {
    try await GalleryTrial.run("bundle") { trial in
      let items = try await trial.gallery("homeScreen")
      let kinds = Set(items.map(\.widgetKind))
      #expect(kinds.count == 17 && kinds.isSuperset(of: ["Choices", "Milk", "Texts", "MilkControl", "Gated"]))
      let control = try #require(items.first { $0.widgetKind == "MilkControl" })
      #expect(control.shelf == .leftOut && control.reason == "a control is no widget")
      #expect(control.displayName == "Milk, by a control" && control.description == "A control beside widgets")
      try await trial.add("Gated")
      #expect(try await trial.entry(of: 1).views.joined().contains("in if #available"))
    }
  }

  @Test(arguments: [
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
  func `speak the language of the device, in names and texts, forms of numbers and formats`(
    locale: String, name: String, description: String, texts: [String]
  ) async throws {
    let device = "model: iPhone 16, version: \"18.0\", locale: \(locale)"
    try await GalleryTrial.run("language \(locale)", device: device) { trial in
      let item = try #require(try await trial.item("Texts").first { $0.shelf == .main })
      #expect(item.displayName == name && item.description == description)
      #expect(item.families == [.systemLarge])
      try await trial.add("Texts", "--family", "systemLarge")
      let shown = try await trial.entry(of: 1).texts.map { $0.replacing("\u{A0}", with: " ") }
      // A sanitizer's build has Foundation in a shared library, whose own formats nobody replaces.
      #expect(Trial.isSanitized ? Array(shown.prefix(8)) == Array(texts.prefix(8)) : shown == texts)
    }
  }

  @Test func `are under Other on an iPad's Lock Screen and in CarPlay, and have an extra large portrait family`()
    async throws
  {
    try await GalleryTrial.run("lock screen", device: "model: iPad Pro 11-inch, version: \"17.0\"") { trial in
      let shelves = try await trial.item("Disfavored", at: "iPadLockScreen")
      #expect(shelves.first { $0.families.contains(.systemSmall) }?.shelf == .other)
      let liked = try await trial.item("Removable", at: "iPadLockScreen").first { $0.families.contains(.systemSmall) }
      #expect(liked?.shelf == .main)
    }
    try await GalleryTrial.run("car", device: "model: iPhone 16, version: \"27.0\"") { trial in
      let shelves = try await trial.item("Disfavored", at: "carPlay")
      #expect(shelves.first { $0.families == [.systemSmall] }?.shelf == .other)
      #expect(try await trial.item("TextName", at: "carPlay").map(\.shelf) == [.main])
      let plain = try await trial.item("Plain").filter { $0.families.contains(.systemExtraLargePortrait) }
      #expect(plain.map(\.shelf) == [.main], "\(plain)")
      #expect(try await trial.add("Plain", "--family", "systemExtraLargePortrait").placement.id == 1)
      #expect(try await trial.entry(of: 1).family == "systemExtraLargePortrait")
    }
  }

  @Test func `know that the Home Screen is tinted`() async throws {
    let settings = ["placesEachKind: false", "homeScreenRenderingMode: accented"]
    try await GalleryTrial.run("tinted", settings: settings) { trial in
      try await trial.add("Facts", "--family", "systemLarge")
      let seen = try await trial.entry(of: 1)
      #expect(seen.renderingMode == "accented" && seen.background == "removed")
      #expect(seen.texts.contains("view systemLarge accented margins 16 background false"), "\(seen.texts)")
      #expect(seen.texts.contains("context systemLarge 338 x 354 preview false"), "\(seen.texts)")
    }
  }

  @Test func `open the app by onOpenURL, else by its delegate with an activity that names widget and choice`()
    async throws
  {
    let app = ["executable: TrialHandlers", "environment:", "  TRIAL_FORM: opened"]
    try await GalleryTrial.run("opened", app: app) { trial in
      try await trial.add("Touch")
      try await trial.add("Facts", "--set", "word=chosen")
      _ = try await trial.entry(of: 1)
      _ = try await trial.entry(of: 2)
      for (number, line) in [("1", "a view opens trial://touch"), ("2", "continues Facts systemMedium chosen")] {
        let before = try await trial.journal.all().last?.sequence ?? 0
        try await trial.cluster.run("tap", number)
        try await trial.journal.waitFor("the app says '\(line)'", after: before) {
          $0.reading(ProcessOutput.self)?.line == line
        }
        try await trial.cluster.run("app", "background")
      }
      let lines = try await trial.journal.all().compactMap { $0.reading(ProcessOutput.self)?.line }
      #expect(!lines.contains { $0.hasPrefix("the delegate opens") })
    }
  }
}
