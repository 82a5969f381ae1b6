// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// How a place renders a widget: section 4.6 of the rules of WidgetKit, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Rendering in the places of a device` {
  @Test(.rule("GALLERY-02", "GALLERY-06", "GALLERY-07"))
  func `CarPlay shows systemSmall widgets in full colour and without background, from iOS 26 on`() async throws {
    try await GalleryFixture.run("car", device: "model: iPhone 17, version: \"26.0\"") { fixture in
      let items = try await fixture.item("KeyName", at: "carPlay")
      #expect(items.first { $0.section == .main }?.families == [.systemSmall])
      #expect(items.first { $0.section == .leftOut }?.families == [.systemMedium])
      try await fixture.add("Facts", "--location", "carPlay")
      try await fixture.add("Kept", "--location", "carPlay")
      let seen = try await fixture.entry(of: 1, at: "carPlay")
      #expect(seen.family == "systemSmall" && seen.renderingMode == "fullColor" && seen.background == "removed")
      #expect(seen.texts.contains("view systemSmall fullColor margins 11 background false"))
      #expect(try await fixture.entry(of: 2, at: "carPlay").background == "kept")
      #expect(try await fixture.cluster.run("look", "carPlay") == "unlocked, carPlay is visible\n")
    }
    try await GalleryFixture.run("car 18") { fixture in
      let items = try await fixture.item("KeyName", at: "carPlay")
      #expect(items.allSatisfy { $0.section == .leftOut && $0.reason?.contains("from iOS 26 on") == true })
      #expect(try await fixture.refusal("screen", "carPlay").contains("from iOS 26 on"))
    }
  }

  @Test(
    .rule("GALLERY-06", "GALLERY-16", "GALLERY-21"),
    arguments: [("18.0", "accented", "removed"), ("17.0", "fullColor", "shown")])
  func `a tinted Home Screen is accented from iOS 18 on and uses the configured content margin`(
    version: String, mode: String, background: String
  ) async throws {
    let settings = ["placesEachKind: false", "homeScreenRenderingMode: accented", "contentMargin: 20"]
    let device = "model: iPhone 15, version: \"\(version)\""
    try await GalleryFixture.run("tinted", device: device, settings: settings) { fixture in
      try await fixture.add("Facts")
      try await fixture.add("Kept")
      let seen = try await fixture.entry(of: 1)
      #expect(seen.renderingMode == mode && seen.background == background)
      #expect(seen.texts.contains("view systemMedium \(mode) margins 20 background \(background == "shown")"))
      #expect(seen.views.joined().contains("contentMargins(bottom: 20"), "\(seen.views)")
      #expect(try await fixture.entry(of: 2).background == (background == "shown" ? "shown" : "faded"))
    }
  }

  @Test(.rule("GALLERY-07", "GALLERY-22"), arguments: ["fullColor", "vibrant"])
  func `StandBy shows widgets without background, in full colour or vibrant in low light`(mode: String) async throws {
    let settings = ["placesEachKind: false", "standByRenderingMode: \(mode)"]
    try await GalleryFixture.run("standby", settings: settings) { fixture in
      try await fixture.add("Facts", "--location", "standBy")
      let seen = try await fixture.entry(of: 1, at: "standBy")
      #expect(seen.renderingMode == mode && seen.background == "removed")
      #expect(seen.texts.contains("view systemSmall \(mode) margins 11 background false"))
      #expect(try await fixture.item("Kept", at: "standBy").allSatisfy { $0.section == .leftOut })
    }
  }

  @Test(.rule("GALLERY-23"), arguments: [("fullColor", nil), ("vibrant", "red")])
  func `StandBy tints all of its widgets red in low light, and no other place does`(
    mode: String, tint: String?
  ) async throws {
    let settings = ["placesEachKind: false", "standByRenderingMode: \(mode)"]
    try await GalleryFixture.run("red", settings: settings) { fixture in
      try await fixture.add("Facts", "--location", "standBy")
      _ = try await fixture.entry(of: 1, at: "standBy")
      #expect(try await fixture.tint("standBy") == tint)
      #expect(try await fixture.tint("lockScreen") == nil)
      let head = try await fixture.cluster.run("screen", "standBy").split(separator: "\n").first
      #expect(head == "standBy, unlocked, homeScreen is visible\(tint == nil ? "" : ", tinted red")")
      let entry = try await fixture.journal.all().last { $0.kind == ShowScreen.kind.answered(.ok).name }
      let reply = try BodyCoding.decode(ShowScreen.Reply.self, from: try #require(entry).envelope.body)
      #expect(reply.tint?.rawValue == tint)
    }
  }

  @Test(.rule("GALLERY-03"), arguments: [true, false])
  func `a widget that declares no families has accessory families only when the setting includes them`(
    included: Bool
  ) async throws {
    let settings = ["placesEachKind: false", "defaultFamiliesIncludeAccessory: \(included)"]
    try await GalleryFixture.run("families", settings: settings) { fixture in
      let families = try await fixture.item("Plain", at: "lockScreen").first { $0.section == .main }?.families
      let accessory: [WidgetFamilyName] = [.accessoryCircular, .accessoryRectangular, .accessoryInline]
      #expect(families.map(Set.init) == (included ? Set(accessory) : nil))
    }
  }

  @Test(.rule("GALLERY-11"))
  func `a widget whose kind is renamed keeps its last entry and never gets a new one`() async throws {
    try await GalleryFixture.run("renamed", product: ["environment:", "  TRIAL_WIDGETS: renamed"]) { fixture in
      try await fixture.add("Before")
      _ = try await fixture.entry(of: 1)
      try await fixture.cluster.run("tap", "1", "--button", "1")
      let before = try await fixture.last
      try await fixture.cluster.run("kill", "extension")
      try await fixture.journal.waitFor("the extension has exited", after: before) {
        $0.reading(ProcessExited.self) != nil
      }
      let reload = try await fixture.cluster.attempt(["reload", "Before"])
      #expect(reload.status == 1 && reload.errors.contains("is of kind Before; there are: After"), "\(reload)")
      let failed = try await fixture.journal.waitFor("the reload fails", after: before) {
        $0.reading(ReloadFailed.self)?.failure == .unknownKind
      }
      #expect(failed.reading(ReloadFailed.self)?.placement == 1)
      let seen = try await fixture.entry(of: 1)
      #expect(seen.note?.contains("no longer has a widget of kind Before") == true)
      #expect(try await fixture.gallery("homeScreen").map(\.widgetKind) == ["After"])
      #expect(try await fixture.refusal("edit", "1").contains("Before"))
      #expect(try await fixture.add("After").placement.id == 2)
      _ = try await fixture.entry(of: 2)
    }
  }
}
