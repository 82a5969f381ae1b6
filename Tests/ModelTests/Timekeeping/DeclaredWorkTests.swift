// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Timekeeping

@Suite(.timeLimit(.minutes(1))) struct `The declared work of a clock` {
  @Test(.rule("CLOCK-07"))
  func `an advance waits for registered work that outlasts the sleeper that began it`() async throws {
    let clock = held()
    let (works, handed) = AsyncStream.makeStream(of: ClockWork.self)
    let record = Record<Double>()
    let first = waiter(clock, until: 1) { handed.yield(clock.beginWork()) }
    let second = waiter(clock, until: 2) { record.add(2) }
    let advance = Task { try await clock.advance(by: 60) }
    let work = try #require(await works.first { _ in true })
    try await first.value
    #expect(clock.now == origin + 1 && record.all.isEmpty)
    record.add(1)
    clock.endWork(work)
    clock.endWork(work)
    try await advance.value
    try await second.value
    #expect(record.all == [1, 2] && clock.now == origin + 60)
  }

  @Test
  func `an alarm performs its work at its date, or at once if that has passed, unless it is cancelled`() async throws {
    let clock = held()
    let record = Record<Double>()
    let note: @Sendable () -> Void = { record.add(clock.now.timeIntervalSince(origin)) }
    let gate = AsyncStream.makeStream(of: Void.self)
    _ = clock.alarm(at: origin + 10) {
      for await _ in gate.stream {}
      note()
      _ = clock.alarm(at: origin + 20) { note() }
    }
    clock.alarm(at: origin + 15) { note() }.cancel()
    let advance = Task.immediate { try await clock.advance(by: 60) }
    #expect(clock.now == origin + 10)
    gate.continuation.finish()
    try await advance.value
    #expect(record.all == [10, 20])
    _ = clock.alarm(at: origin) { note() }
    try await clock.advance(by: 0)
    #expect(record.all == [10, 20, 60])
  }

  @Test(.rule("CLOCK-07"), arguments: [0.01, 600])
  func `an advance waits for unfinished work no longer than its patience`(patience: Double) async throws {
    let clock = AdjustableClock(.held(origin), patience: .seconds(patience), machine: { origin })
    let work = clock.beginWork()
    let deadline = waiter(clock, until: 30) { clock.endWork(work) }
    let advance = Task.immediate { try await clock.advance(by: 60) }
    if patience > 1 {
      #expect(clock.now == origin)
      clock.endWork(work)
    }
    try await advance.value
    try await deadline.value
    #expect(clock.now == origin + 60)
  }

  @Test(.rule("CLOCK-07"))
  func `an advance does not wait forever for unfinished work that began while it waited`() async throws {
    let clock = AdjustableClock(.held(origin), patience: .seconds(0.01), machine: { origin })
    _ = clock.beginWork()
    let advance = Task.immediate { try await clock.advance(by: 60) }
    _ = clock.beginWork()
    try await advance.value
    #expect(clock.now == origin + 60)
  }

  @Test(.rule("CLOCK-07"))
  func `an advance returns only after the work that an alarm declares, and the work that this work declares`()
    async throws
  {
    let clock = held()
    let record = Record<String>()
    let (works, handed) = AsyncStream.makeStream(of: ClockWork.self)
    _ = clock.alarm(at: origin + 10) { handed.yield(clock.beginWork()) }
    _ = clock.alarm(at: origin + 20) { record.add("second alarm") }
    let advance = Task.immediate {
      try await clock.advance(by: 10)
      record.add("first advance")
      try await clock.advance(by: 10)
    }
    var iterator = works.makeAsyncIterator()
    let first = try #require(await iterator.next())
    let further = clock.beginWork()
    clock.endWork(first)
    #expect(clock.now == origin + 10)
    record.add("work")
    let last = Task {
      record.add("further work")
      clock.endWork(further)
    }
    try await advance.value
    await last.value
    #expect(record.all == ["work", "further work", "first advance", "second alarm"])
  }

  @Test func `an alarm that is ended has no work in progress, and no work that has not begun`() async throws {
    let clock = held()
    let record = Record<String>()
    let begun = AsyncStream.makeStream(of: Void.self)
    let never = AsyncStream.makeStream(of: Void.self)
    let running = clock.alarm(at: origin) {
      begun.continuation.finish()
      for await _ in never.stream {}
      record.add(Task.isCancelled ? "cancelled" : "ended")
    }
    let later = clock.alarm(at: origin + 10) { record.add("later") }
    for await _ in begun.stream {}
    await running.end()
    #expect(record.all == ["cancelled"])
    await later.end()
    try await clock.advance(by: 60)
    #expect(record.all == ["cancelled"])
  }
}
