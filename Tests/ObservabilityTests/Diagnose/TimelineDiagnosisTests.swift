// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

/// Mistakes with timelines, over hand-written journals.
@Suite struct `Diagnoses of timelines` {
  @Test(arguments: [ReloadFailed.Failure.overran, .failed])
  func `a provider that does not complete is diagnosed once`(failure: ReloadFailed.Failure) throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      try journal.launch()
      try journal.ask()
      try journal.failed(failure)
      // A repeated failure does not count again.
      try journal.failed(failure)
    }
    #expect(findings.map(\.description.code) == ["get-timeline-never-completes"])
    #expect(findings.first?.sighting.subject == "QuoteProvider of the kind Quote")
    #expect(findings.first?.times == 1)
  }

  @Test func `a provider that replied or whose process exited is not diagnosed as incomplete`() throws {
    let answered = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.give(try journal.ask())
      try journal.failed(.failed)
    }
    let ended = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.ask()
      try journal.death(.signalled(signal: 9))
      try journal.failed(.failed)
    }
    #expect(answered.isEmpty)
    #expect(ended.isEmpty)
  }

  @Test func `a timeline without entries is diagnosed, but not one whose entries are in a file`() throws {
    #expect(
      try RecordedMistakes.codes { journal in
        try journal.launch()
        try journal.give(try journal.ask(), entries: 0)
      } == ["timeline-without-entries"])
    let elsewhere = try RecordedMistakes.codes { journal in
      try journal.launch()
      let question = try journal.ask()
      try journal.answer(
        RequestTimeline.kind, answer: .ok, body: RequestTimeline.Reply(entries: [], policy: .never, file: "/x"),
        from: RecordedMistakes.widget, to: RecordedMistakes.host, cause: question)
    }
    #expect(elsewhere.isEmpty)
  }

  @Test(.rule("DIAGNOSIS-04")) func `a timeline that ends in the past is diagnosed`() throws {
    func codes(_ policy: (Date) -> ReloadPolicy, entries: Int, last: Double) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.launch()
        try journal.stored(policy(journal.now), entries: entries, last: journal.now.addingTimeInterval(last))
      }
    }
    let past = ["timeline-in-the-past"]
    #expect(try codes({ _ in .atEnd }, entries: 24, last: -3600) == past)
    #expect(try codes({ .after($0.addingTimeInterval(-60 - 1)) }, entries: 1, last: 0) == past)
    #expect(try !codes({ .after($0.addingTimeInterval(-60 + 1)) }, entries: 1, last: 0).contains(past[0]))
    #expect(try codes({ _ in .never }, entries: 3, last: -3600) == past)
    // The quote of the day: shown from midnight on, until tomorrow.
    #expect(try codes({ .after($0.addingTimeInterval(36_000)) }, entries: 1, last: -36_000).isEmpty)
    #expect(try codes({ _ in .never }, entries: 1, last: -36_000).isEmpty)
    #expect(try codes({ _ in .atEnd }, entries: 24, last: 82_800).isEmpty)
  }

  @Test(.rule("DIAGNOSIS-03")) func `a reload interval that no budget pays for is diagnosed`() throws {
    func codes(_ policy: (Date) -> ReloadPolicy, entries: Int, last: Double) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.launch()
        try journal.stored(policy(journal.now), entries: entries, last: journal.now.addingTimeInterval(last))
      }
    }
    let unpaid = ["interval-that-no-budget-pays"]
    #expect(DiagnosticThresholds().reloadsPerDay == 70)
    #expect(try codes({ .after($0.addingTimeInterval(300)) }, entries: 1, last: 0) == unpaid)
    #expect(try codes({ _ in .atEnd }, entries: 1, last: 0) == unpaid)
    #expect(try codes({ _ in .atEnd }, entries: 5, last: 1200) == unpaid)
    #expect(try codes({ .after($0.addingTimeInterval(1300)) }, entries: 1, last: 0).isEmpty)
    #expect(try codes({ .after($0.addingTimeInterval(3600)) }, entries: 60, last: 60).isEmpty)
  }

  @Test func `the diagnosis of past timelines uses the device's clock, held, ahead or faster`() throws {
    let held = RecordedMistakes.start.addingTimeInterval(86_400)
    func codes(_ state: ClockState) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.launch()
        try journal.send(ClockChanged(state: state), from: RecordedMistakes.host)
        journal.pass(10)
        try journal.stored(.after(held.addingTimeInterval(7200)), last: held)
      }
    }
    #expect(try codes(ClockState(now: held, isHeld: true, offset: 0)).isEmpty)
    #expect(try codes(ClockState(now: held, isHeld: false, offset: 86_400)).isEmpty)
    // Ten seconds of the machine are two and a half hours of the device.
    #expect(try codes(ClockState(now: held, isHeld: false, offset: 86_400, rate: 900)) == ["timeline-in-the-past"])
  }

  @Test(.rule("DIAGNOSIS-03"))
  func `the diagnosis of reload intervals uses a configured number of reloads per day`() throws {
    var journal = RecordedMistakes()
    try journal.launch()
    try journal.stored(.after(journal.now.addingTimeInterval(300)))
    #expect(journal.codes == ["interval-that-no-budget-pays"])
    #expect(journal.diagnosed(DiagnosticThresholds(reloadsPerDay: 300)).isEmpty)
  }

  @Test func `a crash during a timeline request is diagnosed with the last line of output`() throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      try journal.launch()
      try journal.ask()
      try journal.send(
        ProcessOutput(
          address: RecordedMistakes.widget, generation: 1, pid: 1, stream: "stderr", line: "Index out of range"),
        from: RecordedMistakes.agent)
      try journal.death(.signalled(signal: 4))
    }
    #expect(findings.map(\.description.code) == ["crashed-while-asked"])
    #expect(findings.first?.sighting.evidence.count == 3)
    #expect(findings.first?.sighting.evidence[1].text.contains("Index out of range") == true)
    for ending in [Ending.signalled(signal: 9), .exited(code: 0), .lostWithAgent] {
      let codes = try RecordedMistakes.codes { journal in
        try journal.launch()
        try journal.ask()
        try journal.death(ending)
      }
      #expect(codes.isEmpty, "\(ending)")
    }
  }

  @Test func `an eviction for memory is diagnosed with the request in progress`() throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      try journal.launch()
      try journal.ask()
      try journal.send(
        MemoryExceeded(address: RecordedMistakes.widget, generation: 1, pid: 1, memory: 64 << 20, limit: 30 << 20),
        from: RecordedMistakes.agent, to: RecordedMistakes.host)
    }
    #expect(findings.map(\.description.code) == ["evicted-for-memory"])
    #expect(
      findings.first?.sighting.what == "memory 64 MiB over the limit of 30 MiB, while it was asked for a timeline")
    #expect(findings.first?.sighting.subject == "QuoteProvider of the kind Quote")
  }

  @Test(.rule("PROCESS-22")) func `a suspension with a lock is diagnosed with the file, once`() throws {
    let lock = HeldLock(group: "group.a", file: "notes.sqlite", kind: "SQLite transaction")
    let held = LocksHeld(address: RecordedMistakes.widget, generation: 1, pid: 1, locks: [lock], count: 1)
    let findings = try RecordedMistakes.diagnosing { journal in
      try journal.launch()
      try journal.send(held, from: RecordedMistakes.agent, to: RecordedMistakes.host)
    }
    #expect(findings.map(\.description.code) == ["suspended-with-lock"])
    #expect(findings.first?.sighting.what == held.description)
    #expect(findings.first?.sighting.subject == "notes.sqlite of group.a")
  }

  @Test func `an archive that is too large is diagnosed, and no other failure is`() throws {
    func codes(_ code: BusError.Code) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.launch()
        let question = try journal.ask()
        try journal.answer(
          RequestTimeline.kind, answer: .failed, body: BusError(code, "imageArea: 3131904 of 2121055"),
          from: RecordedMistakes.widget,
          to: RecordedMistakes.host, cause: question)
      }
    }
    #expect(try codes(.archiveTooLarge) == ["archive-too-large"])
    #expect(try codes(.unknownWidgetKind).isEmpty)
  }
}
