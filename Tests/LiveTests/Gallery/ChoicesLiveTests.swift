import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What a person can choose for a widget is what the author's queries find, over real processes.
@Suite(.live, .timeLimit(.live)) struct `a widget's choices` {
  @Test func `are what the author's queries find when a person looks, and what is searched for`() async throws {
    try await GalleryTrial.run("choices") { trial in
      let added = try await trial.add("Choices")
      #expect(added.configuration?.parameters.map(\.standard) == [.string("1"), "Line 1"])
      #expect(added.offered == [["Central"], ["Line 1"]])
      #expect(try await trial.entry(of: 1).views.joined().contains("Line 1 from Central"))
      // Each time that somebody looks there is a line more.
      let edited = try await trial.cluster.run("edit", "1")
      #expect(edited.contains("station = Central (nobody chose): Station, one of 1 (Central)"))
      #expect(edited.contains("Line, one of Line 1, Line 2"))
      let refusal = try await trial.refusal("edit", "1", "--set", "station=H")
      #expect(refusal.contains("1 (Central), 2 (Harbour), 3 (Hill)"))
      try await trial.cluster.run("edit", "1", "--set", "station=Hill", "--set", "line=Line 4")
      try await trial.cluster.eventually("the widget shows what was searched for") {
        try await trial.entry(of: 1).views.joined().contains("Line 4 from Hill")
      }
      let placed = try await trial.cluster.run("screen", "--json")
      #expect(placed.contains("\"station\":\"3\""))
    }
  }

  @Test func `hold up neither the extension nor its timelines when a query hangs, and the person is told`() async throws
  {
    let product = ["environment:", "  TRIAL_QUERY: hangs"]
    let settings = ["placesEachKind: false", "timelineDeadline: 2"]
    try await GalleryTrial.run("hanging query", settings: settings, product: product) { trial in
      // The deadline of a timeline is measured by the device's clock, the deadline of a query by the machine's.
      try await trial.cluster.run("clock", "hold")
      try await trial.add("Milk")
      #expect(try await trial.entry(of: 1).views.joined().contains("black"))
      let refusal = try await trial.refusal("add", "Choices")
      #expect(refusal.contains("did not say what there is to choose of Choices"))
      #expect(try await trial.screen("homeScreen").map(\.kind) == ["Milk"])
    }
  }

  @Test func `have a placeholder of their provider until it gives a timeline`() async throws {
    try await GalleryTrial.run("placeholder", product: ["environment:", "  TRIAL_TIMELINE: hangs"]) { trial in
      try await trial.add("Choices")
      try await trial.cluster.eventually("the widget shows its provider's placeholder") {
        let seen = try await trial.screen().first
        return seen?.content == "placeholder" && seen?.views.joined().contains("a placeholder of a station") == true
      }
    }
  }

  @Test func `have their value set by the system where a toggle's intent sets one`() async throws {
    try await GalleryTrial.run("set value") { trial in
      try await trial.add("Milk")
      for (state, text) in [("false", "black"), ("true", "with milk"), ("false", "black")] {
        try await trial.cluster.eventually("the widget is \(text)") {
          try await trial.entry(of: 1).views.joined().contains(text)
        }
        let views = try await trial.entry(of: 1).views
        #expect(views.contains { $0.contains("Toggle(isOn: \(state))") }, "\(views)")
        let said = try await trial.cluster.run("tap", "1", "--control", "1")
        #expect(said.contains("was performed by extension"))
      }
      let asked = try await trial.journal.all().compactMap { $0.reading(PerformIntent.self)?.values["value"] }
      #expect(asked == [.bool(true), .bool(false), .bool(true)])
    }
  }
}

extension PlacementReport {
  /// The titles of each parameter's options.
  fileprivate var offered: [[String]]? { configuration?.parameters.map { $0.options.map(\.title) } }
}
