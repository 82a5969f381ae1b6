// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

@Suite(.live, .timeLimit(.live)) struct `Widgets of a device that moves` {
  @Test(.rule("BUDGET-10"))
  func `a move reloads widgets that want the location, free and when they are next visible, also across a host kill`()
    async throws
  {
    let wanting = try FixtureInfoPlist(wantsLocation: true)
    let other = try FixtureInfoPlist()
    defer {
      wanting.remove()
      other.remove()
    }
    try await GalleryFixture.run(
      "moved", product: [wanting.line], second: ["executable: FixtureWidgets", other.line]
    ) { fixture in
      for bundle in [GalleryFixture.bundle, GalleryFixture.second] {
        try await fixture.add("Plain", "--bundle", bundle)
      }
      for number in 1...2 { _ = try await fixture.entry(of: number) }
      try await fixture.cluster.run("look", "off")
      let before = try await fixture.last
      let output = try await fixture.cluster.run("device", "moved")
      #expect(output == "when seen: 1\n")
      let host = LabProcess(pid: try #require(fixture.cluster.pid(of: "host")))
      try host.signal(SIGKILL)
      try await host.ended()
      try await fixture.cluster.isBack("host")
      try await fixture.cluster.run("look", "homeScreen")
      try await fixture.journal.waitFor("its timeline is stored", after: before) {
        $0.reading(TimelineStored.self).map { $0.because == .location && $0.placement == 1 } ?? false
      }
      #expect(try await fixture.cluster.run("device", "moved") == "reloaded: 1\n")
      let lines = try await fixture.all(BudgetDecided.self, after: before).map(\.entry)
      #expect(
        lines.map { "\($0.placement) \($0.because) \($0.verdict) \($0.rule)" }
          == Array(repeating: "1 location free location", count: 2))
    }
  }

  @Test(.rule("BUDGET-10"))
  func `a move does not reload widgets whose extension does not want the location`() async throws {
    try await GalleryFixture.run("unmoved") { fixture in
      try await fixture.add("Plain")
      _ = try await fixture.entry(of: 1)
      let output = try await fixture.cluster.run("device", "moved")
      #expect(output.hasPrefix("no widget uses the location"))
      #expect(try await fixture.ledger() == ["added free added"])
    }
  }
}
