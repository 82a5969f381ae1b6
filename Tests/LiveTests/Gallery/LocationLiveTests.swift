import Conversations
import Foundation
import Testing
import WidgetLabTesting

@Suite(.live, .timeLimit(.live)) struct `a device that moves far` {
  @Test func `reloads the widgets that want the location when they are seen next, free, over the host's death`()
    async throws
  {
    let wanting = try TrialInfoPlist(wantsLocation: true)
    let other = try TrialInfoPlist()
    defer {
      wanting.remove()
      other.remove()
    }
    try await GalleryTrial.run(
      "moved", product: [wanting.line], second: ["executable: TrialWidgets", other.line]
    ) { trial in
      for bundle in [GalleryTrial.bundle, GalleryTrial.second] { try await trial.add("Plain", "--bundle", bundle) }
      for number in 1...2 { _ = try await trial.entry(of: number) }
      try await trial.cluster.run("look", "off")
      let before = try await trial.last
      let said = try await trial.cluster.run("device", "moved")
      #expect(said == "when they are seen: 1\n")
      let host = LabProcess(pid: try #require(trial.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await trial.cluster.run("look", "homeScreen")
      try await trial.journal.waitFor("its timeline comes", after: before) {
        $0.reading(TimelineStored.self).map { $0.because == .location && $0.placement == 1 } ?? false
      }
      #expect(try await trial.cluster.run("device", "moved") == "reloaded: 1\n")
      let lines = try await trial.all(BudgetDecided.self, after: before).map(\.entry)
      #expect(
        lines.map { "\($0.placement) \($0.because) \($0.verdict) \($0.rule)" }
          == Array(repeating: "1 location free location", count: 2))
    }
  }

  @Test func `is nothing to widgets whose extension does not say that they want the location`() async throws {
    try await GalleryTrial.run("unmoved") { trial in
      try await trial.add("Plain")
      _ = try await trial.entry(of: 1)
      let said = try await trial.cluster.run("device", "moved")
      #expect(said.hasPrefix("no widget wants the location"))
      #expect(try await trial.ledger() == ["added free added"])
    }
  }
}
