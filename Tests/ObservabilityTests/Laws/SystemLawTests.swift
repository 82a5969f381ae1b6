// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `The laws about processes, pushes and budgets` {
  private func verdict(_ code: String, from first: UInt64 = 1, _ write: (inout RecordedWork) throws -> Void) throws
    -> LawVerdict
  {
    var work = RecordedWork(from: first)
    try work.boot()
    try write(&work)
    return work.verdict(code)
  }

  private func expectBroken(_ code: String, _ write: (inout RecordedWork) throws -> Void) throws {
    let verdict = try verdict(code, write)
    #expect(verdict.answer == .broken, "\(verdict.findings)")
    #expect(verdict.findings.breachCount == 1, "\(verdict.findings.breaches)")
  }

  // MARK: Processes

  @Test func `an instance that was never registered is an orphan`() throws {
    try expectBroken("no-orphan") { work in
      try work.create(isAccepted: false)
      try work.create(2, isAccepted: false)
    }
    #expect(try verdict("no-orphan", from: 100) { try $0.create(isAccepted: false) }.answer == .holds)
    try expectBroken("no-orphan") { work in
      try work.send(
        ProcessStarted(address: RecordedWork.widget, generation: 3, pid: 7, executable: "/x"), from: RecordedWork.agent)
    }
  }

  @Test func `an exit is reported once, and for a known instance`() throws {
    try expectBroken("no-orphan") { work in
      try work.launch()
      try work.exit()
      try work.exit()
    }
    try expectBroken("no-orphan") { try $0.exit() }
    let again = UUID()
    let redelivered = try verdict("no-orphan") { work in
      try work.launch()
      try work.exit(id: again)
      try work.exit(id: again)
    }
    #expect(redelivered.answer == .holds)
  }

  @Test func `an instance sends nothing after its exit`() throws {
    try expectBroken("no-orphan") { work in
      try work.launch()
      try work.exit()
      try work.create(isAccepted: false)
    }
    // The envelope was sent before the exit, and received after it.
    var work = RecordedWork()
    try work.boot()
    try work.launch()
    try work.exit()
    work.pass(-1)
    try work.create(isAccepted: false)
    #expect(work.verdict("no-orphan").answer == .holds)
  }

  @Test func `the exit of an instance is reported before the next one starts at the same agent`() throws {
    try expectBroken("no-orphan") { work in
      try work.launch()
      try work.launch(generation: 2)
    }
    let otherAgent = try verdict("no-orphan") { work in
      try work.launch()
      try work.change(.disconnected, of: RecordedWork.agent)
      try work.launch(generation: 2, agent: 2)
    }
    #expect(otherAgent.answer == .holds)
  }

  @Test func `an instance sends nothing after its agent was replaced`() throws {
    try expectBroken("no-orphan") { work in
      try work.launch()
      try work.send(
        AgentStarted(incarnation: UUID(), pid: 2, children: []), from: RecordedWork.agent, to: RecordedWork.host,
        generation: 2)
      try work.create(isAccepted: false)
    }
  }

  @Test func `generations only grow`() throws {
    try expectBroken("no-orphan") { work in
      try work.launch(generation: 2)
      try work.exit(generation: 2)
      try work.launch(generation: 1, isReported: false)
    }
  }

  @Test func `an instance that could not be started has no exit`() throws {
    let verdict = try verdict("no-orphan") { work in
      try work.launch(isReported: false)
      try work.change(.retired, of: RecordedWork.widget)
      try work.launch(generation: 2)
    }
    #expect(verdict.answer == .holds, "\(verdict.findings)")
  }

  // MARK: Pushes

  private let push = UUID()

  private func log(_ name: PushStep.Name, omitted: Int? = nil, _ work: inout RecordedWork) throws {
    let step = PushStep(name, at: work.now)
    try work.send(
      PushLogged(uniqueID: push, subject: nil, type: "widgets", step: step, omitted: omitted), from: .pushServer)
  }

  private func send(_ work: inout RecordedWork, to host: Address = RecordedWork.host) throws {
    let notification = PushedNotification(
      uniqueID: push, apnsID: "a", subject: PushSubject(device: "iphone", bundle: "b", use: .widgets), type: .widgets,
      priority: 10, collapseID: nil, payload: "{}", acceptedAt: work.now, expiration: nil, isFromStorage: false)
    try work.send(DeliverPush(notification: notification), from: .pushServer, to: host, id: push)
  }

  private func acknowledge(_ work: inout RecordedWork) throws {
    try work.answer(DeliverPush.kind, answer: .acknowledged, from: RecordedWork.host, to: .pushServer, cause: push)
  }

  /// Found by a simulation: the push server answers a push of one attempt before it is on a disk.
  @Test(arguments: ["0", "1"]) func `a push server that ended has forgotten a push of one attempt`(
    expiration: String
  ) throws {
    let verdict = try verdict("pushes-settled") { work in
      let request = try work.send(
        SendPush(token: "t", subject: nil, headers: ["apns-expiration": expiration], payload: "{}"),
        from: .operator("1"), to: .pushServer)
      try work.answer(
        SendPush.kind, answer: .ok,
        body: SendPush.Reply(status: 200, reason: nil, explanation: nil, apnsID: "a", uniqueID: push),
        from: .pushServer, to: .operator("1"), cause: request)
      try work.change(.disconnected, of: .pushServer)
      try work.connect(.pushServer, generation: 2)
      let askedID = try work.send(ListPushes(uniqueID: push), from: .operator("2"), to: .pushServer)
      try work.answer(
        ListPushes.kind, answer: .ok, body: ListPushes.Reply(pushes: [], count: 0), from: .pushServer,
        to: .operator("2"), cause: askedID)
    }
    #expect(verdict.answer == (expiration == "0" ? .holds : .broken), "\(verdict.findings)")
  }

  @Test(arguments: [true, false]) func `the push server knows each push that it answered with 200`(
    isKnown: Bool
  ) throws {
    let verdict = try verdict("pushes-settled") { work in
      try log(.accepted, &work)
      let askedID = try work.send(ListPushes(uniqueID: push), from: .operator("1"), to: .pushServer)
      let record = PushRecord(
        number: 1, uniqueID: push, apnsID: "a", subject: nil, token: "t", type: "widgets", status: 200, reason: nil,
        steps: [])
      try work.answer(
        ListPushes.kind, answer: .ok, body: ListPushes.Reply(pushes: isKnown ? [record] : [], count: isKnown ? 1 : 0),
        from: .pushServer, to: .operator("1"), cause: askedID)
    }
    #expect(verdict.answer == (isKnown ? .unknown : .broken), "\(verdict.findings)")
  }

  private func answerAboutLog(_ steps: [PushStep.Name], _ work: inout RecordedWork) throws {
    let request = try work.send(ListPushes(after: -1, limit: 100), from: .operator("1"), to: .pushServer)
    let record = PushRecord(
      number: 1, uniqueID: push, apnsID: "a", subject: nil, token: "t", type: "widgets", status: 200, reason: nil,
      steps: steps.map { PushStep($0, at: work.now) })
    try work.answer(
      ListPushes.kind, answer: .ok, body: ListPushes.Reply(pushes: [record], count: 1), from: .pushServer,
      to: .operator("1"), cause: request)
  }

  /// Found by a simulation.
  @Test func `the notices of steps that a reply about the log contains may follow it, each once`() throws {
    func judged(_ steps: PushStep.Name...) throws -> LawVerdict {
      try verdict("pushes-settled") { work in
        try log(.accepted, &work)
        try answerAboutLog([.accepted, .storedOffline, .superseded], &work)
        for step in steps { try log(step, &work) }
      }
    }
    #expect(try judged(.storedOffline, .superseded).answer == .holds)
    #expect(try judged(.superseded, .superseded).answer == .broken)
    #expect(try judged(.storedOffline, .storedOffline).answer == .broken)
    #expect(try judged(.sent).answer == .broken)
  }

  /// The bus was killed before it had the notice of the result.
  @Test(arguments: [PushStep.Name.superseded, .expired, .storedOffline, .delivered])
  func `a reply about the log has the result of a push whose notice was lost`(last: PushStep.Name) throws {
    let verdict = try verdict("pushes-settled") { work in
      try log(.accepted, &work)
      try log(.storedOffline, &work)
      try answerAboutLog([.accepted, last], &work)
    }
    // Only the device's acknowledgement shows that a push was delivered.
    #expect(
      verdict.answer == ([.superseded, .expired].contains(last) ? .holds : .unknown), "\(last): \(verdict.findings)")
  }

  private func delivered(_ work: inout RecordedWork) throws {
    try log(.accepted, &work)
    try log(.sent, &work)
    try send(&work)
    try acknowledge(&work)
    try log(.delivered, &work)
  }

  /// Found by a simulation whose journal ended between the two.
  @Test func `the journal has a moment to state that an acknowledged push was delivered`() throws {
    var work = RecordedWork()
    try work.boot()
    work.pass(100)
    try log(.accepted, &work)
    try send(&work)
    try acknowledge(&work)
    #expect(work.verdict("pushes-settled", until: work.now + 1).answer == .unknown)
    #expect(work.verdict("pushes-settled", until: work.now + 61).answer == .broken)
  }

  @Test func `a push that was delivered, or whose result is logged, is settled`() throws {
    let whole = try verdict("pushes-settled") { work in
      try delivered(&work)
      try work.send(
        PushProgress(uniqueID: push, step: PushStep(.reloaded, at: work.now)), from: RecordedWork.host, to: .pushServer)
    }
    #expect(whole.answer == .holds, "\(whole.findings)")
    #expect(whole.findings.checks == 3)
    for result in [PushStep.Name.expired, .collapsed, .superseded, .notStored, .tokenUnregistered] {
      let verdict = try verdict("pushes-settled") { work in
        try log(.accepted, &work)
        try log(.storedOffline, &work)
        try log(result, &work)
      }
      #expect(verdict.answer == .holds)
    }
  }

  @Test func `a push has one result, and nothing follows it`() throws {
    try expectBroken("pushes-settled") { work in
      try delivered(&work)
      try log(.expired, &work)
    }
    try expectBroken("pushes-settled") { work in
      try log(.accepted, &work)
      try log(.expired, &work)
      try send(&work)
    }
    try expectBroken("pushes-settled") { work in
      try log(.refused, &work)
      try send(&work)
    }
  }

  @Test func `a push is delivered only when the device has acknowledged it`() throws {
    try expectBroken("pushes-settled") { work in
      try log(.accepted, &work)
      try send(&work)
      try log(.delivered, &work)
    }
    try expectBroken("pushes-settled") { work in
      try work.send(
        PushProgress(uniqueID: push, step: PushStep(.reloaded, at: work.now)), from: RecordedWork.host, to: .pushServer)
    }
  }

  @Test func `a push without a result at the end of the journal is unknown`() throws {
    let verdict = try verdict("pushes-settled") { try log(.accepted, &$0) }
    #expect(verdict.answer == .unknown)
    let omitted = try self.verdict("pushes-settled") { try log(.accepted, omitted: 3, &$0) }
    #expect(omitted.answer == .unknown)
  }

  @Test func `a push that the device acknowledged must be logged as delivered in time`() throws {
    var work = RecordedWork()
    try work.boot()
    try log(.accepted, &work)
    try send(&work)
    try acknowledge(&work)
    #expect(work.verdict("pushes-settled").answer == .unknown)
    #expect(work.verdict("pushes-settled", until: work.now + 61).answer == .broken)
    // The notice may be lost with the connection of the push server.
    try work.change(.disconnected, of: .pushServer)
    #expect(work.verdict("pushes-settled", until: work.now + 61).answer == .holds)
  }

  @Test func `an operator's push that was answered with 200 needs a result`() throws {
    let verdict = try verdict("pushes-settled") { work in
      try work.answer(
        SendPush.kind, answer: .ok,
        body: SendPush.Reply(status: 200, reason: nil, explanation: nil, apnsID: "a", uniqueID: push),
        from: .pushServer,
        to: .operator("1"), cause: UUID())
    }
    #expect(verdict.answer == .unknown)
  }

  @Test func `a push to another device is misrouted, and none is sent after it was logged as delivered`() throws {
    try expectBroken("no-misrouting") { try send(&$0, to: .host("ipad")) }
    try expectBroken("nothing-after-acknowledgement") { work in
      try delivered(&work)
      try send(&work)
    }
  }

  @Test(arguments: ["no-misrouting", "liveness"])
  func `the request to the app about a push has the push's id, and its own reply`(code: String) throws {
    func verdict(_ isAcknowledged: Bool) throws -> LawVerdict {
      var work = RecordedWork()
      try work.boot()
      try send(&work)
      try work.send(
        ReceiveNotification(uniqueID: push, payload: "{}"), from: RecordedWork.host, to: RecordedWork.app, id: push)
      try work.answer(
        ReceiveNotification.kind, answer: .ok, body: ReceiveNotification.Reply(result: nil), from: RecordedWork.app,
        to: RecordedWork.host, cause: push)
      if isAcknowledged { try acknowledge(&work) }
      return work.verdict(code, until: work.now + 61)
    }
    #expect(try verdict(true).answer == .holds)
    #expect(try verdict(false).answer == (code == "liveness" ? .broken : .holds))
  }

  // MARK: The budget

  private func decide(
    _ number: Int, work: inout RecordedWork, verdict: LedgerEntry.Verdict = .granted, balance: Double = 1,
    allowance: Int? = 2
  ) throws {
    let entry = LedgerEntry(
      number: number, date: work.now, reload: number, placement: 1, bundle: "b", widgetKind: "Quote", because: .app,
      verdict: verdict, rule: "budget", balance: balance, until: nil)
    try work.send(
      BudgetDecided(entry, allowance: allowance, window: allowance.map { _ in 24 }), from: RecordedWork.host)
  }

  @Test func `a balance below zero is an overdrawn budget`() throws {
    let kept = try verdict("budget-kept") { try decide(1, work: &$0, balance: 0) }
    #expect(kept.answer == .holds)
    #expect(kept.findings.checks == 2)
    try expectBroken("budget-kept") { try decide(1, work: &$0, balance: -0.5) }
    #expect(try verdict("budget-kept") { try decide(1, work: &$0, verdict: .delayed, balance: 0.3) }.answer == .holds)
  }

  @Test func `more reloads than the policy allows within its window are an overdrawn budget`() throws {
    try expectBroken("budget-kept") { work in
      for number in 1...3 { try decide(number, work: &work) }
    }
    let later = try verdict("budget-kept") { work in
      try decide(1, work: &work)
      try decide(2, work: &work)
      work.pass(86_400)
      try decide(3, work: &work)
    }
    #expect(later.answer == .holds)
  }

  @Test func `a number that is missing in the ledger is a mistake, unless its notice may be lost`() throws {
    try expectBroken("budget-kept") { work in
      try decide(1, work: &work, verdict: .free)
      try decide(3, work: &work, verdict: .free)
    }
    let lost = try verdict("budget-kept") { work in
      try decide(1, work: &work, verdict: .free)
      try work.change(.disconnected, of: RecordedWork.host)
      try decide(3, work: &work, verdict: .free)
    }
    #expect(lost.answer == .holds)
  }

  @Test func `a payment without the policy's allowance is unknown`() throws {
    #expect(try verdict("budget-kept") { try decide(1, work: &$0, allowance: nil) }.answer == .unknown)
  }
}
