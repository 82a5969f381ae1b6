import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

@Suite(.live, .timeLimit(.live)) struct `widgets on a stack` {
  @Test func `are up to ten of one size, of which one is seen, and a person turns it, over the host's death`()
    async throws
  {
    let wanting = try TrialInfoPlist(wantsLocation: true)
    defer { wanting.remove() }
    try await GalleryTrial.run("stack", product: [wanting.line]) { trial in
      try await trial.add("Touch")
      #expect(try await trial.refusal("add", "Touch", "--stack", "1", "--family", "systemLarge").contains("one size"))
      for number in 2...10 { #expect(try await trial.add("Touch", "--stack", "1").placement.id == number) }
      #expect(try await trial.refusal("add", "Touch", "--stack", "4").contains("at most 10 widgets"))
      let seen = try await trial.screen("homeScreen")
      #expect(seen.map(\.number) == [10] && seen.first?.covers == Array(1...9))
      #expect(try await trial.cluster.run("screen").contains("on top of 1 Touch, 2 Touch"))
      #expect(try await trial.cluster.run("turn", "2") == "2 is on top of the stack of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n")
      #expect(try await trial.refusal("tap", "1").contains("1 is under 2 in its stack"))
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      #expect(try await trial.entry(of: 2, at: "homeScreen").covers == Array(3...10) + [1])
      // What is covered is out of sight.
      #expect(
        try await trial.cluster.run("device", "moved")
          == "reloaded: 2; when they are seen: 1, 3, 4, 5, 6, 7, 8, 9, 10\n")
      try await trial.cluster.run("turn", "7")
      try await trial.journal.waitFor("the one that is seen now is reloaded") {
        $0.reading(TimelineStored.self).map { $0.because == .location && $0.placement == 7 } ?? false
      }
      let turned = try await trial.all(StackTurned.self).suffix(3)
      #expect(turned.map { "\($0.top) \($0.because)" } == ["10 added", "2 person", "7 person"])
      try await trial.cluster.run("remove", "7")
      #expect(try await trial.screen("homeScreen").map(\.number) == [8])
    }
  }

  /// Minutes after the stack was made, and what is on top from then on.
  @Test(arguments: [
    ([], ["60 Noon 5", "120 Steady 1"]),
    (["smartRotatePause: 4500"], ["75 Noon 5", "150 Steady 1"]),
    (["smartRotatePause: 4500", "developerMode: true"], ["60 Noon 5", "120 Steady 1"]),
  ])
  func `turn by themselves to the most relevant, no more often than the setting says, over the host's death`(
    settings: [String], turns: [String]
  ) async throws {
    try await TimelinesTrial.run("smart rotate", only: "Relevant", settings: settings) { trial in
      try await trial.begin(2)
      try await trial.cluster.run("app", "open")
      try await trial.journal.waitFor("the app runs") { $0.reading(AppActivation.self) != nil }
      try await trial.cluster.run("look", "homeScreen")
      try await trial.cluster.run("remove", "1")
      try await trial.cluster.run("add", "Steady", "--stack", "2")
      try await trial.stored(3)
      try await trial.cluster.run("clock", "advance", "50m")
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await trial.cluster.run("clock", "advance", "110m")
      let turned = try await trial.journal.all().compactMap { found -> String? in
        guard let turn = found.reading(StackTurned.self), turn.because == .relevance else { return nil }
        let minutes = turn.date.timeIntervalSince(TimelinesTrial.morning) / 60
        return "\(minutes.formatted()) \(turn.top == 2 ? "Noon" : "Steady") \((turn.score ?? 0).formatted())"
      }
      #expect(turned == turns)
    }
  }
}
