// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `The laws about the delivery of events` {
  /// A journal up to the delivery of tasks to the first instance.
  private func delivered(_ tasks: [Int] = [1], wakes: Bool = true) throws -> RecordedWork {
    var work = RecordedWork()
    try work.boot()
    try work.launch()
    for task in tasks {
      try work.create(task)
      try work.progress(.finished, task, sha256: "aa")
    }
    try work.deliver(tasks, wakes: wakes)
    return work
  }

  private func verdict(
    _ code: String, tasks: [Int] = [1], wakes: Bool = true, write: (inout RecordedWork) throws -> Void
  ) throws -> LawVerdict {
    var work = try delivered(tasks, wakes: wakes)
    try write(&work)
    return work.verdict(code)
  }

  private func expectBroken(_ tasks: [Int] = [1], wakes: Bool = true, _ write: (inout RecordedWork) throws -> Void)
    throws
  {
    let verdict = try verdict("event-order", tasks: tasks, wakes: wakes, write: write)
    #expect(verdict.answer == .broken, "\(verdict.findings)")
    #expect(verdict.findings.breachCount == 1, "\(verdict.findings.breaches)")
  }

  // MARK: Order

  @Test func `the delegate is called after the handler that the events wake`() throws {
    try expectBroken { try $0.end() }
    let running = try verdict("event-order", wakes: false) { try $0.end() }
    #expect(running.answer == .holds)
  }

  @Test func `the file precedes the end, and each comes once`() throws {
    try expectBroken(wakes: false) { work in
      try work.end()
      try work.file()
    }
    try expectBroken(wakes: false) { work in
      try work.file()
      try work.file()
    }
    try expectBroken(wakes: false) { work in
      try work.end()
      try work.end()
    }
  }

  @Test func `tasks come in the order in which they ended`() throws {
    try expectBroken([2, 1], wakes: false) { work in
      try work.end(1)
      try work.end(2)
    }
    let right = try verdict("event-order", tasks: [2, 1], wakes: false) { work in
      try work.end(2)
      try work.end(1)
    }
    #expect(right.answer == .holds)
  }

  @Test func `nothing follows the finish of all events`() throws {
    try expectBroken { work in
      try work.handler()
      try work.finish()
      try work.end()
    }
  }

  @Test func `a task that is not among the events, and an instance that did not receive them, get no call`() throws {
    try expectBroken(wakes: false) { try $0.end(2) }
    try expectBroken(wakes: false) { try $0.end(generation: 2) }
  }

  @Test func `the acknowledgement follows the handler and its completion`() throws {
    try expectBroken { try $0.acknowledge() }
    try expectBroken { work in
      try work.handler()
      try work.acknowledge()
    }
    let without = try verdict("event-order") { work in
      try work.handler(matching: 0)
      try work.acknowledge()
    }
    #expect(without.answer == .holds)
  }

  @Test func `a call whose notice may be lost with a connection is not judged`() throws {
    let verdict = try verdict("event-order") { work in
      try work.boot(2)
      try work.acknowledge()
    }
    #expect(verdict.answer == .holds)
  }

  @Test func `a completion that may be lost before a repetition to the same instance is not judged`() throws {
    let verdict = try verdict("event-order") { work in
      try work.handler()
      try work.boot(2)
      try work.deliver()
      try work.acknowledge()
    }
    #expect(verdict.answer == .holds, "\(verdict.findings)")
  }

  @Test func `events that were refused are handled from the beginning`() throws {
    let verdict = try verdict("event-order") { work in
      try work.handler()
      try work.answer(
        SessionEvents.kind, answer: .failed, body: BusError(.unclaimed, "no"), from: RecordedWork.widget,
        to: RecordedWork.host,
        cause: RecordedWork.delivery)
      try work.deliver()
      try work.handle()
      try work.acknowledge()
    }
    #expect(verdict.answer == .holds, "\(verdict.findings)")
  }

  @Test func `a transfer reports nothing after its end, except that its file cannot be delivered`() throws {
    try expectBroken { try $0.progress(.started) }
    #expect(try verdict("event-order") { try $0.progress(.retrying) }.answer == .holds)
  }

  // MARK: After the acknowledgement

  private func expectBrokenAfterwards(_ write: (inout RecordedWork) throws -> Void) throws {
    var work = try RecordedWork.download()
    try write(&work)
    let verdict = work.verdict("nothing-after-acknowledgement")
    #expect(verdict.answer == .broken)
    #expect(verdict.findings.breachCount == 1, "\(verdict.findings.breaches)")
    #expect(verdict.findings.breaches.first?.evidence.count == 2)
  }

  @Test func `events that the host has deleted are not delivered, handled, loaded or deleted again`() throws {
    try expectBrokenAfterwards { try $0.deliver(generation: 2) }
    try expectBrokenAfterwards { try $0.deliver(id: UUID(), wakes: false) }
    try expectBrokenAfterwards { try $0.handler(generation: 2) }
    try expectBrokenAfterwards { try $0.progress(.started) }
    try expectBrokenAfterwards { try $0.discard() }
  }

  @Test func `an instance that had received the events before may still handle them`() throws {
    var work = try RecordedWork.download()
    try work.end()
    #expect(work.verdict("nothing-after-acknowledgement").answer == .holds)
  }

  @Test func `a redelivery before the host has deleted the events is permitted`() throws {
    var work = try delivered()
    try work.acknowledge()
    try work.deliver(generation: 2)
    try work.acknowledge(generation: 2)
    try work.discard()
    #expect(work.verdict("nothing-after-acknowledgement").answer == .holds)
  }

  @Test func `a task that was never created is not delivered, unless the journal begins later`() throws {
    let whole = try RecordedWork.verdict("nothing-after-acknowledgement") { try $0.deliver() }
    #expect(whole.answer == .broken)
    let trimmed = try RecordedWork.verdict("nothing-after-acknowledgement", from: 100) { try $0.deliver() }
    #expect(trimmed.answer == .unknown)
  }

  // MARK: Files

  @Test func `a file with another hash or size than at the host is not intact`() throws {
    #expect(try verdict("files-intact") { try $0.file() }.answer == .holds)
    #expect(try verdict("files-intact") { try $0.file(sha256: "bb") }.answer == .broken)
    #expect(try verdict("files-intact") { try $0.file(bytes: 9) }.answer == .broken)
    #expect(try verdict("files-intact") { try $0.file(bytes: 9, sha256: nil) }.answer == .broken)
  }

  @Test func `a file without a hash is unknown`() throws {
    #expect(try verdict("files-intact") { try $0.file(sha256: nil) }.answer == .unknown)
    let atHost = try RecordedWork.verdict("files-intact") { work in
      try work.create()
      try work.progress(.finished, sha256: nil)
      try work.deliver()
      try work.file()
    }
    #expect(atHost.answer == .unknown)
  }

  @Test func `a file whose end may be lost with a connection of the host is not judged`() throws {
    let verdict = try RecordedWork.verdict("files-intact") { work in
      try work.boot()
      try work.create()
      try work.change(.disconnected, of: RecordedWork.host)
      try work.deliver()
      try work.file()
    }
    #expect(verdict.answer == .holds)
    #expect(verdict.findings.checks == 0)
  }
}
