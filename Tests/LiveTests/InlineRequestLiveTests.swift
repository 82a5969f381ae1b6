// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Requests that an extension performs itself while it handles a request for a timeline or a snapshot.
@Suite(.live, .timeLimit(.live)) struct `Requests in getTimeline and getSnapshot` {
  private static func path(_ query: String) -> String { "/figures?size=200000&seed=inline\(query)" }

  private static func environment(_ path: String) -> [String] { ["TRIAL_INLINE_URL: ${provider.url}\(path)"] }

  @Test(.rule("INLINE-01")) func `a request in getTimeline completes, and its response is shown`() async throws {
    try await LiveFixture.run("inline", environment: Self.environment(Self.path(""))) { fixture in
      try await fixture.cluster.run("reload", LiveFixture.kind)
      let stored = try await Self.stored(fixture)
      #expect(stored == ["200, 200000 bytes"])
      #expect(try await fixture.journal.all().allSatisfy { $0.kind != "transfer.create" })
    }
  }

  @Test(.rule("INLINE-01")) func `a request in getSnapshot completes, and its response is shown`() async throws {
    try await LiveFixture.run("inline snapshot", environment: Self.environment(Self.path(""))) { fixture in
      let printed = try await fixture.cluster.run("snapshot", LiveFixture.kind)
      #expect(printed == "200, 200000 bytes\n")
      #expect(try await Self.stored(fixture) == ["200, 200000 bytes"])
      #expect(try await fixture.journal.all().allSatisfy { $0.kind != "transfer.create" })
    }
  }

  @Test(.rule("INLINE-01"))
  func `a request in getTimeline ends with its process, and the provider begins it again in the next process`()
    async throws
  {
    let path = Self.path("&bytesPerSecond=20000")
    try await LiveFixture.run("inline killed", environment: Self.environment(path)) { fixture in
      try await fixture.cluster.run("reload", LiveFixture.kind)
      let launched = try await fixture.journal.waitFor("the extension is launched") {
        $0.reading(ProcessStarted.self)?.address == LiveFixture.widgetExtension
      }
      let pid = try #require(launched.reading(ProcessStarted.self)?.pid)
      try await fixture.cluster.eventually("the provider has sent the first bytes") {
        try await fixture.cluster.providerCounters().byPath[path]?.bytes ?? 0 >= 5000
      }
      try LabProcess(pid: pid).signal(SIGKILL)
      // A provider whose process exited is asked once more in a new process, which sends the request again from the
      // first byte.
      let stored = try await Self.stored(fixture)
      #expect(stored == ["200, 200000 bytes"])
      let counters = try await fixture.cluster.providerCounters().byPath[path]
      #expect(counters?.requests == 2 && counters?.bytes ?? 0 < 400_000)
      #expect(try await fixture.journal.all().allSatisfy { $0.kind != "transfer.create" })
    }
  }

  @Test(.rule("INLINE-07")) func `a request in getTimeline obeys the device's network conditions`() async throws {
    try await LiveFixture.run("inline network", environment: Self.environment(Self.path(""))) { fixture in
      try await fixture.cluster.run("network", "off")
      try await fixture.cluster.run("reload", LiveFixture.kind)
      #expect(try await Self.stored(fixture) == ["failed: -1009"])
      let last = try await fixture.journal.all().last?.sequence ?? 0
      try await fixture.cluster.run("network", "on")
      try await fixture.cluster.run("reload", LiveFixture.kind)
      #expect(try await Self.stored(fixture, after: last) == ["200, 200000 bytes"])
    }
  }

  private static func stored(_ fixture: LiveFixture, after: UInt64 = 0) async throws -> [String] {
    try await fixture.journal.waitFor("a timeline is stored", after: after) { $0.reading(TimelineStored.self) != nil }
      .reading(TimelineStored.self)?.text ?? []
  }
}
