import ArgumentParser
import Conversations
import Foundation
import Journal
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `wait` {
  private static let own = RecordedStory.cast.widgetExtension
  private static let host = RecordedStory.cast.host

  private func condition(_ text: String) throws -> WaitCondition {
    try WaitCondition(text) { name in
      switch name {
      case "extension": return Self.own
      case "host": return Self.host
      default: throw Complaint(Exit.usage, "nobody")
      }
    }
  }

  private func holds(_ text: String, _ envelopes: [Envelope]) throws -> Bool {
    var watch = WaitWatch(try condition(text))
    for envelope in envelopes { watch.see(envelope) }
    return watch.holds
  }

  private func states(_ states: String...) throws -> [Envelope] {
    var story = RecordedStory()
    for state in states {
      try story.say(ProcessState(address: Self.own, generation: 1, state: state, why: ""), from: Self.host)
    }
    return story.envelopes
  }

  @Test func `a condition is a process and its state, a session and its step, or an expression`() throws {
    #expect(try condition("host=ready") == .standing(Self.host, "ready"))
    #expect(try condition("extension=suspended") == .state(Self.own, "suspended"))
    #expect(try condition("extension = running") == .state(Self.own, "running"))
    #expect(try condition("session=acknowledged") == .said(try FilterExpression("kind == session.acknowledged")))
    #expect(
      try condition("session:daily=opened") == .said(try FilterExpression("kind == session.open && session == daily")))
    #expect(try condition("pid == 5") == .said(try FilterExpression("pid == 5")))
  }

  @Test(arguments: ["host", "host=asleep", "extension=ready", "session=over", "nobody=running", "kin == 5", "", "="])
  func `what cannot be waited for is refused with what can`(text: String) {
    let complaint = #expect(throws: Complaint.self) { try condition(text) }
    #expect(complaint?.exit == Exit.usage)
  }

  @Test func `a process that is to run and cannot be started is known by the last word about it`() throws {
    let error = BusError(.noSuchExecutable, "there is no executable Weather")
    var story = RecordedStory()
    try story.say(
      ProcessState(address: Self.own, generation: 1, state: "absent", why: "", launchFailure: error), from: Self.host)
    let failed = story.envelopes
    for (text, expected) in [("running", error), ("suspended", error), ("absent", nil), ("launching", nil)] {
      var watch = WaitWatch(try condition("extension=\(text)"))
      for envelope in failed { watch.see(envelope) }
      #expect(watch.failure == expected, "\(text)")
    }
    var watch = WaitWatch(try condition("extension=running"))
    for envelope in failed + (try states("launching")) { watch.see(envelope) }
    #expect(watch.failure == nil, "it is tried again")
  }

  @Test func `a state holds by the last word about it`() throws {
    #expect(try holds("extension=suspended", states("launching", "running", "suspended")))
    #expect(try !holds("extension=suspended", states("launching", "suspended", "running")))
    #expect(try holds("extension=absent", []))
    #expect(try !holds("extension=absent", states("launching")))
    #expect(try holds("extension=absent", states("launching", "absent")))
  }

  @Test func `a session's step was said once and for all`() throws {
    var story = try RecordedStory.extensionKilled()
    #expect(try holds("session=downloaded", story.envelopes))
    #expect(try !holds("session:figures=delivered", story.envelopes))
    try story.events(2, pid: 201)
    #expect(try holds("session:figures=acknowledged", story.envelopes))
    #expect(try !holds("session:backup=acknowledged", story.envelopes))
  }

  @Test func `the journal is watched from where it is said`() async throws {
    let envelopes = try states("running", "suspended", "running", "suspended")
    try await WrittenJournal.with(envelopes) { folder in
      let reader = JournalReader(folder: URL(fileURLWithPath: folder))
      let found = try await Waiting(folder: folder, since: .sequence(2)).watch(
        try condition("state == running"), reader)
      #expect(found?.header.sequence == 3)
      let state = try await Waiting(folder: folder, since: nil).watch(try condition("extension=suspended"), reader)
      #expect(state?.header.sequence == 4)
    }
  }

  @Test func `nothing to wait for is a wrong command line`() {
    #expect(throws: (any Error).self) { try WaitCommand.parse([]) }
    #expect(throws: (any Error).self) { try WaitCommand.parse(["--for", "host=ready", "--since", "soon"]) }
  }
}
