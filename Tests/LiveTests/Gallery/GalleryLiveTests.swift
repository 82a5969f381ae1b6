// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The modifiers of a widget's configuration and their effects in the gallery, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Widgets in the gallery` {
  @Test(.rule("GALLERY-01"))
  func `the gallery shows a widget's name and description from a text, key, string or resource, or else its kind`()
    async throws
  {
    try await GalleryFixture.run("names") { fixture in
      let items = try await fixture.gallery("homeScreen")
      for (kind, word) in [("TextName", "text"), ("KeyName", "key"), ("StringName", "string"), ("Margins", "resource")]
      {
        let item = try #require(items.first { $0.widgetKind == kind })
        #expect(item.displayName == "Name by a \(word)")
        #expect(item.description == "Described by a \(word)")
      }
      #expect(items.first { $0.widgetKind == "Plain" }?.displayName == "Plain")
      let added = try await fixture.cluster.run("add", "TextName")
      #expect(added.contains("Name by a text") && added.contains("Described by a text"))
      let edited = try await fixture.cluster.run("edit", "1")
      #expect(edited.contains("Name by a text") && edited.contains("Described by a text"))
    }
  }

  @Test(.rule("GALLERY-02"))
  func `the gallery offers a widget in the families it supports, in all families by default, and in no other`()
    async throws
  {
    try await GalleryFixture.run("families") { fixture in
      #expect(try await fixture.item("TextName").first { $0.section == .main }?.families == [.systemSmall])
      let plain = try await fixture.item("Plain").first { $0.section == .main }
      #expect(plain?.families == [.systemSmall, .systemMedium, .systemLarge])
      let inline = try await fixture.item("StringName", at: "lockScreen").first { $0.section == .main }
      #expect(inline?.families == [.accessoryInline])
      let refusal = try await fixture.refusal("add", "TextName", "--family", "systemLarge")
      #expect(refusal.contains("does not support systemLarge"))
      #expect(try await fixture.add("KeyName").placement.family == .systemMedium)
    }
  }

  @Test(.rule("GALLERY-08"))
  func `the gallery leaves a widget out until its app is launched once, but the device still places it`() async throws {
    try await GalleryFixture.run("never launched", settings: [], isLaunched: false) { fixture in
      let items = try await fixture.item("TextName")
      #expect(items.map(\.section) == [.leftOut])
      #expect(items.first?.reason?.contains("never launched") == true)
      #expect(try await fixture.refusal("add", "TextName").contains("never launched"))
      #expect(
        try await fixture.screen("homeScreen").map(\.kind).starts(with: ["TextName", "KeyName", "StringName", "Plain"]))
      try await fixture.launch()
      #expect(try await fixture.item("TextName").map(\.section) == [.main])
      #expect(try await fixture.add("TextName").placement.id == 18)
    }
  }

  @Test(.rule("GALLERY-09", "GALLERY-13"))
  func `a widget can be placed several times, and is not placed automatically when the setting is off`() async throws {
    try await GalleryFixture.run("several") { fixture in
      #expect(try await fixture.gallery().isEmpty == false)
      #expect(try await fixture.screen("homeScreen").isEmpty)
      for number in 1...3 { #expect(try await fixture.add("TextName").placement.id == number) }
      try await fixture.cluster.run("remove", "2")
      #expect(try await fixture.screen("homeScreen").map(\.number) == [1, 3])
      #expect(try await fixture.refusal("remove", "2").contains("there are: 1, 3"))
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(9)
      try await host.ended()
      try await fixture.cluster.isBack("host")
      #expect(try await fixture.screen("homeScreen").map(\.number) == [1, 3])
      #expect(try await fixture.add("TextName").placement.id == 4)
    }
  }

  @Test(.rule("GALLERY-02")) func `the gallery offers a widget only in the places that the device has`() async throws {
    try await GalleryFixture.run("pad", device: "model: iPad Pro 11-inch, platform: iPadOS, version: \"17.0\"") {
      fixture in
      let lockScreen = try await fixture.item("StringName", at: "iPadLockScreen").first { $0.section == .main }
      #expect(lockScreen?.families == [.systemSmall, .accessoryInline])
      #expect(
        try await fixture.item("Plain").first { $0.section == .main }?.families.contains(.systemExtraLarge) == true)
      #expect(try await fixture.item("TextName", at: "standBy").map(\.section) == [.leftOut])
    }
  }

  @Test(.rule("GALLERY-02")) func `the gallery leaves out places of later system versions`() async throws {
    try await GalleryFixture.run("old", device: "model: iPhone 14, version: \"15.0\"") { fixture in
      let sections = try await fixture.item("StringName", at: "lockScreen").map(\.section)
      #expect(Set(sections) == [.leftOut])
      #expect(try await fixture.refusal("gallery", "--location", "iPadLockScreen").contains("not an iPad"))
      let tooOld = try await fixture.refusal("screen", "standBy")
      #expect(tooOld.contains("iOS 17") && tooOld.contains("`device` in widgetlab.yaml"), "\(tooOld)")
    }
  }

  @Test(.rule("GALLERY-04"))
  func `all disfavoredLocations modifiers of a widget put it under Other, and have no effect before iOS 17`()
    async throws
  {
    try await GalleryFixture.run("disfavored") { fixture in
      let home = try await fixture.item("Disfavored")
      #expect(home.first { $0.section == .other }?.families == [.systemSmall])
      #expect(home.first { $0.section == .main }?.families == [.systemMedium])
      let standBy = try await fixture.item("Disfavored", at: "standBy")
      #expect(standBy.first { $0.section == .other }?.families == [.systemSmall])
      #expect(try await fixture.add("Disfavored", "--location", "standBy").placement.location == .standBy)
    }
    try await GalleryFixture.run("disfavored 16", device: "model: iPhone 14, version: \"16.4\"") { fixture in
      let home = try await fixture.item("Disfavored")
      #expect(home.first { $0.section == .main }?.families == [.systemSmall, .systemMedium])
      #expect(!home.contains { $0.section == .other })
    }
  }

  @Test(.rule("GALLERY-05", "GALLERY-06", "GALLERY-07"))
  func `a widget loses its background in places without one, and is left out when its background is not removable`()
    async throws
  {
    try await GalleryFixture.run("background") { fixture in
      let keptItem = try await fixture.item("Kept", at: "standBy").first { $0.families.contains(.systemSmall) }
      #expect(keptItem?.section == .leftOut)
      #expect(keptItem?.reason?.contains("not removable") == true)
      try await fixture.add("Removable", "--location", "standBy")
      try await fixture.add("Removable")
      try await fixture.add("Kept", "--location", "lockScreen", "--family", "accessoryCircular")
      let standBy = try await fixture.entry(of: 1, at: "standBy")
      #expect(standBy.background == "removed")
      #expect(!standBy.views.joined().contains("containerBackground"))
      let home = try await fixture.entry(of: 2)
      #expect(home.background == "shown")
      #expect(home.views.joined().contains("containerBackground"))
      let lock = try await fixture.entry(of: 3, at: "lockScreen")
      #expect(lock.background == "desaturated" && lock.renderingMode == "vibrant")
      #expect(lock.views.joined().contains("containerBackground"))
    }
    try await GalleryFixture.run("background 16", device: "model: iPhone 14, version: \"16.4\"") { fixture in
      try await fixture.add("Kept", "--location", "lockScreen", "--family", "accessoryCircular")
      try await fixture.add("Removable", "--location", "lockScreen", "--family", "accessoryCircular")
      for placement in [1, 2] {
        let entry = try await fixture.entry(of: placement, at: "lockScreen")
        #expect(entry.background == "shown", "containerBackgroundRemovable has no effect before iOS 17")
      }
    }
    let pad = "model: iPad Pro 11-inch, version: \"17.0\""
    try await GalleryFixture.run("background pad", device: pad) { fixture in
      let section = try await fixture.item("Kept", at: "iPadLockScreen").first { $0.families == [.systemSmall] }?
        .section
      #expect(section == .leftOut)
      #expect(
        try await fixture.refusal("add", "Kept", "--location", "iPadLockScreen", "--family", "systemSmall")
          .contains("not removable"))
      #expect(try await fixture.add("Removable", "--location", "iPadLockScreen").placement.family == .systemSmall)
    }
  }

  @Test(.rule("GALLERY-16", "GALLERY-47"), arguments: [16, 20])
  func `a widget is laid out within its content margins from iOS 17 on, unless they are disabled`(
    contentMargin: Int
  ) async throws {
    let settings = ["placesEachKind: false", "contentMargin: \(contentMargin)"]
    try await GalleryFixture.run("margins \(contentMargin)", settings: settings) { fixture in
      try await fixture.add("Margins")
      try await fixture.add("NoMargins")
      let side = 158 - 2 * contentMargin
      let padded = try await fixture.entry(of: 1)
      #expect(padded.views.joined().contains("contentMargins"))
      #expect(padded.texts == ["\(side) x \(side) margins \(contentMargin)"])
      let whole = try await fixture.entry(of: 2)
      #expect(!whole.views.joined().contains("contentMargins"))
      #expect(
        whole.texts == ["158 x 158 margins \(contentMargin)", "\(side) x \(side) margins \(contentMargin)"],
        "the second view has restored the margins")
    }
    try await GalleryFixture.run("margins 16", device: "model: iPhone 14, version: \"16.4\"", settings: settings) {
      fixture in
      try await fixture.add("Margins")
      let widget = try await fixture.entry(of: 1)
      #expect(!widget.views.joined().contains("contentMargins"))
      #expect(widget.texts.first?.hasSuffix("margins 0") == true && widget.texts.first?.hasPrefix("158 x 158") == true)
    }
  }

  @Test(.rule("GALLERY-48"), arguments: [("17.0", true), ("16.4", false)])
  func `a sign replaces a view without a container background, from iOS 17 on`(
    version: String, isSign: Bool
  ) async throws {
    try await GalleryFixture.run(
      "sign \(version)", device: "model: iPhone 14, version: \"\(version)\"",
      product: ["environment:", "  TRIAL_WIDGETS: bare"]
    ) { fixture in
      try await fixture.add("Bare")
      let sign = try await fixture.entry(of: 1)
      #expect(sign.texts == [isSign ? "Please adopt containerBackground API" : "bare"])
      #expect(sign.note == (isSign ? "its view has no containerBackground(for: .widget)" : nil))
      let control = try await fixture.cluster.attempt(["tap", "1", "--button", "1"])
      #expect((control.status == 0) == !isSign, "nothing of the view is on the screen")
      try await fixture.add("BareKept")
      #expect(try await fixture.entry(of: 2).texts == ["not removable"])
    }
  }

  @Test(.rule("GALLERY-17"))
  func `a view that ignores the safe area keeps the widget's content margins`() async throws {
    try await GalleryFixture.run("safe area") { fixture in
      try await fixture.add("Margins")
      let views = try await fixture.entry(of: 1).views.joined()
      #expect(views.contains("ignoresSafeArea") && views.contains("contentMargins(bottom: 16"), "\(views)")
    }
  }

  @Test(.rule("TIMELINE-02", "GALLERY-14", "GALLERY-15"))
  func `a configurable widget asks for its configuration when added, and the user's choices and edits take effect`()
    async throws
  {
    try await GalleryFixture.run("configured") { fixture in
      let output = try await fixture.cluster.run("add", "City")
      #expect(output.contains("prompts for its configuration"))
      #expect(output.contains("Select City") && output.contains("paris (Paris)"))
      #expect(try await fixture.entry(of: 1).views.joined().contains("london for 3 days"))
      try await fixture.add("City", "--set", "city=Paris", "--set", "days=5")
      #expect(try await fixture.entry(of: 2).views.joined().contains("paris for 5 days"))
      #expect(try await fixture.refusal("add", "City", "--set", "city=Rome").contains("london (London), paris (Paris)"))
      try await fixture.cluster.run("edit", "1", "--set", "city=paris")
      try await fixture.cluster.eventually("the edited widget shows the chosen city") {
        try await fixture.entry(of: 1).views.joined().contains("paris for 3 days")
      }
      #expect(try await fixture.entry(of: 2).views.joined().contains("paris for 5 days"))
    }
    try await GalleryFixture.run("configured 17", device: "model: iPhone 15, version: \"17.0\"") { fixture in
      let output = try await fixture.cluster.run("add", "City")
      #expect(!output.contains("prompts for its configuration"))
    }
  }
}
