import Archive
import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// The device's time as the code of an author sees it, in real processes.
@Suite(.live, .timeLimit(.live)) struct `the device's time in an extension` {
  private static let morning = Date(timeIntervalSince1970: 1_772_344_800)

  @Test func `is its time of day, held, set and advanced, and its waits are as long as they are meant to be`()
    async throws
  {
    try await Trial.run("device time", environment: ["TRIAL_TIME: 1"]) { trial in
      try await trial.cluster.run("clock", "hold")
      try await trial.cluster.run("clock", "set", "2026-03-01T06:00:00Z")
      try expect(try await answer(trial), Self.morning)
      try await trial.cluster.run("clock", "advance", "90m")
      try expect(try await answer(trial), Self.morning + 5400)
      try await trial.cluster.run("clock", "set", "2026-02-28T06:00:00Z")
      try expect(try await answer(trial), Self.morning - 86_400)
      try await trial.cluster.run("clock", "reset")
      let now = Date()
      let date = try await answer(trial).date
      #expect((0..<60).contains(date.timeIntervalSince(now)))
    }
  }

  @Test func `goes at the device's rate, and is that of the next host`() async throws {
    // At this rate the usual deadline would be over in 8 ms.
    let patient = ["timelineDeadline: 864000"]
    let slow = ["TRIAL_TIME: 1"]
    try await Trial.run("device rate", environment: slow, suspendAfter: 86_400, settings: patient) { trial in
      try await trial.cluster.run("clock", "hold")
      try await trial.cluster.run("clock", "set", "2026-03-01T06:00:00Z")
      try await trial.cluster.run("clock", "rate", "3600")
      let held = try await answer(trial)
      try expect(held, Self.morning)
      try await trial.cluster.run("clock", "run")
      try await trial.kill("host")
      let before = try await clock(trial)
      let running = try await answer(trial)
      let after = try await clock(trial)
      #expect((before...after).contains(running.date))
      #expect(running.date > Self.morning + 60)
      #expect(running.waits.allSatisfy { (150..<5000).contains($0) })
    }
  }

  @Test func `is not that of the envelopes that it sends`() async throws {
    try await Trial.run("machine time", environment: ["TRIAL_TIME: 1"]) { trial in
      let begun = Date()
      try await trial.cluster.run("clock", "hold")
      try await trial.cluster.run("clock", "set", "2026-03-01T06:00:00Z")
      _ = try await answer(trial)
      let said = try await trial.journal.all().filter { $0.source == Trial.widgetExtension.text }
      #expect(!said.isEmpty)
      for envelope in said {
        let age = envelope.envelope.header.sentAt.date.timeIntervalSince(begun)
        #expect((-1..<600).contains(age), "\(envelope)")
      }
    }
  }

  // MARK: Means

  private struct Answer {
    let date: Date
    let times: [Int]
    let waits: [Int]
  }

  private func expect(_ answer: Answer, _ date: Date) throws {
    #expect(answer.date == date)
    #expect(answer.times == Array(repeating: Int(date.timeIntervalSince1970), count: 4))
    #expect(answer.waits.count == 5 && answer.waits.allSatisfy { (199..<5000).contains($0) }, "\(answer.waits)")
  }

  /// What the extension says when it is reloaded.
  private func answer(_ trial: Trial) async throws -> Answer {
    let last = try await trial.journal.all().last?.sequence ?? 0
    try await trial.cluster.run("reload", Trial.kind)
    let envelope = try await trial.journal.waitFor("a timeline", after: last) { $0.kind == TimelineStored.kind.name }
    let stored = try BodyCoding.decode(TimelineStored.self, from: envelope.envelope.body)
    let lists = try #require(stored.text.first).split(separator: ",")
    let numbers = lists.map { $0.split(separator: " ").compactMap { Int($0) } }
    try #require(numbers.count == 2)
    return Answer(date: stored.first, times: numbers[0], waits: numbers[1])
  }

  private func clock(_ trial: Trial) async throws -> Date {
    let data = Data(try await trial.cluster.run("clock", "--json").utf8)
    return try BodyCoding.decode(ClockState.self, from: Array(data)).now
  }
}
