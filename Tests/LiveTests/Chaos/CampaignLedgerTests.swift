import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What a campaign would find, if it were there.
@Suite struct `The ledger of a campaign` {
  /// Stamps what is said with the next number.
  private struct Journal {
    var ledger = CampaignLedger(
      owners: [Trial.session: Trial.widgetExtension], strangers: [Trial.story: Trial.app],
      digest: { $0.owner == Trial.widgetExtension ? "good" : nil })
    var sequence: UInt64 = 0

    @discardableResult
    mutating func say<C: Conversation>(
      _ body: C, to destination: Address, kind: Kind = C.kind, id: UUID = UUID(), cause: UUID? = nil,
      from source: Address = Trial.host, correlation: UUID? = nil
    ) throws -> UUID {
      sequence += 1
      var header = EnvelopeHeader(
        kind: kind, id: id, cause: cause, correlation: correlation, source: source, destination: destination)
      header.sequence = sequence
      ledger.take(Envelope(header: header, body: try BodyCoding.encode(body)))
      return id
    }

    mutating func accept() throws {
      let create = CreateTransfer(
        session: Trial.session, taskIdentifier: 1, request: TransferRequest(url: "http://a"), taskDescription: nil)
      let id = try say(create, to: Trial.host, from: Trial.widgetExtension)
      try say(
        create, to: Trial.widgetExtension, kind: CreateTransfer.kind.answered(.ok), cause: id, from: Trial.host)
    }

    mutating func deliver(_ delivery: UUID, to owner: Address = Trial.widgetExtension) throws {
      let task = TaskSnapshot(
        taskIdentifier: 1, request: TransferRequest(url: "http://a"), taskDescription: nil, bytesReceived: 1,
        bytesExpected: 1)
      let outcome = TaskOutcome(task: task, response: nil, file: nil, failure: nil)
      try say(SessionEvents(session: Trial.session, wakesHandler: true, outcomes: [outcome]), to: owner, id: delivery)
    }

    mutating func forget(_ delivery: UUID) throws {
      try say(
        SessionAcknowledged(owner: Trial.widgetExtension, session: Trial.session, delivery: delivery), to: .journal)
    }

    mutating func progress(_ step: TransferProgress.Step, _ digest: String?) throws {
      try say(
        TransferProgress(
          owner: Trial.widgetExtension, session: Trial.session, taskIdentifier: 1, step: step, bytes: 1,
          sha256: digest), to: .journal)
    }
  }

  @Test func `finds nothing in a download that was delivered twice and acknowledged once`() throws {
    var journal = Journal()
    let delivery = UUID()
    try journal.accept()
    #expect(journal.ledger.unfinished.count == 1)
    try journal.progress(.finished, "good")
    try journal.deliver(delivery)
    try journal.deliver(delivery)
    #expect(journal.ledger.unfinished.count == 1)
    try journal.forget(delivery)
    #expect(journal.ledger.unfinished.isEmpty)
    #expect(journal.ledger.acknowledgedTwice.isEmpty)
    #expect(journal.ledger.faults.isEmpty)
  }

  @Test func `finds a number that is missing and one that is there twice`() throws {
    var journal = Journal()
    try journal.progress(.started, nil)
    journal.sequence += 1
    try journal.progress(.started, nil)
    journal.sequence -= 1
    try journal.progress(.started, nil)
    #expect(journal.ledger.faults.count == 2)
  }

  @Test func `finds what was acknowledged in two deliveries, and what came after the acknowledgement`() throws {
    var journal = Journal()
    let (first, second) = (UUID(), UUID())
    try journal.accept()
    try journal.deliver(first)
    try journal.forget(first)
    try journal.deliver(second)
    try journal.forget(second)
    #expect(journal.ledger.acknowledgedTwice.count == 1)
    #expect(journal.ledger.faults.isEmpty)
    try journal.deliver(second)
    try journal.forget(second)
    #expect(journal.ledger.faults.count == 2)
  }

  @Test func `finds other bytes, events for another, and a story that went astray`() throws {
    var journal = Journal()
    try journal.progress(.finished, "bad")
    try journal.deliver(UUID(), to: Trial.app)
    try journal.say(Ping(), to: Trial.app, correlation: Trial.story)
    #expect(journal.ledger.faults.count == 3)
  }
}
