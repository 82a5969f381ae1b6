// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A provider whose first timeline is good and whose next one is not.
@Suite(.live, .timeLimit(.live)) struct `Providers that misbehave` {
  private static let settings = ["developerMode: true", "timelineDeadline: 3"]

  @Test(arguments: ["large", "deep", "silent", "memory", "crash"])
  func `a provider that misbehaves leaves its last good entry on the screen, and the host keeps running`(
    misbehaves: String
  ) async throws {
    try await TimelinesFixture.run("bad \(misbehaves)", misbehaves: misbehaves, settings: Self.settings) { fixture in
      try await fixture.begin()
      // An extension that was evicted for its memory is not relaunched for a second of the device's time.
      try await fixture.cluster.run("clock", "run")
      let host = fixture.cluster.pid(of: "host")
      try await fixture.cluster.run("reload", "Bad")
      let failed = try await fixture.nth(1, ReloadFailed.self)
      #expect(failed.placement == 1 && !failed.reason.isEmpty)
      #expect(try await fixture.all(TimelineStored.self).map(\.text) == [["a good entry"]])
      let page = try await fixture.cluster.run("ps")
      #expect(page.contains("a good entry"))
      #expect(page.contains("the last reload failed: \(failed.reason.prefix(20))"))
      #expect(fixture.cluster.pid(of: "host") == host)
    }
  }

  @Test(arguments: ["twice", "elsewhere"])
  func `only the first call of a timeline completion counts, and it may come from another thread`(
    misbehaves: String
  ) async throws {
    try await TimelinesFixture.run("bad \(misbehaves)", misbehaves: misbehaves, settings: Self.settings) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("reload", "Bad")
      let stored = try await fixture.nth(2, TimelineStored.self)
      #expect(stored.text == [misbehaves == "twice" ? "the first call" : "from another thread"])
    }
  }

  @Test func `a timeline with a hundred thousand entries keeps no more entries than the limit`() async throws {
    try await TimelinesFixture.run("bad many", misbehaves: "many", settings: Self.settings) { fixture in
      try await fixture.begin()
      try await fixture.cluster.run("reload", "Bad")
      try await fixture.cluster.eventually("the reload ends") {
        let stored = try await fixture.all(TimelineStored.self)
        let failed = try await fixture.all(ReloadFailed.self)
        return stored.count == 2 || !failed.isEmpty
      }
      let second = try await fixture.all(TimelineStored.self).dropFirst().first
      #expect(second.map { $0.entries == 400 } ?? true)
      #expect(try await fixture.cluster.run("ps").contains("Bad"))
    }
  }
}
