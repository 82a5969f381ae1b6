// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `The law of liveness` {
  /// The verdict when the journal is known to be complete for some seconds after its last envelope.
  private func verdict(
    after seconds: Double, _ limits: LawLimits, _ write: (inout RecordedWork) throws -> Void
  ) throws -> LawVerdict {
    var work = RecordedWork()
    try work.boot()
    try write(&work)
    return work.verdict("liveness", limits, until: work.now + seconds)
  }

  private func verdict(after seconds: Double, _ write: (inout RecordedWork) throws -> Void) throws -> LawVerdict {
    try verdict(after: seconds, LawLimits(), write)
  }

  private func exit(_ work: inout RecordedWork) throws {
    try work.send(
      ProcessExited(address: RecordedWork.widget, generation: 1, pid: 7, ending: .exited(code: 0)),
      from: RecordedWork.agent, to: RecordedWork.host)
  }

  private func downloaded(_ work: inout RecordedWork) throws {
    try work.create()
    try work.progress(.finished, sha256: "aa")
  }

  @Test func `an event without a reply is unknown until its time is over, and then broken`() throws {
    #expect(try verdict(after: 1, exit).answer == .unknown)
    #expect(try verdict(after: 61, exit).answer == .broken)
    #expect(try verdict(after: 5, LawLimits(settle: 4), exit).answer == .broken)
    #expect(try verdict(after: 61) { try $0.exit() }.answer == .holds)
  }

  @Test func `a request without a reply is broken, unless it could not be delivered`() throws {
    #expect(try verdict(after: 61) { try $0.create(isAccepted: false) }.answer == .broken)
    let undelivered = try verdict(after: 61) { work in
      let id = try work.create(isAccepted: false)
      try work.send(
        Undelivered(kindName: CreateTransfer.kind.name, destination: RecordedWork.host, code: .unreachable),
        from: .messageBus, to: RecordedWork.widget, cause: id)
    }
    #expect(undelivered.answer == .holds)
  }

  /// Found by a simulation. A sender that forgets its request is still found.
  @Test(arguments: [(0.1, LawVerdict.Answer.broken), (20, .holds)])
  func `a request may be given up while its destination is away for its deadline`(
    away: Double, answer: LawVerdict.Answer
  ) throws {
    let verdict = try verdict(after: 61) { work in
      try work.create(isAccepted: false)
      try work.change(.disconnected, of: RecordedWork.host)
      work.pass(away)
      try work.connect(RecordedWork.host, generation: 2)
    }
    #expect(verdict.answer == answer, "\(verdict.findings)")
  }

  @Test(arguments: [(0.1, LawVerdict.Answer.broken), (3_600, .holds)])
  func `a request may be given up while the broker is away for its deadline`(
    away: Double, answer: LawVerdict.Answer
  ) throws {
    let verdict = try verdict(after: 61) { work in
      try work.create(isAccepted: false)
      work.pass(away)
      try work.boot(2)
    }
    #expect(verdict.answer == answer, "\(verdict.findings)")
  }

  @Test func `the time begins again with a disturbance`() throws {
    func disturbed(_ pause: Double) throws -> LawVerdict {
      try verdict(after: pause) { work in
        try exit(&work)
        work.pass(50)
        try work.connect(RecordedWork.app)
      }
    }
    #expect(try disturbed(50).answer == .unknown)
    #expect(try disturbed(61).answer == .broken)
  }

  @Test func `the time in which the cluster is down does not count`() throws {
    func restarted(_ pause: Double) throws -> LawVerdict {
      try verdict(after: pause) { work in
        try exit(&work)
        work.pass(3600)
        try work.boot(2)
      }
    }
    #expect(try restarted(50).answer == .unknown)
    #expect(try restarted(61).answer == .broken)
  }

  /// Otherwise the next message of its sender would seem to come from the future.
  @Test func `a message that waited for its destination is no clock that was set back`() throws {
    func late(_ pause: Double) throws -> LawVerdict {
      try verdict(after: pause) { work in
        try work.change(.disconnected, of: RecordedWork.host)
        work.pass(70)
        try work.connect(RecordedWork.host, generation: 2)
        try work.create(isAccepted: false)
        for age in [70.0, 45, 22] {
          work.pass(-age)
          let exit = ProcessExited(address: RecordedWork.app, generation: 1, pid: 8, ending: .exited(code: 0))
          let id = try work.send(exit, from: RecordedWork.agent, to: RecordedWork.host)
          work.pass(age)
          try work.answer(
            ProcessExited.kind, answer: .acknowledged, from: RecordedWork.host, to: RecordedWork.agent, cause: id,
            generation: 2
          )
        }
        try work.exit()
      }
    }
    #expect(try late(30).answer == .unknown)
    #expect(try late(61).answer == .broken)
  }

  @Test func `a fault that the caller adds is a disturbance`() throws {
    var work = RecordedWork()
    try work.boot()
    try exit(&work)
    var checker = LawChecker(codes: ["liveness"])
    for envelope in work.envelopes { _ = checker.handle(envelope) }
    #expect(checker.verdicts(until: Timestamp(work.now + 61)).first?.answer == .broken)
    checker.disturbed(at: Timestamp(work.now + 30))
    #expect(checker.verdicts(until: Timestamp(work.now + 61)).first?.answer == .unknown)
  }

  @Test func `nothing is expected of a process that left, or for one that has ended`() throws {
    let left = try verdict(after: 61) { work in
      try work.change(.left, of: RecordedWork.host)
      try exit(&work)
    }
    #expect(left.answer == .holds)
    let ended = try verdict(after: 61) { work in
      try exit(&work)
      try work.change(.disconnected, of: RecordedWork.agent)
    }
    #expect(ended.answer == .holds)
  }

  /// Found by a simulation.
  @Test(arguments: [false, true])
  func `nothing is expected of a process that ended together with the broker`(isReplaced: Bool) throws {
    let verdict = try verdict(after: 61) { work in
      try exit(&work)
      try work.send(BusStarted(pid: 1, generation: 2, registrations: []), from: .messageBus)
      try work.connect(RecordedWork.agent, generation: isReplaced ? 2 : 1)
      try work.connect(RecordedWork.host)
    }
    #expect(verdict.answer == (isReplaced ? .holds : .broken))
  }

  /// Found by a simulation.
  @Test(arguments: [false, true]) func `the events of a force-quit app wait until it opens the session`(
    isOpened: Bool
  ) throws {
    let verdict = try verdict(after: 200) { work in
      let (host, app) = (RecordedWork.host, RecordedWork.app)
      try work.create(by: app)
      try work.send(ForceQuitApp(bundle: "com.example.Lab"), from: .operator("1"), to: host)
      try work.progress(.cancelled, of: app)
      let id = try work.send(
        OpenSession(identifier: RecordedWork.session, configuration: SessionConfiguration()), from: app, to: host)
      if isOpened {
        try work.answer(OpenSession.kind, answer: .ok, body: Done(), from: host, to: app, cause: id)
      } else {
        try work.answer(
          OpenSession.kind, answer: .failed, body: BusError(.sessionInUse, "x"), from: host, to: app, cause: id)
      }
    }
    #expect(verdict.answer == (isOpened ? .broken : .holds), "\(verdict.findings)")
  }

  @Test(arguments: ["", "disconnected", "not delivered", "another broker"])
  func `an event that is sent again after its reply needs one while its destination stays`(end: String) throws {
    let verdict = try verdict(after: 61) { work in
      let id = UUID()
      try work.exit(id: id)
      try work.send(
        ProcessExited(address: RecordedWork.widget, generation: 1, pid: 7, ending: .signalled(signal: 9)),
        from: RecordedWork.agent, to: RecordedWork.host, id: id)
      switch end {
      case "disconnected":
        try work.change(.disconnected, of: RecordedWork.host)
        try work.connect(RecordedWork.host)
      case "not delivered":
        try work.send(
          Undelivered(kindName: ProcessExited.kind.name, destination: RecordedWork.host, code: .unreachable),
          from: .messageBus, to: RecordedWork.agent, cause: id)
      case "another broker": try work.boot(2)
      default: break
      }
    }
    #expect(verdict.answer == (end.isEmpty ? .broken : .holds), "\(verdict.findings)")
  }

  @Test func `an event of a command needs no reply when the broker ends`() throws {
    func restarted(_ source: Address) throws -> LawVerdict {
      try verdict(after: 61) { work in
        try work.send(ReloadTimelines(widgetKind: nil), from: source, to: RecordedWork.host)
        try work.boot(2)
      }
    }
    #expect(try restarted(.operator("1")).answer == .holds)
    #expect(try restarted(RecordedWork.widget).answer == .broken)
  }

  @Test func `the events of a session whose tasks have ended must be sent`() throws {
    #expect(try verdict(after: 61, downloaded).answer == .broken)
    #expect(try verdict(after: 1, downloaded).answer == .unknown)
    let sent = try verdict(after: 61) { work in
      try downloaded(&work)
      try work.deliver()
    }
    #expect(sent.answer == .holds)
  }

  /// Found by a simulation.
  @Test(arguments: [50.0, 115])
  func `the time of events that waited for another task begins with its end`(before: Double) throws {
    func ended(_ pause: Double) throws -> LawVerdict {
      try verdict(after: pause) { work in
        try work.create(2)
        try downloaded(&work)
        work.pass(before)
        try work.progress(.finished, 2, sha256: "bb")
      }
    }
    #expect(try ended(50).answer == .unknown)
    #expect(try ended(61).answer == .broken)
  }

  @Test(arguments: ["another task", "no launch", "force quit", "no network", "held clock", "not launched", "not taken"])
  func `events may wait for a condition that the journal states`(condition: String) throws {
    let verdict = try verdict(after: 200) { work in
      let (host, widget) = (RecordedWork.host, RecordedWork.widget)
      if condition == "another task" { try work.create(2) }
      if condition == "no launch" {
        let configuration = SessionConfiguration(sessionSendsLaunchEvents: false)
        let id = try work.send(
          OpenSession(identifier: RecordedWork.session, configuration: configuration), from: widget, to: host)
        try work.answer(OpenSession.kind, answer: .ok, body: Done(), from: host, to: widget, cause: id)
      }
      try downloaded(&work)
      switch condition {
      case "force quit": try work.send(ForceQuitApp(bundle: "com.example.Lab"), from: .operator("1"), to: host)
      case "no network": try work.send(NetworkChanged(state: NetworkState(path: .off)), from: host)
      case "held clock":
        try work.send(ClockChanged(state: ClockState(now: work.now, isHeld: true, offset: 0)), from: host)
      case "not launched":
        try work.send(
          ProcessState(
            address: widget, generation: 0, state: "absent", why: "x", launchFailure: BusError(.notStarted, "x")),
          from: host)
      case "not taken":
        let other = UUID()
        try work.deliver([2], id: other)
        try work.send(
          SessionUnclaimed(owner: widget, session: RecordedWork.session, delivery: other, reason: "x"), from: host)
      default: break
      }
    }
    #expect(verdict.answer == .holds, "\(condition): \(verdict.findings)")
  }

  @Test func `completed events must be acknowledged, and acknowledged ones deleted`() throws {
    func handled(_ work: inout RecordedWork) throws {
      try work.launch()
      try downloaded(&work)
      try work.deliver()
      try work.handle()
    }
    #expect(try verdict(after: 61, handled).answer == .broken)
    func acknowledged(_ work: inout RecordedWork) throws {
      try handled(&work)
      try work.acknowledge()
    }
    #expect(try verdict(after: 61, acknowledged).answer == .broken)
    let lost = try verdict(after: 61) { work in
      try acknowledged(&work)
      try work.boot(2)
    }
    #expect(lost.answer == .holds)
    let whole = try verdict(after: 61) { work in
      try acknowledged(&work)
      try work.discard()
    }
    #expect(whole.answer == .holds)
  }

  @Test func `an accepted push must be sent or stored`() throws {
    func log(_ name: PushStep.Name, omitted: Int? = nil, work: inout RecordedWork) throws {
      try work.send(
        PushLogged(
          uniqueID: RecordedWork.delivery, subject: nil, type: nil, step: PushStep(name, at: work.now), omitted: omitted
        ), from: .pushServer)
    }
    #expect(try verdict(after: 61) { try log(.accepted, omitted: nil, work: &$0) }.answer == .broken)
    let storedVerdict = try verdict(after: 61) { work in
      try log(.accepted, omitted: nil, work: &work)
      try log(.storedOffline, omitted: nil, work: &work)
    }
    #expect(storedVerdict.answer == .holds)
    let omitted = try verdict(after: 61) { work in
      try log(.accepted, omitted: nil, work: &work)
      try log(.refused, omitted: 3, work: &work)
    }
    #expect(omitted.answer == .holds)
  }

  @Test func `a transfer may take any time, unless a limit is set`() throws {
    func started(_ work: inout RecordedWork) throws {
      try work.create()
      try work.progress(.started)
    }
    #expect(try verdict(after: 10_000, started).answer == .holds)
    let limits = LawLimits(transfer: 100)
    #expect(try verdict(after: 99, limits, started).answer == .unknown)
    #expect(try verdict(after: 101, limits, started).answer == .broken)
    let ended = try verdict(after: 101, limits) { work in
      try started(&work)
      try work.progress(.finished)
      try work.deliver()
    }
    #expect(ended.answer == .holds)
  }

  @Test func `a violation is found when an envelope shows that the time is over`() throws {
    var work = RecordedWork()
    try work.boot()
    try exit(&work)
    for _ in 1...3 {
      work.pass(25)
      try work.send(DeviceStatus(), from: .operator("1"), to: RecordedWork.host)
    }
    var checker = LawChecker(codes: ["liveness"])
    let news = work.envelopes.map { checker.handle($0) }
    #expect(news.last?.map(\.law.code) == ["liveness"])
    #expect(news.dropLast().allSatisfy { $0.isEmpty })
  }
}
