// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The faults that the ledger of a campaign detects.
@Suite struct `The ledger of a kill campaign` {
  /// Gives each envelope the next sequence number.
  private struct Journal {
    var ledger = CampaignLedger(
      owners: [LiveFixture.session: LiveFixture.widgetExtension], strangers: [LiveFixture.correlation: LiveFixture.app],
      digest: { $0.owner == LiveFixture.widgetExtension ? "good" : nil })
    var sequence: UInt64 = 0

    @discardableResult
    mutating func send<C: Message>(
      _ body: C, to destination: Address, kind: Kind = C.kind, id: UUID = UUID(), cause: UUID? = nil,
      from source: Address = LiveFixture.host, correlation: UUID? = nil
    ) throws -> UUID {
      sequence += 1
      var header = EnvelopeHeader(
        kind: kind, id: id, cause: cause, correlation: correlation, source: source, destination: destination)
      header.sequence = sequence
      ledger.handle(Envelope(header: header, body: try BodyCoding.encode(body)))
      return id
    }

    mutating func accept() throws {
      let create = CreateTransfer(
        session: LiveFixture.session, taskIdentifier: 1, request: TransferRequest(url: "http://a"), taskDescription: nil
      )
      let id = try send(create, to: LiveFixture.host, from: LiveFixture.widgetExtension)
      try send(
        create, to: LiveFixture.widgetExtension, kind: CreateTransfer.kind.answered(.ok), cause: id,
        from: LiveFixture.host)
    }

    mutating func deliver(_ delivery: UUID, to owner: Address = LiveFixture.widgetExtension) throws {
      let task = TaskSnapshot(
        taskIdentifier: 1, request: TransferRequest(url: "http://a"), taskDescription: nil, bytesReceived: 1,
        bytesExpected: 1)
      let outcome = TaskOutcome(task: task, response: nil, file: nil, failure: nil)
      try send(
        SessionEvents(session: LiveFixture.session, wakesHandler: true, outcomes: [outcome]), to: owner, id: delivery)
    }

    mutating func forget(_ delivery: UUID) throws {
      try send(
        SessionAcknowledged(owner: LiveFixture.widgetExtension, session: LiveFixture.session, delivery: delivery),
        to: .journal)
    }

    mutating func progress(_ step: TransferProgress.Step, _ digest: String?) throws {
      try send(
        TransferProgress(
          owner: LiveFixture.widgetExtension, session: LiveFixture.session, taskIdentifier: 1, step: step, bytes: 1,
          sha256: digest), to: .journal)
    }
  }

  @Test func `the ledger accepts a download that is delivered twice and acknowledged once`() throws {
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

  @Test func `the ledger reports a missing and a repeated sequence number`() throws {
    var journal = Journal()
    try journal.progress(.started, nil)
    journal.sequence += 1
    try journal.progress(.started, nil)
    journal.sequence -= 1
    try journal.progress(.started, nil)
    #expect(journal.ledger.faults.count == 2)
  }

  @Test func `the ledger reports a download acknowledged in two deliveries, and a delivery after its acknowledgement`()
    throws
  {
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

  @Test
  func `the ledger reports wrong bytes, events for a wrong owner and an envelope of another owner's session`() throws {
    var journal = Journal()
    try journal.progress(.finished, "bad")
    try journal.deliver(UUID(), to: LiveFixture.app)
    try journal.send(Ping(), to: LiveFixture.app, correlation: LiveFixture.correlation)
    #expect(journal.ledger.faults.count == 3)
  }
}
