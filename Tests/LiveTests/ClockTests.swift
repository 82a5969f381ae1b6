// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The device's time as an author's code reads it, in real processes.
@Suite(.live, .timeLimit(.live)) struct `The device's time in an extension` {
  private static let morning = Date(timeIntervalSince1970: 1_772_344_800)

  @Test(.rule("CLOCK-08", "CLOCK-09"))
  func `an extension reads the device's time when it is held, set or advanced, and its waits keep their length`()
    async throws
  {
    try await LiveFixture.run("device time", environment: ["TRIAL_TIME: 1"]) { fixture in
      try await fixture.cluster.run("clock", "hold")
      try await fixture.cluster.run("clock", "set", "2026-03-01T06:00:00Z")
      try expect(try await answer(fixture), Self.morning)
      try await fixture.cluster.run("clock", "advance", "90m")
      try expect(try await answer(fixture), Self.morning + 5400)
      try await fixture.cluster.run("clock", "set", "2026-02-28T06:00:00Z")
      try expect(try await answer(fixture), Self.morning - 86_400)
      try await fixture.cluster.run("clock", "reset")
      let now = Date()
      let date = try await answer(fixture).date
      #expect((0..<60).contains(date.timeIntervalSince(now)))
    }
  }

  @Test(.rule("CLOCK-08"))
  func `the time in an extension runs at the device's rate and agrees with the host that replaces a killed one`()
    async throws
  {
    // At this rate the usual deadline would pass in 8 ms.
    let patient = ["timelineDeadline: 864000"]
    let slow = ["TRIAL_TIME: 1"]
    try await LiveFixture.run("device rate", environment: slow, suspendAfter: 86_400, settings: patient) { fixture in
      try await fixture.cluster.run("clock", "hold")
      try await fixture.cluster.run("clock", "set", "2026-03-01T06:00:00Z")
      try await fixture.cluster.run("clock", "rate", "3600")
      let held = try await answer(fixture)
      try expect(held, Self.morning)
      try await fixture.cluster.run("clock", "run")
      try await fixture.kill("host")
      let before = try await clock(fixture)
      let running = try await answer(fixture)
      let after = try await clock(fixture)
      #expect((before...after).contains(running.date))
      #expect(running.date > Self.morning + 60)
      #expect(running.waits.allSatisfy { (150..<5000).contains($0) })
    }
  }

  @Test(.rule("CLOCK-13")) func `envelopes of an extension carry the machine's time, not the device's`() async throws {
    try await LiveFixture.run("machine time", environment: ["TRIAL_TIME: 1"]) { fixture in
      let begun = Date()
      try await fixture.cluster.run("clock", "hold")
      try await fixture.cluster.run("clock", "set", "2026-03-01T06:00:00Z")
      _ = try await answer(fixture)
      let output = try await fixture.journal.all().filter { $0.source == LiveFixture.widgetExtension.text }
      #expect(!output.isEmpty)
      for envelope in output {
        let age = envelope.envelope.header.sentAt.date.timeIntervalSince(begun)
        #expect((-1..<600).contains(age), "\(envelope)")
      }
    }
  }

  // MARK: Helpers

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

  /// Reloads the widget and parses the times in its new timeline.
  private func answer(_ fixture: LiveFixture) async throws -> Answer {
    let last = try await fixture.journal.all().last?.sequence ?? 0
    try await fixture.cluster.run("reload", LiveFixture.kind)
    let envelope = try await fixture.journal.waitFor("a timeline", after: last) { $0.kind == TimelineStored.kind.name }
    let stored = try BodyCoding.decode(TimelineStored.self, from: envelope.envelope.body)
    let lists = try #require(stored.text.first).split(separator: ",")
    let numbers = lists.map { $0.split(separator: " ").compactMap { Int($0) } }
    try #require(numbers.count == 2)
    return Answer(date: stored.first, times: numbers[0], waits: numbers[1])
  }

  private func clock(_ fixture: LiveFixture) async throws -> Date {
    let data = Data(try await fixture.cluster.run("clock", "--json").utf8)
    return try BodyCoding.decode(ClockState.self, from: Array(data)).now
  }
}
