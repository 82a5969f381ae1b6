// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

/// Each row of the table of situations: no law takes it for a breach.
@Suite struct `Situations that are no breach` {
  private let push = UUID()
  private let host = RecordedWork.host
  private let widget = RecordedWork.widget
  private let agent = RecordedWork.agent

  @Test(arguments: LawSituation.allCases) func `no law is broken`(situation: LawSituation) throws {
    for work in try journals(of: situation) {
      var checker = LawChecker()
      for envelope in work.envelopes { _ = checker.handle(envelope) }
      let verdicts = checker.verdicts()
      for verdict in verdicts {
        #expect(verdict.answer != .broken, "\(situation): \(verdict.law.code): \(verdict.findings.breaches)")
        if situation.worst == .holds {
          #expect(verdict.answer == .holds, "\(situation): \(verdict.law.code): \(verdict.findings.doubts)")
        }
      }
    }
  }

  @Test func `each law has situations that could look like a breach`() {
    for law in LawTable.descriptions { #expect(!LawSituation.of(law).isEmpty, "\(law.code)") }
  }

  @Test func `an unknown push names the command that settles it`() throws {
    let verdict = try #require(try journals(of: .lostResult).first).verdict("pushes-settled")
    #expect(verdict.answer == .unknown)
    #expect(verdict.findings.doubts.contains { $0.what.contains("widgetlab push log \(push.upperCaseText)") })
  }

  /// Without the fact in the hello, the same journal is a breach: the row hides none.
  @Test func `a task number that is used again by the same database is a breach`() throws {
    let verdict = try again(isEmpty: false, opening: 2).verdict("nothing-after-acknowledgement")
    #expect(verdict.answer == .broken, "\(verdict.findings)")
  }

  // MARK: The journals

  private func journals(of situation: LawSituation) throws -> [RecordedWork] {
    switch situation {
    case .killed: [try killed()]
    case .update: [try killed(.left), try killed(.retired)]
    case .awayLong: [try away(.disconnected), try away(.left)]
    case .suspended: [try away(.disconnected)]
    case .absent: [try absent()]
    case .clockForward: try [3600, 86_400, 400 * 86_400].map { try jumped($0) }
    case .clockBack: try [-3600, -86_400].map { try jumped($0) }
    case .clockOfOne: try [7200, -7200].flatMap { try [jumped($0, of: widget), jumped($0, of: host)] }
    case .deviceClock: [try paid()]
    case .asleep: [try jumped(3600)]
    case .trimmed: try trimmed()
    case .lostEnd: try ended()
    case .emptyHost: [try again(isEmpty: true, opening: 1)]
    case .olderHost: [try again(isEmpty: false, opening: 1)]
    case .emptyPushServer: [try emptyPushServer()]
    case .emptyBroker: [try emptyBroker()]
    case .replicas: [try replicas(isLate: false), try replicas(isLate: true)]
    case .fleets: [try fleet()]
    case .lostResult: [try lostResult()]
    case .operators: [try operators()]
    case .keys: [try keys()]
    case .forceQuit:
      [try waiting { try $0.send(ForceQuitApp(bundle: "com.example.Lab"), from: .operator("1"), to: host) }]
    case .offline:
      [
        try waiting { try $0.send(NetworkChanged(state: NetworkState(path: .off)), from: host) },
        try stored(),
      ]
    }
  }

  private func begin() throws -> RecordedWork {
    var work = RecordedWork()
    try work.boot()
    return work
  }

  /// Envelopes for two minutes, as a cluster at work has them.
  private func stay(_ work: inout RecordedWork) throws {
    for _ in 1...12 {
      work.pass(10)
      try work.send(Ping(), from: .operator("1"), to: .messageBus)
    }
  }

  private func killed(_ change: RegistrationChanged.Change = .disconnected) throws -> RecordedWork {
    var work = try begin()
    try work.launch()
    try work.create()
    try work.progress(.started)
    try work.progress(.finished, sha256: "aa")
    try work.deliver()
    try work.handler()
    try work.file()
    try work.change(change, of: widget)
    try work.exit()
    try work.launch(generation: 2)
    try work.deliver(generation: 2)
    try work.handle(generation: 2)
    try work.acknowledge(generation: 2)
    try work.discard()
    return work
  }

  /// The host disappears while an event is on its way, and acknowledges it when it is back.
  private func away(_ change: RegistrationChanged.Change) throws -> RecordedWork {
    var work = try begin()
    let id = UUID()
    try work.launch()
    try sendExit(id, &work)
    try work.change(change, of: host)
    try stay(&work)
    try work.connect(host, generation: 2)
    try sendExit(id, &work)
    try work.answer(ProcessExited.kind, answer: .acknowledged, from: host, to: agent, cause: id)
    return work
  }

  /// The host has never been connected: it dies before its hello.
  private func absent() throws -> RecordedWork {
    var work = RecordedWork()
    try work.send(BusStarted(pid: 1, generation: 1, registrations: []), from: .messageBus)
    try work.connect(agent)
    let id = UUID()
    try work.launch()
    try sendExit(id, &work)
    try stay(&work)
    try work.connect(host)
    try sendExit(id, &work)
    try work.answer(ProcessExited.kind, answer: .acknowledged, from: host, to: agent, cause: id)
    return work
  }

  private func sendExit(_ id: UUID, _ work: inout RecordedWork) throws {
    try work.send(
      ProcessExited(address: widget, generation: 1, pid: 7, ending: .signalled(signal: 9)), from: agent, to: host,
      id: id)
  }

  /// A whole download, in the second half of which a clock is another.
  private func jumped(_ seconds: Double, of source: Address? = nil) throws -> RecordedWork {
    var work = try RecordedWork.download()
    try work.exit()
    for index in work.envelopes.indices[(work.envelopes.count / 2)...] {
      let header = work.envelopes[index].header
      guard source == nil || header.source == source else { continue }
      work.envelopes[index] = work.envelopes[index].sent(at: header.sentAt.microseconds + Int64(seconds * 1e6))
    }
    return work
  }

  private func paid() throws -> RecordedWork {
    var work = try begin()
    for (index, back) in [0.0, 3600, -1].enumerated() {
      let entry = LedgerEntry(
        number: index + 1, date: work.now - back, reload: index + 1, placement: 1, bundle: "b", widgetKind: "Quote",
        because: .app, verdict: .granted, rule: "budget", balance: 1, until: nil)
      try work.send(BudgetDecided(entry, allowance: 2, window: 24), from: host)
    }
    return work
  }

  private func trimmed() throws -> [RecordedWork] {
    let whole = try RecordedWork.download()
    return whole.envelopes.indices.dropFirst().map { place in
      var work = whole
      work.envelopes.removeFirst(place)
      return work
    }
  }

  private func ended() throws -> [RecordedWork] {
    let whole = try RecordedWork.download()
    return whole.envelopes.indices.map { place in
      var work = whole
      work.envelopes.removeSubrange(place...)
      return work
    }
  }

  /// The same download twice, and a host that began again in between.
  private func again(isEmpty: Bool, opening: Int) throws -> RecordedWork {
    let store = UUID()
    var work = try begin()
    try work.send(Hello(incarnation: UUID(), pid: 1, store: store, opening: 1), from: host, to: .messageBus)
    try work.launch()
    for round in 1...2 {
      let delivery = UUID()
      try work.create()
      try work.progress(.started)
      try work.progress(.finished, sha256: "aa")
      try work.deliver(id: delivery)
      try work.handler(id: delivery)
      try work.file(id: delivery)
      try work.end(id: delivery)
      try work.finish(id: delivery)
      try work.complete(id: delivery)
      try work.acknowledge(id: delivery)
      try work.discard(id: delivery)
      guard round == 1 else { break }
      try work.change(.left, of: host)
      try work.send(
        Hello(incarnation: UUID(), pid: 2, store: isEmpty ? UUID() : store, opening: opening), from: host,
        to: .messageBus, generation: 2)
      try work.connect(host, generation: 2)
    }
    return work
  }

  // MARK: Pushes

  private var notification: PushedNotification {
    PushedNotification(
      uniqueID: push, apnsID: "a", subject: PushSubject(device: "iphone", bundle: "b", use: .widgets), type: .widgets,
      priority: 10, collapseID: nil, payload: "{}", acceptedAt: RecordedWork.start, expiration: nil,
      isFromStorage: false)
  }

  private func log(_ name: PushStep.Name, _ work: inout RecordedWork, by source: Address = .pushServer) throws {
    try work.send(
      PushLogged(uniqueID: push, subject: nil, type: "widgets", step: PushStep(name, at: work.now)), from: source)
  }

  private func deliver(_ work: inout RecordedWork, by source: Address = .pushServer) throws {
    try work.send(DeliverPush(notification: notification), from: source, to: host, id: push)
    try work.answer(DeliverPush.kind, answer: .acknowledged, from: host, to: source, cause: push)
    try log(.delivered, &work, by: source)
  }

  private func emptyPushServer() throws -> RecordedWork {
    var work = try begin()
    try work.send(Hello(incarnation: UUID(), pid: 1, store: UUID(), opening: 1), from: .pushServer, to: .messageBus)
    try log(.accepted, &work)
    try log(.storedOffline, &work)
    try work.change(.left, of: .pushServer)
    try work.send(Hello(incarnation: UUID(), pid: 2, store: UUID(), opening: 1), from: .pushServer, to: .messageBus)
    try work.connect(.pushServer, generation: 2)
    let asked = try work.send(ListPushes(uniqueID: push), from: .operator("1"), to: .pushServer)
    try work.answer(
      ListPushes.kind, answer: .ok, body: ListPushes.Reply(pushes: [], count: 0), from: .pushServer, to: .operator("1"),
      cause: asked)
    try stay(&work)
    return work
  }

  private func emptyBroker() throws -> RecordedWork {
    var work = RecordedWork()
    try work.boot(2)
    try work.launch(generation: 4)
    try work.exit(generation: 4)
    try work.boot(1)
    try work.launch(generation: 1)
    try work.exit(generation: 1)
    return work
  }

  private func replicas(isLate: Bool) throws -> RecordedWork {
    var work = RecordedWork()
    try work.send(BusStarted(pid: 1, generation: 1, registrations: []), from: .messageBus)
    let (first, second) = (Address.pushServer("1"), Address.pushServer("2"))
    for address in [agent, host, first, second] { try work.connect(address) }
    let reach = try work.send(DeviceReach(isOnline: true, isAwake: true), from: host, to: .pushServer)
    try work.answer(DeviceReach.kind, answer: .acknowledged, from: second, to: host, cause: reach)
    if !isLate { try log(.accepted, &work, by: first) }
    try deliver(&work, by: second)
    if isLate { try log(.accepted, &work, by: first) }
    try stay(&work)
    return work
  }

  private func fleet() throws -> RecordedWork {
    var work = try begin()
    let fleet = Address.fleet("load")
    try work.connect(fleet)
    try log(.accepted, &work)
    let id = try work.send(
      DeliverToFleet(run: UUID(), batch: 1, settled: 0, notifications: [notification]), from: .pushServer, to: fleet)
    try work.answer(
      DeliverToFleet.kind, answer: .ok, body: DeliverToFleet.Reply(refused: []), from: fleet, to: .pushServer, cause: id
    )
    try log(.delivered, &work)
    return work
  }

  private func lostResult() throws -> RecordedWork {
    var work = try begin()
    try log(.accepted, &work)
    try log(.storedOffline, &work)
    try work.boot(2)
    try stay(&work)
    return work
  }

  private func stored() throws -> RecordedWork {
    var work = try begin()
    try work.send(NetworkChanged(state: NetworkState(path: .off)), from: host)
    try log(.accepted, &work)
    try log(.storedOffline, &work)
    try stay(&work)
    return work
  }

  // MARK: Others

  private func operators() throws -> RecordedWork {
    var work = try begin()
    let command = Address.operator("7")
    try work.connect(command)
    try work.send(ReloadTimelines(widgetKind: nil), from: command, to: host)
    try work.change(.disconnected, of: command)
    try stay(&work)
    return work
  }

  /// Each process connects once more; the broker notices the end of the former connection later or never.
  private func keys() throws -> RecordedWork {
    var work = try begin()
    for address in [agent, host, .pushServer] { try work.connect(address) }
    try work.launch()
    try work.exit()
    try stay(&work)
    return work
  }

  /// A download has ended, and its events wait for a condition, until they are taken.
  private func waiting(_ condition: (inout RecordedWork) throws -> Void) throws -> RecordedWork {
    var work = try begin()
    try work.launch()
    try work.create()
    try condition(&work)
    try work.progress(.finished, sha256: "aa")
    try stay(&work)
    try work.deliver()
    try work.handle()
    try work.acknowledge()
    try work.discard()
    return work
  }
}

extension Envelope {
  /// The same envelope with another time.
  fileprivate func sent(at microseconds: Int64) -> Envelope {
    let formerHeader = header
    var header = EnvelopeHeader(
      kind: formerHeader.kind, sentAt: Timestamp(microseconds: microseconds), id: formerHeader.id,
      cause: formerHeader.cause,
      correlation: formerHeader.correlation, source: formerHeader.source, destination: formerHeader.destination)
    header.sequence = formerHeader.sequence
    header.sourceGeneration = formerHeader.sourceGeneration
    header.destinationGeneration = formerHeader.destinationGeneration
    return Envelope(header: header, body: body)
  }
}
