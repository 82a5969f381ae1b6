// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

/// Mistakes with intents and with pushes to Live Activities, over hand-written journals.
@Suite struct `Diagnoses of intents and activities` {
  private static let host = Address.host("iphone")
  private static let app = Address.app("iphone", "com.example")

  /// The host asks a process to perform an intent.
  private static func ask(_ journal: inout RecordedMistakes) throws -> UUID {
    try journal.send(PerformIntent(intent: "Pour", values: [:], placement: 1), from: host, to: app)
  }

  @Test(arguments: [BusError.Code.unknownIntent, .intentFailed])
  func `an intent that fails, or whose type the app lacks, is diagnosed`(code: BusError.Code) throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      let question = try Self.ask(&journal)
      try journal.answer(
        PerformIntent.kind, answer: .failed, body: BusError(code, "no effect"), from: Self.app, to: Self.host,
        cause: question)
    }
    #expect(findings.map(\.description.code) == ["intent-not-performed"])
    #expect(findings.first?.sighting.subject == "Pour" && findings.first?.sighting.owner == Self.app)
  }

  @Test(
    arguments: [
      (nil, []), (.url("https://example.com/cups"), []), (.url("door://add"), ["custom-scheme-not-opened"]),
    ] as [(PerformIntent.Opening?, [String])])
  func `a result that opens a URL with a custom scheme is diagnosed`(opens: PerformIntent.Opening?, codes: [String])
    throws
  {
    let found = try RecordedMistakes.codes { journal in
      let question = try Self.ask(&journal)
      try journal.answer(
        PerformIntent.kind, answer: .ok, body: PerformIntent.Reply(opens: opens), from: Self.app, to: Self.host,
        cause: question)
    }
    #expect(found == codes)
  }

  /// The codes that a push to a Live Activity gets.
  private static func codes(payload: String, expiration: Double?) throws -> [String] {
    try RecordedMistakes.codes { journal in
      let push = PushedNotification(
        uniqueID: UUID(), apnsID: "",
        subject: PushSubject(device: "iphone", bundle: "com.example", use: .liveActivity(1)), type: .liveactivity,
        priority: 10, collapseID: nil, payload: payload, acceptedAt: .distantPast,
        expiration: expiration.map { Date(timeIntervalSince1970: $0) }, isFromStorage: false)
      try journal.send(DeliverPush(notification: push), from: .pushServer, to: host)
    }
  }

  @Test(arguments: ["timestamp", "stale-date", "dismissal-date"], [(1_790_000_000, 0), (1_790_000_000_000, 1)])
  func `a date in milliseconds is diagnosed, and one in seconds is not`(name: String, date: (value: Int, count: Int))
    throws
  {
    let payload = #"{"aps":{"event":"update","\#(name)":\#(date.value),"content-state":{}}}"#
    let found = try Self.codes(payload: payload, expiration: nil)
    #expect(found == Array(repeating: "timestamp-in-milliseconds", count: date.count))
  }

  @Test(arguments: [(0.0, 0), (1_790_000_000, 0), (1_790_000_000_000, 1)])
  func `an expiration in milliseconds is diagnosed`(expiration: Double, count: Int) throws {
    let found = try Self.codes(payload: #"{"aps":{"event":"update"}}"#, expiration: expiration)
    #expect(found == Array(repeating: "timestamp-in-milliseconds", count: count))
  }
}
