import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// The modifiers of a widget's configuration and what the gallery makes of them, through real processes.
@Suite(.live, .timeLimit(.live)) struct `a widget in the gallery` {
  @Test
  func `has the name and the description that the author gave as a text, a key, a string or a resource, or its kind`()
    async throws
  {
    try await GalleryTrial.run("names") { trial in
      let items = try await trial.gallery("homeScreen")
      for (kind, word) in [("TextName", "text"), ("KeyName", "key"), ("StringName", "string"), ("Margins", "resource")]
      {
        let item = try #require(items.first { $0.widgetKind == kind })
        #expect(item.displayName == "Name by a \(word)")
        #expect(item.description == "Described by a \(word)")
      }
      #expect(items.first { $0.widgetKind == "Plain" }?.displayName == "Plain")
      let added = try await trial.cluster.run("add", "TextName")
      #expect(added.contains("Name by a text") && added.contains("Described by a text"))
      let edited = try await trial.cluster.run("edit", "1")
      #expect(edited.contains("Name by a text") && edited.contains("Described by a text"))
    }
  }

  @Test func `stands in the families that it supports, in all without the modifier, and in no other`() async throws {
    try await GalleryTrial.run("families") { trial in
      #expect(try await trial.item("TextName").first { $0.shelf == .main }?.families == [.systemSmall])
      let plain = try await trial.item("Plain").first { $0.shelf == .main }
      #expect(plain?.families == [.systemSmall, .systemMedium, .systemLarge])
      let inline = try await trial.item("StringName", at: "lockScreen").first { $0.shelf == .main }
      #expect(inline?.families == [.accessoryInline])
      let refusal = try await trial.refusal("add", "TextName", "--family", "systemLarge")
      #expect(refusal.contains("does not support systemLarge"))
      #expect(try await trial.add("KeyName").placement.family == .systemMedium)
    }
  }

  @Test func `is left out until its app was launched once, and is placed by itself all the same`() async throws {
    try await GalleryTrial.run("never launched", settings: [], isLaunched: false) { trial in
      let items = try await trial.item("TextName")
      #expect(items.map(\.shelf) == [.leftOut])
      #expect(items.first?.reason?.contains("never launched") == true)
      #expect(try await trial.refusal("add", "TextName").contains("never launched"))
      #expect(
        try await trial.screen("homeScreen").map(\.kind).starts(with: ["TextName", "KeyName", "StringName", "Plain"]))
      try await trial.launch()
      #expect(try await trial.item("TextName").map(\.shelf) == [.main])
      #expect(try await trial.add("TextName").placement.id == 17)
    }
  }

  @Test func `is placed several times, and not by itself where that is the setting`() async throws {
    try await GalleryTrial.run("several") { trial in
      #expect(try await trial.gallery().isEmpty == false)
      #expect(try await trial.screen("homeScreen").isEmpty)
      for number in 1...3 { #expect(try await trial.add("TextName").placement.id == number) }
      try await trial.cluster.run("remove", "2")
      #expect(try await trial.screen("homeScreen").map(\.number) == [1, 3])
      #expect(try await trial.refusal("remove", "2").contains("there are: 1, 3"))
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(9)
      try await host.ended()
      #expect(try await trial.screen("homeScreen").map(\.number) == [1, 3])
      #expect(try await trial.add("TextName").placement.id == 4)
    }
  }

  @Test func `is offered where the device has such a place`() async throws {
    try await GalleryTrial.run("pad", device: "model: iPad Pro 11-inch, platform: iPadOS, version: \"17.0\"") { trial in
      let lockScreen = try await trial.item("StringName", at: "iPadLockScreen").first { $0.shelf == .main }
      #expect(lockScreen?.families == [.systemSmall, .accessoryInline])
      #expect(try await trial.item("Plain").first { $0.shelf == .main }?.families.contains(.systemExtraLarge) == true)
      #expect(try await trial.item("TextName", at: "standBy").map(\.shelf) == [.leftOut])
    }
  }

  @Test func `is not offered what came with a later system`() async throws {
    try await GalleryTrial.run("old", device: "model: iPhone 14, version: \"15.0\"") { trial in
      let shelves = try await trial.item("StringName", at: "lockScreen").map(\.shelf)
      #expect(Set(shelves) == [.leftOut])
      #expect(try await trial.refusal("gallery", "--location", "iPadLockScreen").contains("no iPad"))
      let tooOld = try await trial.refusal("screen", "standBy")
      #expect(tooOld.contains("iOS 17") && tooOld.contains("below `device` of widgetlab.yaml"), "\(tooOld)")
    }
  }

  @Test func `is under Other in the disfavored locations of all calls, and nowhere before iOS 17`() async throws {
    try await GalleryTrial.run("disfavored") { trial in
      let home = try await trial.item("Disfavored")
      #expect(home.first { $0.shelf == .other }?.families == [.systemSmall])
      #expect(home.first { $0.shelf == .main }?.families == [.systemMedium])
      let standBy = try await trial.item("Disfavored", at: "standBy")
      #expect(standBy.first { $0.shelf == .other }?.families == [.systemSmall])
      #expect(try await trial.add("Disfavored", "--location", "standBy").placement.location == .standBy)
    }
    try await GalleryTrial.run("disfavored 16", device: "model: iPhone 14, version: \"16.4\"") { trial in
      let home = try await trial.item("Disfavored")
      #expect(home.first { $0.shelf == .main }?.families == [.systemSmall, .systemMedium])
      #expect(!home.contains { $0.shelf == .other })
    }
  }

  @Test func `has no background where places have none, and is left out where its own is not removable`() async throws {
    try await GalleryTrial.run("background") { trial in
      let kept = try await trial.item("Kept", at: "standBy").first { $0.families.contains(.systemSmall) }
      #expect(kept?.shelf == .leftOut)
      #expect(kept?.reason?.contains("not removable") == true)
      try await trial.add("Removable", "--location", "standBy")
      try await trial.add("Removable")
      try await trial.add("Kept", "--location", "lockScreen", "--family", "accessoryCircular")
      let standBy = try await trial.entry(of: 1, at: "standBy")
      #expect(standBy.background == "removed")
      #expect(!standBy.views.joined().contains("containerBackground"))
      let home = try await trial.entry(of: 2)
      #expect(home.background == "shown")
      #expect(home.views.joined().contains("containerBackground"))
      let lock = try await trial.entry(of: 3, at: "lockScreen")
      #expect(lock.background == "desaturated" && lock.renderingMode == "vibrant")
      #expect(lock.views.joined().contains("containerBackground"))
    }
    let pad = "model: iPad Pro 11-inch, version: \"17.0\""
    try await GalleryTrial.run("background pad", device: pad) { trial in
      let shelf = try await trial.item("Kept", at: "iPadLockScreen").first { $0.families == [.systemSmall] }?.shelf
      #expect(shelf == .leftOut)
      #expect(
        try await trial.refusal("add", "Kept", "--location", "iPadLockScreen", "--family", "systemSmall")
          .contains("not removable"))
      #expect(try await trial.add("Removable", "--location", "iPadLockScreen").placement.family == .systemSmall)
    }
  }

  @Test func `is padded by the content margins from iOS 17 on, unless they are disabled`() async throws {
    try await GalleryTrial.run("margins") { trial in
      try await trial.add("Margins")
      try await trial.add("NoMargins")
      #expect(try await trial.entry(of: 1).views.joined().contains("contentMargins"))
      #expect(try await !trial.entry(of: 2).views.joined().contains("contentMargins"))
    }
    try await GalleryTrial.run("margins 16", device: "model: iPhone 14, version: \"16.4\"") { trial in
      try await trial.add("Margins")
      #expect(try await !trial.entry(of: 1).views.joined().contains("contentMargins"))
    }
  }

  @Test func `keeps its content margins where a view ignores the safe area`() async throws {
    try await GalleryTrial.run("safe area") { trial in
      try await trial.add("Margins")
      let views = try await trial.entry(of: 1).views.joined()
      #expect(views.contains("ignoresSafeArea") && views.contains("contentMargins(bottom: 16"), "\(views)")
    }
  }

  @Test func `asks to be configured when it is added, and is configured and edited by what a person chooses`()
    async throws
  {
    try await GalleryTrial.run("configured") { trial in
      let said = try await trial.cluster.run("add", "City")
      #expect(said.contains("asks to be configured"))
      #expect(said.contains("Select City") && said.contains("paris (Paris)"))
      #expect(try await trial.entry(of: 1).views.joined().contains("london for 3 days"))
      try await trial.add("City", "--set", "city=Paris", "--set", "days=5")
      #expect(try await trial.entry(of: 2).views.joined().contains("paris for 5 days"))
      #expect(try await trial.refusal("add", "City", "--set", "city=Rome").contains("london (London), paris (Paris)"))
      try await trial.cluster.run("edit", "1", "--set", "city=paris")
      try await trial.cluster.eventually("the edited widget shows what was chosen") {
        try await trial.entry(of: 1).views.joined().contains("paris for 3 days")
      }
      #expect(try await trial.entry(of: 2).views.joined().contains("paris for 5 days"))
    }
    try await GalleryTrial.run("configured 17", device: "model: iPhone 15, version: \"17.0\"") { trial in
      let said = try await trial.cluster.run("add", "City")
      #expect(!said.contains("asks to be configured"))
    }
  }
}
