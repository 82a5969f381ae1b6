import Conversations
import Foundation
import Testing

@testable import WidgetLab

@Suite struct `the trace` {
  private static let cast = RecordedStory.cast
  private static let own = cast.widgetExtension

  /// A download whose extension is killed, launched again and told.
  private func story() throws -> RecordedStory {
    var story = try RecordedStory.extensionKilled()
    let spawn = UUID()
    try story.say(
      SpawnProcess(
        address: Self.own, executable: "widget-extension", environment: [:], container: "/c", groups: [:],
        reason: "events"), from: Self.cast.host, to: Self.cast.agent, id: spawn)
    story.answer(SpawnProcess.kind.answered(.ok), from: Self.cast.agent, to: Self.cast.host, cause: spawn)
    try story.birth(Self.own, 2, pid: 201)
    try story.events(2, pid: 201)
    try story.appsOwnEvents()
    return story
  }

  private func traced(_ envelopes: [Envelope], as text: String = RecordedStory.session) throws -> Trace {
    Trace(try TraceSubject(text, in: envelopes), in: envelopes)
  }

  @Test func `the story goes over both lives and the death between, and holds nothing of the app`() throws {
    let trace = try traced(story().envelopes)
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
    #expect(trace.deaths == 1)
    #expect(trace.isAcknowledged)
    let ofApp = trace.steps.filter { step in
      let header = step.envelope.header
      return header.source == Self.cast.app || header.destination == Self.cast.app || step.note.subject == Self.cast.app
    }
    #expect(ofApp.isEmpty)
    #expect(trace.steps.last?.envelope.header.kind == SessionAcknowledged.kind)
  }

  @Test func `what a life of the owner had of memory belongs to the story`() throws {
    var story = try story()
    try story.memory(Self.own, 2, pid: 201)
    try story.memory(Self.cast.app, 1, pid: 100)
    try story.progress(Self.own, .started, 0)
    let told = try traced(story.envelopes).steps.filter { $0.envelope.header.kind == MemoryExceeded.kind }
    #expect(told.map(\.note.subject) == [Self.own])
  }

  @Test func `each step says what it waited for and how long`() throws {
    let envelopes = try story().envelopes
    let trace = try traced(envelopes)
    func last(_ kind: Kind) throws -> Trace.Step {
      try #require(trace.steps.last { $0.envelope.header.kind == kind })
    }
    let spawned = try last(SpawnProcess.kind.answered(.ok))
    let spawn = try last(SpawnProcess.kind).sequence
    #expect(spawned.after == spawn, "by its cause")
    #expect(spawned.waited == 1000)
    let finished = try last(TransferProgress.kind)
    let started = try #require(trace.steps.first { $0.envelope.header.kind == TransferProgress.kind })
    #expect(finished.after == started.sequence, "by the step of the transfer before")
    let events = try last(SessionEvents.kind).sequence
    #expect(try last(HandlerCalled.kind).after == events, "by what its process heard last")
    #expect(trace.total == trace.steps.last?.time)
    let longest = try #require(trace.longestWait?.waited)
    #expect(longest >= 1000)
    let lines = trace.lines(isColourful: false)
    let others = 5
    #expect(lines.count == trace.steps.count + others)
    #expect(lines.contains { $0.contains("generations 1 to 2, deaths: 1; acknowledged") })
  }

  @Test func `a session, a correlation's digits and an envelope's id name the same story`() throws {
    let envelopes = try story().envelopes
    let subject = try TraceSubject(RecordedStory.session, in: envelopes)
    #expect(subject.owner == Self.own)
    let digits = try #require(subject.correlation?.digits.prefix(6))
    #expect(try TraceSubject(String(digits), in: envelopes) == subject)
    #expect(try TraceSubject("gures", in: envelopes) == subject, "a part of one identifier only")
    let event = try #require(envelopes.first { $0.header.kind == HandlerCalled.kind })
    #expect(try TraceSubject(event.header.id.uuidString, in: envelopes) == subject)
  }

