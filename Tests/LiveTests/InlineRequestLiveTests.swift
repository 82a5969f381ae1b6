import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// Requests that an extension performs itself while it is asked for a timeline.
@Suite(.live, .timeLimit(.live)) struct `a request in getTimeline` {
  private static func path(_ query: String) -> String { "/figures?size=200000&seed=inline\(query)" }

  private static func environment(_ path: String) -> [String] { ["TRIAL_INLINE_URL: ${provider.url}\(path)"] }

  @Test func `shows its answer`() async throws {
    try await Trial.run("inline", environment: Self.environment(Self.path(""))) { trial in
      try await trial.cluster.run("reload", Trial.kind)
      let stored = try await Self.stored(trial)
      #expect(stored == ["200, 200000 bytes"])
      #expect(try await trial.journal.all().allSatisfy { $0.kind != "transfer.create" })
    }
  }

  @Test func `dies with its process, and is the provider's own to begin again`() async throws {
    let path = Self.path("&bytesPerSecond=50000")
    try await Trial.run("inline killed", environment: Self.environment(path)) { trial in
      try await trial.cluster.run("reload", Trial.kind)
      let born = try await trial.journal.waitFor("the extension was born") {
        $0.reading(ProcessStarted.self)?.address == Trial.widgetExtension
      }
      let pid = try #require(born.reading(ProcessStarted.self)?.pid)
      try await trial.cluster.eventually("the provider has sent the beginning") {
        try await trial.cluster.providerCounters().byPath[path]?.bytes ?? 0 >= 5000
      }
      try LabProcess(pid: pid).signal(SIGKILL)
      // A provider that died is asked once more, in a new process, and the request goes out anew, from its first byte.
      let stored = try await Self.stored(trial)
      #expect(stored == ["200, 200000 bytes"])
      let counters = try await trial.cluster.providerCounters().byPath[path]
      #expect(counters?.requests == 2 && counters?.bytes ?? 0 < 400_000)
      #expect(try await trial.journal.all().allSatisfy { $0.kind != "transfer.create" })
    }
  }

  @Test func `obeys the device's network`() async throws {
    try await Trial.run("inline network", environment: Self.environment(Self.path(""))) { trial in
      try await trial.cluster.run("network", "off")
      try await trial.cluster.run("reload", Trial.kind)
      #expect(try await Self.stored(trial) == ["failed: -1009"])
      let last = try await trial.journal.all().last?.sequence ?? 0
      try await trial.cluster.run("network", "on")
      try await trial.cluster.run("reload", Trial.kind)
      #expect(try await Self.stored(trial, after: last) == ["200, 200000 bytes"])
    }
  }

  private static func stored(_ trial: Trial, after: UInt64 = 0) async throws -> [String] {
    try await trial.journal.waitFor("a timeline is stored", after: after) { $0.reading(TimelineStored.self) != nil }
      .reading(TimelineStored.self)?.text ?? []
  }
}
