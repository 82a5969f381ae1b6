import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// The views of an author's widgets, from the extension's process to the person's screen.
@Suite(.live, .timeLimit(.live)) struct `the views of a widget` {
  @Test func `stand on the screen as indented text, for their family and for the colours of the device`() async throws {
    try await GalleryTrial.run("views", executable: "TrialViews") { trial in
      try await trial.add("Caffeine", "--family", "systemSmall")
      try await trial.add("Caffeine", "--family", "systemMedium")
      let small = try await trial.entry(of: 1)
      #expect(small.views.contains("  Text \"240 mg\" .font(title rounded) .bold .privacySensitive"))
      #expect(small.views.contains("    Image(systemName: cup.and.saucer.fill)"))
      #expect(small.views.first?.contains("linearGradient: [white, orange]") == true, "\(small.views)")
      #expect(!small.views.contains { $0.contains("Button") })
      let medium = try await trial.entry(of: 2)
      #expect(medium.views.contains { $0.contains("Button intent Drink(cups: 1)") })
      let stored = try await trial.storedTimelines()
      try await trial.cluster.run("look", "dark")
      let dark = try await trial.entry(of: 1)
      #expect(dark.views.first?.contains("linearGradient: [black, brown]") == true, "\(dark.views)")
      #expect(dark.views.dropFirst() == small.views.dropFirst())
      #expect(try await trial.storedTimelines() == stored, "drawn again, without a new timeline")
    }
  }

  @Test func `hold a sign for what widgets cannot show, and the author is told`() async throws {
    try await GalleryTrial.run("unsupported", executable: "TrialViews") { trial in
      try await trial.add("Scrolling")
      let seen = try await trial.entry(of: 1)
      #expect(seen.views.contains { $0.contains("ScrollView: widgets cannot show it") })
      #expect(!seen.views.contains { $0.contains("within") })
      let answer = try await trial.cluster.attempt(["diagnose", "unsupported-view"])
      #expect(answer.status == 1 && answer.output.contains("the view of Scrolling has a ScrollView"))
    }
  }

  @Test func `go on by themselves where they are live texts, without a new timeline`() async throws {
    try await GalleryTrial.run("living", executable: "TrialViews") { trial in
      try await trial.add("Living")
      _ = try await trial.entry(of: 1)
      try await trial.cluster.run("clock", "hold")
      let stored = try await trial.storedTimelines()
      try await trial.cluster.run("clock", "advance", "5m")
      #expect(try await trial.entry(of: 1).views.contains { $0.hasPrefix("  Text \"5 min") })
      #expect(try await trial.storedTimelines() == stored)
    }
  }

  @Test func `have an intent performed by one life, also where that ends over it`() async throws {
    try await GalleryTrial.run("crash in perform", executable: "TrialViews") { trial in
      try await trial.add("Living")
      _ = try await trial.entry(of: 1)
      let said = try await trial.cluster.run("tap", "1", "--control", "2")
      #expect(said.contains("ended over it"), "\(said)")
      let asked = try await trial.journal.all().filter { $0.reading(PerformIntent.self) != nil }
      #expect(asked.count == 1)
    }
  }

  @Test func `hold a toggle in both states, whose tap is told to the extension and comes back with its timeline`()
    async throws
  {
    try await GalleryTrial.run("toggle", executable: "TrialViews") { trial in
      try await trial.add("Living")
      for state in ["true", "false"] {
        let before = try await trial.entry(of: 1).views
        #expect(before.contains { $0.contains("Toggle(isOn: \(state == "true" ? "false" : "true"))") })
        try await trial.cluster.run("tap", "1", "--control", "1")
        try await trial.cluster.eventually("the toggle is \(state)") {
          try await trial.entry(of: 1).views.contains { $0.contains("Toggle(isOn: \(state))") }
        }
      }
    }
  }
}

extension GalleryTrial {
  fileprivate func storedTimelines() async throws -> Int {
    try await journal.all().count { $0.reading(TimelineStored.self) != nil }
  }
}
