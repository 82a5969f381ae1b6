import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// A provider that was good once, and then is not.
@Suite(.live, .timeLimit(.live)) struct `a provider that misbehaves` {
  private static let settings = ["developerMode: true", "timelineDeadline: 3"]

  @Test(arguments: ["large", "deep", "silent", "memory", "crash"])
  func `leaves its last good entry on the screen, and the host goes on`(misbehaves: String) async throws {
    try await TimelinesTrial.run("bad \(misbehaves)", misbehaves: misbehaves, settings: Self.settings) { trial in
      try await trial.begin()
      // An extension that was evicted for its memory is left alone for a second of the device's time.
      try await trial.cluster.run("clock", "run")
      let host = trial.cluster.pid(of: "host")
      try await trial.cluster.run("reload", "Bad")
      let failed = try await trial.nth(1, ReloadFailed.self)
      #expect(failed.placement == 1 && !failed.reason.isEmpty)
      #expect(try await trial.all(TimelineStored.self).map(\.text) == [["a good entry"]])
      let page = try await trial.cluster.run("ps")
      #expect(page.contains("a good entry"))
      #expect(page.contains("the last reload came to nothing: \(failed.reason.prefix(20))"))
      #expect(trial.cluster.pid(of: "host") == host)
    }
  }

  @Test(arguments: ["twice", "elsewhere"])
  func `is heard when it calls back twice, once, or from another thread`(misbehaves: String) async throws {
    try await TimelinesTrial.run("bad \(misbehaves)", misbehaves: misbehaves, settings: Self.settings) { trial in
      try await trial.begin()
      try await trial.cluster.run("reload", "Bad")
      let stored = try await trial.nth(2, TimelineStored.self)
      #expect(stored.text == [misbehaves == "twice" ? "the first call" : "from another thread"])
    }
  }

  @Test func `has no more of a hundred thousand entries than the limit`() async throws {
    try await TimelinesTrial.run("bad many", misbehaves: "many", settings: Self.settings) { trial in
      try await trial.begin()
      try await trial.cluster.run("reload", "Bad")
      try await trial.cluster.eventually("its end") {
        let stored = try await trial.all(TimelineStored.self)
        let failed = try await trial.all(ReloadFailed.self)
        return stored.count == 2 || !failed.isEmpty
      }
      let second = try await trial.all(TimelineStored.self).dropFirst().first
      #expect(second.map { $0.entries == 400 } ?? true)
      #expect(try await trial.cluster.run("ps").contains("Bad"))
    }
  }
}
