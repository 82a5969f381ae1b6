// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

private let noon = Date(timeIntervalSince1970: 1_795_262_400)
private let host = RecordedScenario.cast.host
private let widget = RecordedScenario.cast.widgetExtension

private func line(
  _ reload: Int, hoursAgo: Double, verdict: LedgerEntry.Verdict, rule: String = "budget", placement: Int = 1,
  until: Date? = nil
) -> LedgerEntry {
  LedgerEntry(
    number: reload, date: noon - hoursAgo * 3600, reload: reload, placement: placement, bundle: "com.example.W",
    widgetKind: "Coffee", because: .policy, verdict: verdict, rule: rule, balance: 4.25, until: until)
}

@Suite struct `The report of a reload` {
  private func stored() -> TimelineStored {
    TimelineStored(
      bundle: "com.example.W", widgetKind: "Coffee", placement: 1, family: .systemSmall, because: .extension,
      entries: 3,
      first: noon, last: noon, policy: .never, bytes: 64, digest: "00", text: [])
  }

  private func ask() -> RequestTimeline {
    RequestTimeline(
      widgetKind: "Coffee", placement: 1, because: .extension,
      environment: WidgetEnvironment(family: .systemSmall, width: 1, height: 1))
  }

  private func report(_ verdicts: [LedgerEntry], then: (inout RecordedScenario) throws -> Void = { _ in }) throws
    -> [String]
  {
    var recorded = RecordedScenario()
    for verdict in verdicts { try recorded.send(BudgetDecided(verdict), from: host) }
    try then(&recorded)
    return ReloadHistory(7, in: recorded.envelopes)?.text ?? []
  }

  @Test func `the report of a reload shows the budget's decisions and the outcome`() throws {
    let lines = try report([
      line(7, hoursAgo: 1, verdict: .delayed, rule: "minimum-spacing", until: noon),
      line(8, hoursAgo: 1, verdict: .free), line(7, hoursAgo: 0, verdict: .granted),
    ]) {
      try $0.send(stored(), from: host)
      try $0.send(ask(), from: host, to: widget)
      try $0.send(stored(), from: host)
    }
    #expect(lines.first == "reload 7 of placement 1 (Coffee): because of policy")
    #expect(lines.count == 5)
    #expect(lines.last == "outcome: a timeline of 3 entries, 64 bytes")
  }

  @Test func `the report of a reload shows what it waits for, or why no timeline comes`() throws {
    #expect(
      try report([line(7, hoursAgo: 0, verdict: .delayed, until: noon + 60)]).last
        == "outcome: pending: waiting until 2026-11-21 12:01:00Z")
    for rule in [Withholding.locked, .notUnlockedYet] {
      #expect(
        try report([line(7, hoursAgo: 0, verdict: .delayed, rule: rule.rawValue)]).last
          == "outcome: pending: waiting until the device is unlocked")
    }
    #expect(try report([line(7, hoursAgo: 0, verdict: .granted)]).last == "outcome: pending: waiting for the extension")
    #expect(try report([line(7, hoursAgo: 0, verdict: .refused)]).last == "outcome: refused")
    #expect(try report([line(7, hoursAgo: 0, verdict: .merged)]).last?.contains("a newer reload") == true)
    let failed = try report([line(7, hoursAgo: 0, verdict: .granted)]) {
      try $0.send(ask(), from: host, to: widget)
      try $0.send(
        ReloadFailed(bundle: "com.example.W", widgetKind: "Coffee", placement: 1, reason: "it died", nextTry: noon),
        from: host)
    }
    #expect(failed.last == "outcome: failed: it died, retry at 2026-11-21 12:00:00Z")
    #expect(try report([line(6, hoursAgo: 0, verdict: .granted)]).isEmpty)
  }
}
