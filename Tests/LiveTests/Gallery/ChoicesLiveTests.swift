// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The options of a widget's parameters come from the author's queries, over real processes.
@Suite(.live, .timeLimit(.live)) struct `The configuration choices of a widget` {
  @Test(.rule("WIDGET-16"))
  func `the options of a widget's parameters come from the author's queries when the user adds, edits or searches`()
    async throws
  {
    try await GalleryFixture.run("choices") { fixture in
      let added = try await fixture.add("Choices")
      #expect(added.configuration?.parameters.map(\.standard) == [.string("1"), "Line 1", nil])
      #expect(added.offered == [["Central"], ["Line 1"], ["Platform 1", "Platform 2", "3"]])
      #expect(try await fixture.entry(of: 1).views.joined().contains("Line 1 from Central"))
      // Each query returns one line more than the last.
      let edited = try await fixture.cluster.run("edit", "1")
      #expect(edited.contains("station = Central (default): Station, one of 1 (Central)"))
      #expect(edited.contains("Line, one of Line 1, Line 2"))
      let refusal = try await fixture.refusal("edit", "1", "--set", "station=H")
      #expect(refusal.contains("1 (Central), 2 (Harbour), 3 (Hill)"))
      try await fixture.cluster.run("edit", "1", "--set", "station=Hill", "--set", "line=Line 4")
      try await fixture.cluster.eventually("the widget shows the searched value") {
        try await fixture.entry(of: 1).views.joined().contains("Line 4 from Hill")
      }
      let placed = try await fixture.cluster.run("screen", "--json")
      #expect(placed.contains("\"station\":\"3\""))
    }
  }

  @Test(.rule("WIDGET-25"))
  func `options have the titles and sections of their items, and depend on the values chosen so far`() async throws {
    try await GalleryFixture.run("dependent choices") { fixture in
      let platforms = "1 (Platform 1, by the river), 2 (Platform 2); South: 3"
      #expect(try await fixture.cluster.run("add", "Choices").contains("one of Central north: \(platforms)"))
      // The value of the same command, and then that of the placed widget.
      let chosen = try await fixture.cluster.run("edit", "1", "--set", "station=Hill", "--set", "platform=Platform 2")
      #expect(chosen.contains("platform = Platform 2: Platform, one of Hill north: \(platforms)"), "\(chosen)")
      #expect(try await fixture.cluster.run("edit", "1").contains("one of Hill north: \(platforms)"))
      #expect(try await fixture.cluster.run("screen", "--json").contains("\"platform\":2"))
    }
  }

  @Test(.rule("WIDGET-16"), arguments: [4, 7])
  func `a query that hangs delays neither the extension nor its timelines, and the user gets an error`(
    timelineDeadline: Int
  ) async throws {
    let product = ["environment:", "  TRIAL_QUERY: hangs"]
    let settings = ["placesEachKind: false", "timelineDeadline: \(timelineDeadline)"]
    try await GalleryFixture.run("hanging query", settings: settings, product: product) { fixture in
      // The deadline of a timeline is measured by the device's clock, the deadline of a query by the machine's.
      try await fixture.cluster.run("clock", "hold")
      try await fixture.add("Milk")
      #expect(try await fixture.entry(of: 1).views.joined().contains("black"))
      let refusal = try await fixture.refusal("add", "Choices")
      #expect(refusal.contains("did not return the options of Choices"))
      #expect(refusal.contains("no reply within \(timelineDeadline).0 seconds"), "\(refusal)")
      #expect(try await fixture.screen("homeScreen").map(\.kind) == ["Milk"])
    }
  }

  @Test func `a widget shows its provider's placeholder until the provider returns a timeline`() async throws {
    try await GalleryFixture.run("placeholder", product: ["environment:", "  TRIAL_TIMELINE: hangs"]) { fixture in
      try await fixture.add("Choices")
      try await fixture.cluster.eventually("the widget shows its provider's placeholder") {
        let seen = try await fixture.screen().first
        return seen?.content == "placeholder" && seen?.views.joined().contains("a placeholder of a station") == true
      }
    }
  }

  @Test(.rule("WIDGET-17"))
  func `the system sets the value of a toggle's SetValueIntent to the new state`() async throws {
    try await GalleryFixture.run("set value") { fixture in
      try await fixture.add("Milk")
      for (state, text) in [("false", "black"), ("true", "with milk"), ("false", "black")] {
        try await fixture.cluster.eventually("the widget is \(text)") {
          try await fixture.entry(of: 1).views.joined().contains(text)
        }
        let views = try await fixture.entry(of: 1).views
        #expect(views.contains { $0.contains("Toggle(isOn: \(state))") }, "\(views)")
        let output = try await fixture.cluster.run("tap", "1", "--button", "1")
        #expect(output.contains("was performed by extension"))
      }
      let asked = try await fixture.journal.all().compactMap { $0.reading(PerformIntent.self)?.values["value"] }
      #expect(asked == [.bool(true), .bool(false), .bool(true)])
    }
  }
}

extension PlacementReport {
  /// The titles of each parameter's options.
  fileprivate var offered: [[String]]? { configuration?.parameters.map { $0.options.map(\.title) } }
}
