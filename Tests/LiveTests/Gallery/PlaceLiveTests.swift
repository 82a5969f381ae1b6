import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What a place makes of a widget: section 4.6 of the rules of WidgetKit, over real processes.
@Suite(.live, .timeLimit(.live)) struct `a place for widgets` {
  @Test func `is CarPlay, from iOS 26 on: systemSmall, in full colour, without background`() async throws {
    try await GalleryTrial.run("car", device: "model: iPhone 17, version: \"26.0\"") { trial in
      let items = try await trial.item("KeyName", at: "carPlay")
      #expect(items.first { $0.shelf == .main }?.families == [.systemSmall])
      #expect(items.first { $0.shelf == .leftOut }?.families == [.systemMedium])
      try await trial.add("Facts", "--location", "carPlay")
      try await trial.add("Kept", "--location", "carPlay")
      let seen = try await trial.entry(of: 1, at: "carPlay")
      #expect(seen.family == "systemSmall" && seen.renderingMode == "fullColor" && seen.background == "removed")
      #expect(seen.texts.contains("view systemSmall fullColor margins 11 background false"))
      #expect(try await trial.entry(of: 2, at: "carPlay").background == "kept")
      #expect(try await trial.cluster.run("look", "carPlay") == "unlocked, carPlay is seen\n")
    }
    try await GalleryTrial.run("car 18") { trial in
      let items = try await trial.item("KeyName", at: "carPlay")
      #expect(items.allSatisfy { $0.shelf == .leftOut && $0.reason?.contains("from iOS 26 on") == true })
      #expect(try await trial.refusal("screen", "carPlay").contains("from iOS 26 on"))
    }
  }

  @Test(arguments: [("18.0", "accented", "removed"), ("17.0", "fullColor", "shown")])
  func `is a tinted Home Screen, accented from iOS 18 on, with the margin that is set`(
    version: String, mode: String, background: String
  ) async throws {
    let settings = ["placesEachKind: false", "homeScreenRenderingMode: accented", "contentMargin: 20"]
    let device = "model: iPhone 15, version: \"\(version)\""
    try await GalleryTrial.run("tinted", device: device, settings: settings) { trial in
      try await trial.add("Facts")
      try await trial.add("Kept")
      let seen = try await trial.entry(of: 1)
      #expect(seen.renderingMode == mode && seen.background == background)
      #expect(seen.texts.contains("view systemMedium \(mode) margins 20 background \(background == "shown")"))
      #expect(seen.views.joined().contains("contentMargins(bottom: 20"), "\(seen.views)")
      #expect(try await trial.entry(of: 2).background == (background == "shown" ? "shown" : "faded"))
    }
  }

  @Test(arguments: ["fullColor", "vibrant"])
  func `is StandBy, in full colour or in low light vibrant, without background`(mode: String) async throws {
    let settings = ["placesEachKind: false", "standByRenderingMode: \(mode)"]
    try await GalleryTrial.run("standby", settings: settings) { trial in
      try await trial.add("Facts", "--location", "standBy")
      let seen = try await trial.entry(of: 1, at: "standBy")
      #expect(seen.renderingMode == mode && seen.background == "removed")
      #expect(seen.texts.contains("view systemSmall \(mode) margins 11 background false"))
      #expect(try await trial.item("Kept", at: "standBy").allSatisfy { $0.shelf == .leftOut })
    }
  }

  @Test(arguments: [("fullColor", nil), ("vibrant", "red")])
  func `is StandBy, which tints all of its widgets red in low light, and no other place does`(
    mode: String, tint: String?
  ) async throws {
    let settings = ["placesEachKind: false", "standByRenderingMode: \(mode)"]
    try await GalleryTrial.run("red", settings: settings) { trial in
      try await trial.add("Facts", "--location", "standBy")
      _ = try await trial.entry(of: 1, at: "standBy")
      #expect(try await trial.tint("standBy") == tint)
      #expect(try await trial.tint("lockScreen") == nil)
      let head = try await trial.cluster.run("screen", "standBy").split(separator: "\n").first
      #expect(head == "standBy, unlocked, homeScreen is seen\(tint == nil ? "" : ", all of it tinted red")")
      let told = try await trial.journal.all().last { $0.kind == ShowScreen.kind.answered(.ok).name }
      let reply = try BodyCoding.decode(ShowScreen.Reply.self, from: try #require(told).envelope.body)
      #expect(reply.tint?.rawValue == tint)
    }
  }

  @Test(arguments: [true, false])
  func `takes accessory families of a widget that says none, where that is the setting`(included: Bool) async throws {
    let settings = ["placesEachKind: false", "defaultFamiliesIncludeAccessory: \(included)"]
    try await GalleryTrial.run("families", settings: settings) { trial in
      let families = try await trial.item("Plain", at: "lockScreen").first { $0.shelf == .main }?.families
      let accessory: [WidgetFamilyName] = [.accessoryCircular, .accessoryRectangular, .accessoryInline]
      #expect(families.map(Set.init) == (included ? Set(accessory) : nil))
    }
  }

  @Test func `keeps a widget whose kind its author renamed: with its last entry, and never a new one`() async throws {
    try await GalleryTrial.run("renamed", product: ["environment:", "  TRIAL_WIDGETS: renamed"]) { trial in
      try await trial.add("Before")
      _ = try await trial.entry(of: 1)
      try await trial.cluster.run("tap", "1", "--control", "1")
      let before = try await trial.last
      try await trial.cluster.run("kill", "extension")
      try await trial.journal.waitFor("it is dead", after: before) { $0.reading(ProcessExited.self) != nil }
      try await trial.cluster.run("reload", "Before")
      let failed = try await trial.journal.waitFor("the reload comes to nothing", after: before) {
        $0.reading(ReloadFailed.self)?.failure == .unknownKind
      }
      #expect(failed.reading(ReloadFailed.self)?.placement == 1)
      let seen = try await trial.entry(of: 1)
      #expect(seen.note?.contains("no widget of the kind Before any longer") == true)
      #expect(try await trial.gallery("homeScreen").map(\.widgetKind) == ["After"])
      #expect(try await trial.refusal("edit", "1").contains("Before"))
      #expect(try await trial.add("After").placement.id == 2)
      _ = try await trial.entry(of: 2)
    }
  }
}