  @Test func `what is not there is answered with what there is`() throws {
    let envelopes = try story().envelopes
    let complaint = #expect(throws: Complaint.self) { try TraceSubject("nothing", in: envelopes) }
    #expect(complaint?.exit == Exit.no)
    #expect(complaint?.advice?.contains(RecordedStory.session) == true)
    #expect(complaint?.advice?.contains(RecordedStory.appSession) == true)
  }

  @Test func `two owners of one identifier have to be told apart`() throws {
    var story = RecordedStory()
    for owner in [Self.own, Self.cast.app] {
      try story.say(
        OpenSession(identifier: "same", configuration: SessionConfiguration()), from: owner, to: Self.cast.host)
    }
    let complaint = #expect(throws: Complaint.self) { try TraceSubject("same", in: story.envelopes) }
    #expect(complaint?.exit == Exit.usage)
    let story1 = Story.session(Self.own, "same").digits.prefix(8)
    #expect(complaint?.advice?.contains(story1) == true)
  }

  @Test func `an envelope without a story brings what led to it and its answers`() throws {
    var story = RecordedStory()
    let (first, second) = (UUID(), UUID())
    try story.say(Ping(), from: .operator("1"), to: Self.cast.host, id: first)
    story.answer(Ping.kind.answered(.ok), from: Self.cast.host, to: .operator("1"), cause: first)
    try story.say(Ping(), from: .operator("2"), to: Self.cast.host, id: second)
    let found = try traced(story.envelopes, as: first.uuidString)
    #expect(found.steps.map(\.sequence) == [1, 2])
  }

  @Test func `a story that has not ended goes on to the end of the journal`() throws {
    var story = try RecordedStory.extensionKilled()
    try story.birth(Self.own, 2, pid: 201)
    let trace = try traced(story.envelopes)
    #expect(!trace.isAcknowledged)
    #expect(trace.steps.last?.envelope.header.kind == ProcessReady.kind)
    #expect(trace.summary.joined().contains("not acknowledged yet"))
  }

  @Test func `lives in a row are a range`() {
    #expect(Trace.ranges([]) == "")
    #expect(Trace.ranges([3]) == "3")
    #expect(Trace.ranges([1, 2, 3, 5, 7, 8]) == "1 to 3, 5, 7 to 8")
  }

  @Test func `the JSON holds every step`() throws {
    let trace = try traced(story().envelopes)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Output.jsonData(trace.report)) as? [String: Any])
    #expect((object["steps"] as? [[String: Any]])?.count == trace.steps.count)
    #expect(object["generations"] as? [Int] == [1, 2])
    #expect(object["isAcknowledged"] as? Bool == true)
  }

  // MARK: Mermaid

  /// The lines that we write, by the grammar of Mermaid's sequence diagrams.
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
        Issue.record("no line of a sequence diagram: \(line)")
      }
    }
  }

  @Test func `the diagram keeps to the grammar`() throws {
    let diagram = try traced(story().envelopes).mermaid
    try expectValid(diagram)
    #expect(diagram.contains("-->>"))
    #expect(diagram.contains("ended: signal SIGKILL"))
    #expect(Trace.escaped("a;b#c\n<d>{e}%", limit: 99) == "a#59;b#35;c #lt;d#gt;#123;e#125;#37;")
  }

  @Test func `a long story loses its middle and says so`() throws {
    var story = RecordedStory()
    try story.beginning()
    for bytes in 1...2000 { try story.progress(Self.own, .resumed, Int64(bytes)) }
    try story.progress(Self.own, .finished, RecordedStory.fileBytes)
    let diagram = try traced(story.envelopes).mermaid
    #expect(diagram.utf16.count < 50_000)
    #expect(diagram.utf16.count > 45_000)
    #expect(diagram.contains("steps are left out here"))
    #expect(diagram.contains("finished figures"))
    try expectValid(diagram)
  }
}
