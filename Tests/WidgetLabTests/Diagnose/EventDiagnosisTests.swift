import Conversations
import Foundation
import Testing

@testable import WidgetLab

/// Mistakes with background sessions, over journals that were written by hand.
@Suite struct `A diagnosis of events` {
  @Test func `is that the completion is never called, once its time runs out and once for all times`() throws {
    let found = try RecordedMistakes.diagnosing { journal in
      for _ in 1...2 {
        try journal.birth()
        try journal.open("news")
        try journal.handler("news")
        try journal.expire("news")
        try journal.death(.signalled(signal: 9))
      }
    }
    let diagnosis = try #require(found.first)
    #expect(found.map(\.description.code) == ["completion-never-called"])
    #expect(diagnosis.sighting.evidence.map(\.sequence) == [4, 5])
    #expect(diagnosis.sighting.subject == "session news")
    #expect(diagnosis.place == "extension/com.example.Lab.Widget")
    #expect(diagnosis.times == 2)
  }

  @Test func `is none when the completion is called, or the process is killed before`() throws {
    let called = try RecordedMistakes.codes { journal in
      try journal.birth()
      try journal.open("news")
      try journal.handler("news")
      try journal.completion("news")
      try journal.expire("news")
    }
    #expect(called.isEmpty)
    let killed = try RecordedMistakes.codes { journal in
      try journal.birth()
      try journal.open("news")
      try journal.handler("news")
      try journal.death(.signalled(signal: 9))
    }
    #expect(killed.isEmpty)
  }

  @Test func `is that of several handlers one does not complete`() throws {
    let found = try RecordedMistakes.diagnosing { journal in
      try journal.birth()
      try journal.open("news")
      try journal.handler("news", matching: 2)
      try journal.completion("news", outstanding: 1)
      try journal.expire("news")
    }
    #expect(found.map(\.description.code) == ["completion-of-one-handler-missing"])
    #expect(found.first?.sighting.evidence.count == 3)
  }

  @Test func `is that the session is not made, whether the handler completes at once or never`() throws {
    let never = try RecordedMistakes.codes { journal in
      try journal.birth()
      try journal.handler("news")
      try journal.expire("news")
    }
    let atOnce = try RecordedMistakes.codes { journal in
      let delivery = UUID()
      try journal.birth()
      try journal.handler("news", delivery: delivery)
      try journal.completion("news")
      try journal.say(
        SessionUnclaimed(owner: RecordedMistakes.widget, session: "news", delivery: delivery, reason: "x"),
        from: RecordedMistakes.host)
    }
    #expect(never == ["session-never-recreated"])
    #expect(atOnce == ["session-never-recreated"])
  }

  @Test func `is not about a session that was made before the journal begins`() throws {
    let codes = try RecordedMistakes.codes { journal in
      try journal.handler("news")
      try journal.expire("news")
    }
    #expect(codes == ["completion-never-called"])
  }

  @Test func `is that no handler matches`() throws {
    let codes = try RecordedMistakes.codes { journal in
      try journal.birth()
      try journal.handler("other")
      try journal.completion("other")
      try journal.say(
        SessionUnclaimed(owner: RecordedMistakes.widget, session: "news", delivery: UUID(), reason: "x"),
        from: RecordedMistakes.host)
    }
    #expect(codes == ["events-without-handler"])
  }

  @Test func `is that a download is begun in the handler, and not before, after or by a provider`() throws {
    let inside = try RecordedMistakes.diagnosing { journal in
      try journal.birth()
      try journal.open("news")
      try journal.create("news")
      try journal.handler("news")
      try journal.create("news", task: 2)
    }
    #expect(inside.map(\.description.code) == ["download-in-events-handler"])
    #expect(inside.first?.sighting.what == "task 2 was begun while the events of session news were handled")
    let outside = try RecordedMistakes.codes { journal in
      try journal.birth()
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

  @Test func `is that nothing can call the handler, when the extension sleeps and never made a session`() throws {
    func codes(handlesEvents: Bool = true, opens: Bool = false, gives: Bool = true) throws -> [String] {
      try RecordedMistakes.codes { journal in
        try journal.birth(handlesEvents: handlesEvents)
        let question = try journal.ask()
        if opens { try journal.open("news") }
        if gives { try journal.give(question) }
        try journal.say(
          ProcessState(address: RecordedMistakes.widget, generation: 1, state: "suspended", why: "nothing to do"),
          from: RecordedMistakes.host)
      }
    }
    #expect(try codes() == ["handler-without-session"])
    #expect(try codes(handlesEvents: false).isEmpty)
    #expect(try codes(opens: true).isEmpty)
    #expect(try codes(gives: false).isEmpty)
  }

  @Test func `is that two processes share an identifier, and who has it`() throws {
    let found = try RecordedMistakes.diagnosing { journal in
      let (app, host) = (RecordedMistakes.app, RecordedMistakes.host)
      let first = try journal.open("news", in: app)
      try journal.answer(
        OpenSession.kind, .ok, OpenSession.Reply(nextTaskIdentifier: 1, tasks: []), from: host, to: app, cause: first)
      let second = try journal.open("news")
      try journal.answer(
        OpenSession.kind, .failed, BusError(.sessionInUse, "in use"), from: host, to: RecordedMistakes.widget,
        cause: second)
    }
    #expect(found.map(\.description.code) == ["same-identifier"])
    #expect(found.first?.sighting.what == "the session was refused: app/com.example.Lab has it open")
    #expect(found.first?.sighting.evidence.map(\.sequence) == [1, 3, 4])
  }

  @Test func `is none where a session fails to open for another reason`() throws {
    let codes = try RecordedMistakes.codes { journal in
      let question = try journal.open("news")
      try journal.answer(
        OpenSession.kind, .failed, BusError(.closed, "gone"), from: RecordedMistakes.host, to: RecordedMistakes.widget,
        cause: question)
    }
    #expect(codes.isEmpty)
  }

  @Test(arguments: FaultNoticed.Fault.allCases) func `is there for each fault that a process can notice`(
    fault: FaultNoticed.Fault
  ) throws {
    let found = try RecordedMistakes.diagnosing { journal in
      for _ in 1...2 {
        try journal.say(FaultNoticed(fault, subject: "QuoteProvider", details: "it did"), from: RecordedMistakes.widget)
      }
    }
    #expect(found.count == 1)
    #expect(found.first?.times == 2)
    #expect(found.first?.sighting.subject == "QuoteProvider")
    #expect(found.first?.sighting.what == "it did")
  }
}
