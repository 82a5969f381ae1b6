// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `The laws about the tasks of sessions` {
  private static let codes = [
    "no-loss", "no-misrouting", "event-order", "nothing-after-acknowledgement", "files-intact", "no-orphan", "liveness",
  ]

  @Test(arguments: codes) func `each law about tasks holds for a whole download, with checks`(code: String) throws {
    let verdict = try RecordedWork.download().verdict(code)
    #expect(verdict.answer == .holds, "\(verdict.findings)")
    #expect(verdict.findings.checks > 0)
  }

  @Test(arguments: codes) func `each law about tasks holds for a download whose owner was killed`(code: String) throws {
    var work = RecordedWork()
    try work.boot()
    try work.launch()
    try work.create()
    try work.progress(.finished, sha256: "aa")
    try work.deliver()
    try work.handler()
    try work.file()
    try work.change(.disconnected, of: RecordedWork.widget)
    try work.exit()
    try work.launch(generation: 2)
    try work.deliver(generation: 2)
    try work.handle(generation: 2)
    try work.acknowledge(generation: 2)
    try work.discard()
    let verdict = work.verdict(code)
    #expect(verdict.answer == .holds, "\(verdict.findings)")
    #expect(verdict.findings.checks > 0)
  }

  // MARK: No loss

  @Test func `events that the host deletes without an acknowledgement are lost`() throws {
    var work = RecordedWork()
    try work.boot()
    try work.create()
    try work.deliver()
    try work.discard()
    let verdict = work.verdict("no-loss")
    #expect(verdict.answer == .broken)
    #expect(verdict.findings.breaches.first?.evidence.map(\.text).map { $0.contains("session.") } == [true, true])
  }

  @Test func `a task that the host deletes beyond those that were acknowledged is lost`() throws {
    let verdict = try RecordedWork.verdict("no-loss") { work in
      try work.boot()
      try work.create(1)
      try work.create(2)
      try work.deliver([1])
      try work.acknowledge()
      try work.discard([1, 2])
    }
    #expect(verdict.answer == .broken)
    #expect(verdict.findings.checks == 2)
    #expect(verdict.findings.breaches.first?.what.contains("task 2 of") == true)
  }

  @Test func `a task that the host no longer lists is lost`() throws {
    func verdict(_ running: Int) throws -> LawVerdict {
      try RecordedWork.verdict("no-loss") { work in
        try work.boot()
        try work.create(1)
        try work.create(2)
        let question = try work.send(DeviceStatus(), from: .operator("1"), to: RecordedWork.host)
        let status = SessionStatus(
          owner: RecordedWork.widget, session: RecordedWork.session, running: running, undelivered: 1, bytesReceived: 0)
        try work.answer(
          DeviceStatus.kind, answer: .ok,
          body: DeviceStatus.Reply(device: "iphone", processes: [], sessions: [status], timelines: []),
          from: RecordedWork.host, to: .operator("1"), cause: question)
      }
    }
    #expect(try verdict(0).answer == .broken)
    #expect(try verdict(1).answer == .unknown)
    #expect(try verdict(1).findings.checks == 1)
  }

  @Test func `a journal that ends in the middle of a download leaves its loss unknown`() throws {
    let verdict = try RecordedWork.verdict("no-loss") { work in
      try work.boot()
      try work.create()
      try work.progress(.started)
    }
    #expect(verdict.answer == .unknown)
    #expect(verdict.findings.doubts.first?.what.contains("ends before 1 task of") == true)
    let refused = try RecordedWork.verdict("no-loss") { work in
      try work.boot()
      let id = try work.create(isAccepted: false)
      try work.answer(
        CreateTransfer.kind, answer: .failed, body: BusError(.refused, "no"), from: RecordedWork.host,
        to: RecordedWork.widget,
        cause: id)
    }
    #expect(refused.answer == .holds)
  }

  @Test func `events that were delivered before the journal begins are unknown`() throws {
    let verdict = try RecordedWork.verdict("no-loss", from: 100) { try $0.discard() }
    #expect(verdict.answer == .unknown)
  }

  @Test func `events whose tasks are in a file are judged by their numbers`() throws {
    func verdict(_ numbers: TaskNumbers?) throws -> LawVerdict {
      try RecordedWork.verdict("no-loss") { work in
        try work.boot()
        for task in 1...3 { try work.create(task) }
        try work.send(
          SessionEvents(
            session: RecordedWork.session, wakesHandler: true, outcomes: [], outcomesFile: "/f", fileTasks: numbers),
          from: RecordedWork.host, to: RecordedWork.widget, id: RecordedWork.delivery)
        try work.acknowledge()
        try work.discard([1, 2, 3])
      }
    }
    #expect(try verdict(TaskNumbers(1...3)).answer == .holds)
    #expect(try verdict(TaskNumbers([1, 3])).answer == .broken)
    #expect(try verdict(nil).answer == .unknown)
  }

  // MARK: Misrouting

  @Test func `events that are sent to another process are misrouted`() throws {
    let verdict = try RecordedWork.verdict("no-misrouting") { work in
      try work.create()
      try work.deliver(to: RecordedWork.app, session: RecordedWork.widget)
    }
    #expect(verdict.answer == .broken)
    #expect(verdict.findings.breachCount == 1)
  }

  @Test func `a reply from another process than the receiver of the request is misrouted`() throws {
    func verdict(from source: Address, to destination: Address) throws -> LawVerdict {
      try RecordedWork.verdict("no-misrouting") { work in
        let question = try work.send(DeviceStatus(), from: .operator("1"), to: RecordedWork.host)
        try work.answer(DeviceStatus.kind, answer: .ok, body: Done(), from: source, to: destination, cause: question)
      }
    }
    #expect(try verdict(from: RecordedWork.host, to: .operator("1")).answer == .holds)
    #expect(try verdict(from: RecordedWork.agent, to: .operator("1")).answer == .broken)
    #expect(try verdict(from: RecordedWork.host, to: .operator("2")).answer == .broken)
  }

  @Test func `a delegate call of a session without its correlation id is unknown`() throws {
    let verdict = try RecordedWork.verdict("no-misrouting") {
      try $0.send(HandlerCalled(session: RecordedWork.session, pid: 1, matching: 1), from: RecordedWork.widget)
    }
    #expect(verdict.answer == .unknown)
  }

  @Test func `a reload that a process requests while it handles a session is no message about the session`() throws {
    let correlation = MessageContext.correlation(ofSession: RecordedWork.session, of: RecordedWork.app)
    let verdict = try RecordedWork.verdict("no-misrouting") { work in
      try work.create(by: RecordedWork.app)
      try work.send(
        NetworkChanged(state: NetworkState(path: .wifi)), from: RecordedWork.host, to: RecordedWork.widget,
        correlation: correlation)
    }
    #expect(verdict.answer == .holds)
    let takenVerdict = try RecordedWork.verdict("no-misrouting") { work in
      try work.create(by: RecordedWork.app)
      try work.send(
        SessionTaken(session: RecordedWork.session, generation: 1, holder: RecordedWork.app), from: RecordedWork.host,
        to: RecordedWork.widget, correlation: correlation)
    }
    #expect(takenVerdict.answer == .broken)
  }
}
