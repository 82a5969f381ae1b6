// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

/// Mistakes with background sessions, over hand-written journals.
@Suite struct `Diagnoses of events` {
  @Test(.rule("DIAGNOSIS-01"))
  func `a completion that is never called is diagnosed when its time runs out, once for all occurrences`() throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      for _ in 1...2 {
        try journal.launch()
        try journal.open("news")
        try journal.handler("news")
        try journal.expire("news")
        try journal.death(.signalled(signal: 9))
      }
    }
    let diagnosis = try #require(findings.first)
    #expect(findings.map(\.description.code) == ["completion-never-called"])
    #expect(diagnosis.sighting.evidence.map(\.sequence) == [4, 5])
    #expect(diagnosis.sighting.subject == "session news")
    #expect(diagnosis.place == "extension/com.example.Lab.Widget")
    #expect(diagnosis.times == 2)
  }

  @Test func `a called completion or a killed process gives no diagnosis`() throws {
    let called = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.open("news")
      try journal.handler("news")
      try journal.completion("news")
      try journal.expire("news")
    }
    #expect(called.isEmpty)
    let killed = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.open("news")
      try journal.handler("news")
      try journal.death(.signalled(signal: 9))
    }
    #expect(killed.isEmpty)
  }

  @Test func `a missing completion of one of several handlers is diagnosed`() throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      try journal.launch()
      try journal.open("news")
      try journal.handler("news", matching: 2)
      try journal.completion("news", outstanding: 1)
      try journal.expire("news")
    }
    #expect(findings.map(\.description.code) == ["completion-of-one-handler-missing"])
    #expect(findings.first?.sighting.evidence.count == 3)
  }

  @Test func `a session that is not recreated is diagnosed, whether the handler completes at once or never`() throws {
    let never = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.handler("news")
      try journal.expire("news")
    }
    let atOnce = try RecordedMistakes.codes { journal in
      let delivery = UUID()
      try journal.launch()
      try journal.handler("news", delivery: delivery)
      try journal.completion("news")
      try journal.send(
        SessionUnclaimed(owner: RecordedMistakes.widget, session: "news", delivery: delivery, reason: "x"),
        from: RecordedMistakes.host)
    }
    #expect(never == ["session-never-recreated"])
    #expect(atOnce == ["session-never-recreated"])
  }

  @Test func `a session that may have been created before the journal begins is not diagnosed as missing`() throws {
    let codes = try RecordedMistakes.codes { journal in
      try journal.handler("news")
      try journal.expire("news")
    }
    #expect(codes == ["completion-never-called"])
  }

  @Test func `events without a matching handler are diagnosed`() throws {
    let codes = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.handler("other")
      try journal.completion("other")
      try journal.send(
        SessionUnclaimed(owner: RecordedMistakes.widget, session: "news", delivery: UUID(), reason: "x"),
        from: RecordedMistakes.host)
    }
    #expect(codes == ["events-without-handler"])
  }

  @Test(.rule("DIAGNOSIS-08"))
  func `a download begun in the handler is diagnosed, but not one begun before, after or by a provider`() throws {
    let inside = try RecordedMistakes.diagnosing { journal in
      try journal.launch()
      try journal.open("news")
      try journal.create("news")
      try journal.handler("news")
      try journal.create("news", task: 2)
    }
    #expect(inside.map(\.description.code) == ["download-in-events-handler"])
    #expect(inside.first?.sighting.what == "task 2 was started while the events of session news were handled")
    let outside = try RecordedMistakes.codes { journal in
      try journal.launch()
      try journal.open("news")
      try journal.create("news")
      try journal.handler("news")
      let question = try journal.ask()
      try journal.create("news", task: 2)
      try journal.give(question)
      try journal.completion("news")
      try journal.create("news", task: 3)
    }
    #expect(outside.isEmpty)
  }

  @Test(.rule("DIAGNOSIS-09"))
  func `a handler that cannot be called is diagnosed when the suspended extension has created no session`() throws {
    func codes(handlesEvents: Bool = true, opens: Bool = false, gives: Bool = true) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.launch(handlesEvents: handlesEvents)
        let question = try journal.ask()
        if opens { try journal.open("news") }
        if gives { try journal.give(question) }
        try journal.send(
          ProcessState(address: RecordedMistakes.widget, generation: 1, state: "suspended", why: "nothing to do"),
          from: RecordedMistakes.host)
      }
    }
    #expect(try codes() == ["handler-without-session"])
    #expect(try codes(handlesEvents: false).isEmpty)
    #expect(try codes(opens: true).isEmpty)
    #expect(try codes(gives: false).isEmpty)
  }

  @Test func `two processes that share a session identifier are diagnosed, with the current owner`() throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      let (app, host) = (RecordedMistakes.app, RecordedMistakes.host)
      let first = try journal.open("news", in: app)
      try journal.answer(
        OpenSession.kind, answer: .ok, body: OpenSession.Reply(nextTaskIdentifier: 1, tasks: []), from: host, to: app,
        cause: first)
      let second = try journal.open("news")
      try journal.answer(
        OpenSession.kind, answer: .failed, body: BusError(.sessionInUse, "in use"), from: host,
        to: RecordedMistakes.widget,
        cause: second)
    }
    #expect(findings.map(\.description.code) == ["same-identifier"])
    #expect(findings.first?.sighting.what == "the session was rejected: app/com.example.Lab has it open")
    #expect(findings.first?.sighting.evidence.map(\.sequence) == [1, 3, 4])
  }

  @Test(.rule("SESSION-19"))
  func `a session that is lost during a suspension is diagnosed, with the process that has it`()
    throws
  {
    let findings = try RecordedMistakes.diagnosing { journal in
      let taken = SessionTaken(session: "news", generation: 1, holder: RecordedMistakes.app)
      try journal.send(taken, from: RecordedMistakes.host, to: RecordedMistakes.widget)
    }
    #expect(findings.map(\.description.code) == ["same-identifier"])
    #expect(findings.first?.sighting.owner == RecordedMistakes.widget)
    #expect(
      findings.first?.sighting.what
        == "the session became invalid: app/com.example.Lab opened it while the process was suspended")
  }

  @Test func `a session that fails to open for another reason gives no diagnosis`() throws {
    let codes = try RecordedMistakes.codes { journal in
      let question = try journal.open("news")
      try journal.answer(
        OpenSession.kind, answer: .failed, body: BusError(.closed, "gone"), from: RecordedMistakes.host,
        to: RecordedMistakes.widget,
        cause: question)
    }
    #expect(codes.isEmpty)
  }

  @Test(arguments: FaultNoticed.Fault.allCases)
  func `each fault that a process reports gives one diagnosis`(fault: FaultNoticed.Fault) throws {
    let findings = try RecordedMistakes.diagnosing { journal in
      for _ in 1...2 {
        try journal.send(
          FaultNoticed(fault, subject: "QuoteProvider", details: "it did"), from: RecordedMistakes.widget)
      }
    }
    #expect(findings.count == 1)
    #expect(findings.first?.times == 2)
    #expect(findings.first?.sighting.subject == "QuoteProvider")
    #expect(findings.first?.sighting.what == "it did")
  }
}
