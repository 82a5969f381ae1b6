// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The views of an author's widgets, from the extension's process to the user's screen.
@Suite(.live, .timeLimit(.live)) struct `The views of a widget` {
  @Test(.rule("TIMELINE-08", "VIEW-01"))
  func `the screen prints views as indented text for the family and colour scheme, and redraws without a reload`()
    async throws
  {
    try await GalleryFixture.run("views", fixture: "views") { fixture in
      try await fixture.add("Caffeine", "--family", "systemSmall")
      try await fixture.add("Caffeine", "--family", "systemMedium")
      let small = try await fixture.entry(of: 1)
      #expect(small.views.contains("  Text \"240 mg\" .font(title rounded) .bold .privacySensitive"))
      #expect(small.views.contains("    Image(systemName: cup.and.saucer.fill)"))
      #expect(small.views.first?.contains("linearGradient: [white, orange]") == true, "\(small.views)")
      #expect(!small.views.contains { $0.contains("Button") })
      let medium = try await fixture.entry(of: 2)
      #expect(medium.views.contains { $0.contains("Button intent Drink(cups: 1)") })
      let stored = try await fixture.storedTimelines()
      try await fixture.cluster.run("look", "dark")
      let dark = try await fixture.entry(of: 1)
      #expect(dark.views.first?.contains("linearGradient: [black, brown]") == true, "\(dark.views)")
      #expect(dark.views.dropFirst() == small.views.dropFirst())
      #expect(try await fixture.storedTimelines() == stored, "redrawn without a new timeline")
    }
  }

  @Test(.rule("PICTURE-01", "PICTURE-06", "PICTURE-20", "LAYOUT-21", "LAYOUT-22"))
  func `the screen is drawn as a picture, and what is not drawn is named`() async throws {
    try await GalleryFixture.run("picture", fixture: "views") { fixture in
      try await fixture.cluster.run("clock", "hold")
      for (number, family) in ["systemSmall", "systemMedium"].enumerated() {
        try await fixture.add("Caffeine", "--family", family)
        _ = try await fixture.entry(of: number + 1)
      }
      let file = FileManager.default.temporaryDirectory.appending(path: "screen-\(UUID().uuidString).svg")
      defer { try? FileManager.default.removeItem(at: file) }
      let answer = try await fixture.cluster.attempt(["screen", "--picture", file.path])
      #expect(answer.status == 0 && answer.output.contains("2 widgets"), "\(answer.output)\(answer.errors)")
      #expect(!answer.errors.contains("the symbol"), "\(answer.errors)")
      #expect(!answer.errors.contains("Gauge") && !answer.errors.contains("Button"))
      let text = try String(contentsOf: file, encoding: .utf8)
      let drawing = ScreenDrawing(text)
      #expect(drawing.size == ["393", "364"])
      #expect(drawing.widgets == ["1 Caffeine systemSmall at 16 16", "2 Caffeine systemMedium at 16 190"])
      #expect(drawing.texts.count == 8, "\(drawing.texts)")
      // The small widget has no room for the title.
      #expect(drawing.texts.prefix(3) == ["Caffeine", "240…", "today"])
      #expect(drawing.texts.dropFirst(3).prefix(3) == ["Caffeine", "240 mg", "today"])
      #expect(text.matches(of: /aria-label="cup.and.saucer.fill"/).count == 2)
      #expect(drawing.texts.last == "One more")
      #expect(text.contains("stop-color=\"#ffffff\"") && !text.contains("stop-color=\"#000000\""))
      try await fixture.cluster.run("screen", "--picture", file.path)
      #expect(try String(contentsOf: file, encoding: .utf8) == text, "the same screen has the same bytes")
      try await fixture.cluster.run("look", "dark")
      try await fixture.cluster.run("screen", "--picture", file.path)
      #expect(try String(contentsOf: file, encoding: .utf8).contains("stop-color=\"#000000\""))
      let refusal = try await fixture.cluster.attempt(["screen", "--picture", "screen.jpg"])
      #expect(refusal.status == 64 && refusal.errors.contains("ends with .svg or .png"))
      let pixels = file.deletingPathExtension().appendingPathExtension("png")
      defer { try? FileManager.default.removeItem(at: pixels) }
      try await fixture.cluster.run("screen", "--picture", pixels.path)
      // The width and the height in the header: those of the document, with three pixels for each point.
      let header = try Data(contentsOf: pixels).prefix(24).suffix(8)
      #expect(Array(header) == [0, 0, 4, 155, 0, 0, 4, 68])
    }
  }

  @Test(.rule("LAYOUT-13", "VIEW-05")) func `nested geometry readers are called with the sizes of the layout`()
    async throws
  {
    try await GalleryFixture.run("closures") { fixture in
      try await fixture.add("NestedReaders")
      // The reader beside a colour has half of the row; the widget is 158 points wide.
      #expect(try await fixture.entry(of: 1).texts == ["outer 79 x 158", "inner 39 x 39"])
      // The reader within has its size one round later.
      try await fixture.cluster.eventually("two rounds are in the journal") {
        try await fixture.journal.all().compactMap { $0.reading(CallClosures.self) }.count == 2
      }
      let file = FileManager.default.temporaryDirectory.appending(path: "closures-\(UUID().uuidString).svg")
      defer { try? FileManager.default.removeItem(at: file) }
      let answer = try await fixture.cluster.attempt(["screen", "--picture", file.path])
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
    }
  }

  @Test(.rule("VIEW-08")) func `an unsupported view is replaced by a message, and diagnose reports it`() async throws {
    try await GalleryFixture.run("unsupported", fixture: "views") { fixture in
      try await fixture.add("Scrolling")
      let seen = try await fixture.entry(of: 1)
      #expect(seen.views.contains { $0.contains("ScrollView: widgets cannot show it") })
      #expect(!seen.views.contains { $0.contains("within") })
      let answer = try await fixture.cluster.attempt(["diagnose", "unsupported-view"])
      #expect(answer.status == 1 && answer.output.contains("the view of Scrolling has a ScrollView"))
    }
  }

  @Test(.rule("VIEW-09")) func `live texts update with the device's clock without a new timeline`() async throws {
    try await GalleryFixture.run("living", fixture: "views") { fixture in
      try await fixture.add("Living")
      _ = try await fixture.entry(of: 1)
      try await fixture.cluster.run("clock", "hold")
      let stored = try await fixture.storedTimelines()
      try await fixture.cluster.run("clock", "advance", "5m")
      #expect(try await fixture.entry(of: 1).views.contains { $0.hasPrefix("  Text \"5 min") })
      #expect(try await fixture.storedTimelines() == stored)
    }
  }

  @Test(.rule("GALLERY-38", "GALLERY-41"))
  func `an intent is performed only once, even when its process crashes in perform`() async throws {
    try await GalleryFixture.run("crash in perform", fixture: "views") { fixture in
      try await fixture.add("Living")
      _ = try await fixture.entry(of: 1)
      let answer = try await fixture.cluster.attempt(["tap", "1", "--button", "2"])
      #expect(answer.status == 1 && answer.output.contains("exited during it"), "\(answer)")
      let asked = try await fixture.journal.all().filter { $0.reading(PerformIntent.self) != nil }
      #expect(asked.count == 1)
    }
  }

  @Test(.rule("VIEW-06"))
  func `a tap on a toggle reaches the extension, and the new state returns with its next timeline`() async throws {
    try await GalleryFixture.run("toggle", fixture: "views") { fixture in
      try await fixture.add("Living")
      for state in ["true", "false"] {
        let before = try await fixture.entry(of: 1).views
        #expect(before.contains { $0.contains("Toggle(isOn: \(state == "true" ? "false" : "true"))") })
        try await fixture.cluster.run("tap", "1", "--button", "1")
        try await fixture.cluster.eventually("the toggle is \(state)") {
          try await fixture.entry(of: 1).views.contains { $0.contains("Toggle(isOn: \(state))") }
        }
      }
    }
  }
}

extension GalleryFixture {
  fileprivate func storedTimelines() async throws -> Int {
    try await journal.all().count { $0.reading(TimelineStored.self) != nil }
  }
}
