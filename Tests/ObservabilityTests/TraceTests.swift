// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `Traces of an operation` {
  private static let cast = RecordedScenario.cast
  private static let ownExtension = cast.widgetExtension

  /// A download whose extension is killed, relaunched and notified.
  private func scenario() throws -> RecordedScenario {
    var scenario = try RecordedScenario.extensionKilled()
    let spawn = UUID()
    try scenario.send(
      SpawnProcess(
        address: Self.ownExtension, executable: "widget-extension", environment: [:], container: "/c", groups: [:],
        reason: "events"), from: Self.cast.host, to: Self.cast.agent, id: spawn)
    scenario.answer(SpawnProcess.kind.answered(.ok), from: Self.cast.agent, to: Self.cast.host, cause: spawn)
    try scenario.launch(Self.ownExtension, 2, pid: 201)
    try scenario.events(2, pid: 201)
    try scenario.appsOwnEvents()
    return scenario
  }

  private func traced(_ envelopes: [Envelope], as text: String = RecordedScenario.session) throws -> Trace {
    Trace(try TraceSubject(text, in: envelopes), in: envelopes)
  }

  @Test func `a trace covers both process instances and the exit between them, and nothing of the app`() throws {
    let trace = try traced(scenario().envelopes)
    let kinds = trace.steps.map(\.envelope.header.kind.name)
    let order = [
      "transfer.create", "process.exited", "process.spawn", "process.spawn/ok", "process.started", "process.ready",
      "session.events", "handler.called", "completion.called", "session.acknowledged",
    ]
    var places = order.map { kinds.lastIndex(of: $0) ?? -1 }
    #expect(!places.contains(-1))
    #expect(places == places.sorted())
    places = trace.steps.map { Int($0.sequence) }
    #expect(places == places.sorted())
    #expect(trace.generations == [1, 2])
    #expect(trace.exits == 1)
    #expect(trace.isAcknowledged)
    let ofApp = trace.steps.filter { step in
      let header = step.envelope.header
      return header.source == Self.cast.app || header.destination == Self.cast.app || step.note.subject == Self.cast.app
    }
    #expect(ofApp.isEmpty)
    #expect(trace.steps.last?.envelope.header.kind == SessionAcknowledged.kind)
  }

  @Test func `a trace includes memory reports of the session's owner only`() throws {
    var scenario = try scenario()
    try scenario.memory(Self.ownExtension, 2, pid: 201)
    try scenario.memory(Self.cast.app, 1, pid: 100)
    try scenario.progress(Self.ownExtension, step: .started, bytes: 0)
    let received = try traced(scenario.envelopes).steps.filter { $0.envelope.header.kind == MemoryExceeded.kind }
    #expect(received.map(\.note.subject) == [Self.ownExtension])
  }

  @Test func `each step of a trace shows what it waited for and how long`() throws {
    let envelopes = try scenario().envelopes
    let trace = try traced(envelopes)
    func last(_ kind: Kind) throws -> Trace.Step {
      try #require(trace.steps.last { $0.envelope.header.kind == kind })
    }
    let spawned = try last(SpawnProcess.kind.answered(.ok))
    let spawn = try last(SpawnProcess.kind).sequence
    #expect(spawned.after == spawn, "by its causation id")
    #expect(spawned.waited == 1000)
    let finished = try last(TransferProgress.kind)
    let started = try #require(trace.steps.first { $0.envelope.header.kind == TransferProgress.kind })
    #expect(finished.after == started.sequence, "by the previous step of the transfer")
    let events = try last(SessionEvents.kind).sequence
    #expect(try last(HandlerCalled.kind).after == events, "by the last envelope that its process received")
    #expect(trace.total == trace.steps.last?.time)
    let longest = try #require(trace.longestWait?.waited)
    #expect(longest >= 1000)
    let lines = trace.lines(isColored: false)
    let others = 5
    #expect(lines.count == trace.steps.count + others)
    #expect(lines.contains { $0.contains("generations 1 to 2, exits: 1; acknowledged") })
  }

  @Test func `a session, the digits of a correlation id and an envelope id select the same trace`() throws {
    let envelopes = try scenario().envelopes
    let subject = try TraceSubject(RecordedScenario.session, in: envelopes)
    #expect(subject.owner == Self.ownExtension)
    let digits = try #require(subject.correlation?.digits.prefix(6))
    #expect(try TraceSubject(String(digits), in: envelopes) == subject)
    #expect(try TraceSubject("gures", in: envelopes) == subject, "a part that only one identifier has")
    let event = try #require(envelopes.first { $0.header.kind == HandlerCalled.kind })
    #expect(try TraceSubject(event.header.id.uuidString, in: envelopes) == subject)
  }

  @Test func `an unknown subject is an error with the sessions that exist`() throws {
    let envelopes = try scenario().envelopes
    let error = #expect(throws: TraceSubjectError.self) { try TraceSubject("nothing", in: envelopes) }
    #expect(error?.code == .unknown)
    #expect(error?.candidates.map(\.session) == [RecordedScenario.appSession, RecordedScenario.session])
  }

  @Test func `a session identifier with two owners is an error with both sessions`() throws {
    var scenario = RecordedScenario()
    for owner in [Self.ownExtension, Self.cast.app] {
      try scenario.send(
        OpenSession(identifier: "same", configuration: SessionConfiguration()), from: owner, to: Self.cast.host)
    }
    let error = #expect(throws: TraceSubjectError.self) { try TraceSubject("same", in: scenario.envelopes) }
    #expect(error?.code == .ambiguous)
    #expect(error?.candidates.map(\.owner) == [Self.ownExtension, Self.cast.app])
  }

  @Test func `an envelope without a correlation id is traced with its causes and its replies`() throws {
    var scenario = RecordedScenario()
    let (first, second) = (UUID(), UUID())
    try scenario.send(Ping(), from: .operator("1"), to: Self.cast.host, id: first)
    scenario.answer(Ping.kind.answered(.ok), from: Self.cast.host, to: .operator("1"), cause: first)
    try scenario.send(Ping(), from: .operator("2"), to: Self.cast.host, id: second)
    let found = try traced(scenario.envelopes, as: first.uuidString)
    #expect(found.steps.map(\.sequence) == [1, 2])
  }

  @Test func `a trace of an unfinished session continues to the end of the journal`() throws {
    var scenario = try RecordedScenario.extensionKilled()
    try scenario.launch(Self.ownExtension, 2, pid: 201)
    let trace = try traced(scenario.envelopes)
    #expect(!trace.isAcknowledged)
    #expect(trace.steps.last?.envelope.header.kind == ProcessReady.kind)
    #expect(trace.summary.joined().contains("not acknowledged yet"))
  }

  @Test func `consecutive generations are printed as ranges`() {
    #expect(Trace.ranges([]) == "")
    #expect(Trace.ranges([3]) == "3")
    #expect(Trace.ranges([1, 2, 3, 5, 7, 8]) == "1 to 3, 5, 7 to 8")
  }

  @Test func `the JSON trace holds every step`() throws {
    let trace = try traced(scenario().envelopes)
    let object = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(trace.report)) as? [String: Any])
    #expect((object["steps"] as? [[String: Any]])?.count == trace.steps.count)
    #expect(object["generations"] as? [Int] == [1, 2])
    #expect(object["isAcknowledged"] as? Bool == true)
  }

  // MARK: Mermaid

  /// Checks the lines against the grammar of Mermaid's sequence diagrams.
  private func expectValid(_ diagram: String) throws {
    let lines = diagram.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first == "sequenceDiagram")
    var declared: Set<Substring> = []
    for line in lines.dropFirst() {
      if let found = try #/  participant (p\d+) as [^;#]+/#.wholeMatch(in: line) {
        declared.insert(found.1)
      } else if let found = try #/  Note over (p\d+): (?:[^;#{}%<>]|#\w+;)+/#.wholeMatch(in: line) {
        #expect(declared.contains(found.1), "\(line)")
      } else if let found = try #/  (p\d+)(?:->>|-->>|--x)(p\d+): (?:[^;#{}%<>]|#\w+;)+/#.wholeMatch(in: line) {
        #expect(declared.isSuperset(of: [found.1, found.2]), "\(line)")
      } else {
        Issue.record("not a line of a sequence diagram: \(line)")
      }
    }
  }

  @Test func `the diagram of a trace is valid Mermaid`() throws {
    let diagram = try traced(scenario().envelopes).mermaid
    try expectValid(diagram)
    #expect(diagram.contains("-->>"))
    #expect(diagram.contains("exited: signal SIGKILL"))
    #expect(Trace.escaped("a;b#c\n<d>{e}%", limit: 99) == "a#59;b#35;c #lt;d#gt;#123;e#125;#37;")
  }

  @Test func `the diagram of a long trace omits its middle and reports the omission`() throws {
    var scenario = RecordedScenario()
    try scenario.beginning()
    for bytes in 1...2000 { try scenario.progress(Self.ownExtension, step: .resumed, bytes: Int64(bytes)) }
    try scenario.progress(Self.ownExtension, step: .finished, bytes: RecordedScenario.fileBytes)
    let diagram = try traced(scenario.envelopes).mermaid
    #expect(diagram.utf16.count < 50_000)
    #expect(diagram.utf16.count > 45_000)
    #expect(diagram.contains("steps omitted"))
    #expect(diagram.contains("finished figures"))
    try expectValid(diagram)
  }
}
