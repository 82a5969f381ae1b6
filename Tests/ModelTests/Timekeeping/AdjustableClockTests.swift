// SPDX-License-Identifier: Apache-2.0

import CPlatform
import FidelityRules
import Foundation
import Glibc
import Synchronization
import Testing

@testable import Timekeeping

private struct Refusal: Error {}

@Suite(.timeLimit(.minutes(1))) struct `Adjustable clock` {
  @Test func `a running clock keeps the machine's rate and its own offset`() async throws {
    let clock = AdjustableClock(.running(ahead: 86_400))
    let before = Date()
    let now = clock.now
    #expect((before + 86_400...Date() + 86_400).contains(now))
    #expect(clock.offset == 86_400 && !clock.setting.isHeld)
    try await clock.sleep(until: clock.now + 0.01)
    #expect(Date().timeIntervalSince(before) >= 0.01)
  }

  @Test(.rule("CLOCK-02")) func `a held clock stands still and continues from there`() throws {
    let machine = Mutex(origin)
    let clock = AdjustableClock(.running(ahead: 10), machine: { machine.withLock { $0 } })
    try clock.hold()
    machine.withLock { $0 += 100 }
    #expect(clock.now == origin + 10)
    #expect(clock.setting.isHeld && clock.offset == -90)
    try clock.run()
    machine.withLock { $0 += 5 }
    #expect(clock.now == origin + 15)
    try clock.reset()
    #expect(clock.now == origin + 105 && clock.offset == 0)
  }

  @Test(.rule("CLOCK-01"))
  func `an advanced clock wakes sleepers in the order of their dates, including those added on the way`() async throws {
    let clock = held()
    let record = Record<Double>()
    let note: @Sendable () -> Void = { record.add(clock.now.timeIntervalSince(origin)) }
    let late = waiter(clock, until: 61, note)
    let others = [waiter(clock, until: 30, note), waiter(clock, until: 20, note)]
    let again = waiter(clock, until: 10) {
      note()
      _ = waiter(clock, until: 15) { note() }
    }
    let steps = Record<Double>()
    try await clock.advance(by: 60) { steps.add(clock.now.timeIntervalSince(origin)) }
    #expect(record.all == [10, 15, 20, 30])
    #expect(steps.all == [10, 15, 20, 30, 60])
    #expect(clock.now == origin + 60)
    for task in others + [again] { try await task.value }
    late.cancel()
  }

  @Test func `an advance waits for the work of a woken sleeper before it continues`() async throws {
    let clock = held()
    let gate = AsyncStream.makeStream(of: Void.self)
    let begun = AsyncStream.makeStream(of: Void.self)
    let task = waiter(clock, until: 1) {
      begun.continuation.finish()
      for await _ in gate.stream {}
    }
    let advance = Task { try await clock.advance(by: 60) }
    for await _ in begun.stream {}
    #expect(clock.now == origin + 1)
    gate.continuation.finish()
    try await advance.value
    try await task.value
    #expect(clock.now == origin + 60)
  }

  @Test func `a running clock can be advanced and wakes its sleepers`() async throws {
    let clock = AdjustableClock(.running(ahead: 0), machine: { origin })
    let record = Record<Double>()
    let task = waiter(clock, until: 3600) { record.add(clock.now.timeIntervalSince(origin)) }
    try await clock.advance(by: 7200)
    try await task.value
    #expect(record.all == [3600])
    #expect(clock.setting == .running(ahead: 7200))
  }

  @Test func `a clock saves each setting before it becomes visible`() async throws {
    let saved = Record<ClockSetting>()
    let clock = held(saved)
    let task = waiter(clock, until: 5) { #expect(saved.all.map(\.origin) == [origin + 5]) }
    try await clock.advance(by: 6)
    try await task.value
    #expect(saved.all.map(\.origin) == [origin + 5, origin + 6])
    let next = AdjustableClock(try #require(saved.all.last))
    #expect(next.now == clock.now)
  }

  @Test func `a clock keeps its setting when the new one cannot be saved`() async throws {
    let clock = AdjustableClock(.held(origin), machine: { origin }, save: { _ in throw Refusal() })
    #expect(throws: Refusal.self) { try clock.run() }
    await #expect(throws: Refusal.self) { try await clock.advance(by: 1) }
    #expect(clock.setting == .held(origin))
  }

  @Test func `a cancelled sleeper throws CancellationError before and during its sleep`() async throws {
    let clock = held()
    let sleeping = Task.immediate { try await clock.sleep(until: origin + 1) }
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(until: origin + 1)
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await clock.advance(by: 2)
  }

  @Test func `a reset wakes the sleepers whose date has passed`() async throws {
    let machine = Mutex(origin)
    let clock = AdjustableClock(.held(origin), machine: { machine.withLock { $0 } })
    let task = waiter(clock, until: 10) {}
    machine.withLock { $0 += 3600 }
    try clock.reset()
    try await task.value
  }

  // MARK: Origin and rate

  @Test(.rule("CLOCK-04"))
  func `a clock runs at a set rate from its current date, also after a hold, until it is reset`() throws {
    let machine = Mutex(origin)
    let clock = AdjustableClock(.running(ahead: 0), machine: { machine.withLock { $0 } })
    try clock.set(rate: 3600)
    machine.withLock { $0 += 2 }
    #expect(clock.now == origin + 7200 && clock.offset == 7198)
    try clock.hold()
    machine.withLock { $0 += 10 }
    #expect(clock.now == origin + 7200)
    try clock.set(rate: 10)
    try clock.run()
    machine.withLock { $0 += 1 }
    #expect(clock.now == origin + 7210 && clock.setting.rate == 10)
    try clock.reset()
    #expect(clock.offset == 0 && clock.setting.rate == 1)
  }

  @Test(.rule("CLOCK-04")) func `a higher rate shortens a sleep on the clock in proportion`() async throws {
    let clock = AdjustableClock(.running(ahead: 0))
    try clock.set(rate: 100_000)
    let begun = ContinuousClock.now
    try await clock.sleep(until: clock.now + 3600)
    #expect(ContinuousClock.now - begun >= .milliseconds(36))
  }

  @Test(.rule("CLOCK-06"))
  func `setting the clock forward wakes the due sleepers, and setting it back wakes none`() async throws {
    let clock = held()
    let record = Record<Double>()
    let note: @Sendable () -> Void = { record.add(clock.now.timeIntervalSince(origin)) }
    let tasks = [waiter(clock, until: 20, note), waiter(clock, until: 10, note)]
    try clock.set(to: origin - 3600)
    #expect(clock.now == origin - 3600 && clock.setting.isHeld)
    try clock.set(to: origin + 60)
    for task in tasks { try await task.value }
    #expect(record.all == [60, 60])
  }

  @Test func `a clock that is set to another date keeps its rate`() throws {
    let machine = Mutex(origin)
    let clock = AdjustableClock(.running(ahead: 0), machine: { machine.withLock { $0 } })
    try clock.set(rate: 60)
    try clock.set(to: origin + 1_000_000)
    machine.withLock { $0 += 1 }
    #expect(clock.now == origin + 1_000_060)
  }

  @Test func `a clock with a rate can be advanced and wakes its sleepers`() async throws {
    let clock = AdjustableClock(.running(ahead: 0), machine: { origin })
    try clock.set(rate: 5)
    let record = Record<Double>()
    let task = waiter(clock, until: 3600) { record.add(clock.now.timeIntervalSince(origin)) }
    try await clock.advance(by: 7200)
    try await task.value
    #expect(record.all == [3600])
    #expect(clock.now == origin + 7200)
  }

  // MARK: Visibility to other processes

  @Test(.rule("CLOCK-05")) func `the date of a held clock is the same after encoding as JSON`() async throws {
    let steps = (0..<1000).map { Date(timeIntervalSinceReferenceDate: 817_000_000 + Double($0) * 0.123_456_789) }
    #expect(
      steps.contains { Date(timeIntervalSince1970: $0.timeIntervalSince1970) > $0 },
      "some dates become later when encoded as seconds since 1970")
    for step in steps {
      let clock = AdjustableClock(.running(ahead: 0), machine: { step })
      try clock.hold()
      #expect(clock.now >= step && clock.now.timeIntervalSince(step) < 1e-6)
      try await clock.advance(by: 0.1)
      let data = try JSONEncoder.bus.encode([clock.now])
      #expect(try JSONDecoder.bus.decode([Date].self, from: data) == [clock.now])
    }
  }

  @Test func `a stored clock setting is the same when it is read again`() throws {
    let clock = AdjustableClock(.held(origin))
    try clock.set(rate: 60)
    let data = try JSONEncoder().encode(clock.setting)
    #expect(try JSONDecoder().decode(ClockSetting.self, from: data) == clock.setting)
  }

  @Test(.rule("CLOCK-08"))
  func `the clock page shows the exact date to other processes and remains after the host exits`() throws {
    let path = FileManager.default.temporaryDirectory.path + "/clock-\(UUID().uuidString)"
    defer { unlink(path) }
    let file = { open(path, O_RDONLY) }
    let page = try ClockPage(path: path)
    let reader = try #require(mmap(nil, Int(clock_page_size), PROT_READ, MAP_SHARED, file(), 0))
    defer { munmap(reader, Int(clock_page_size)) }
    let unset = machine_time()
    #expect((unset...unset + 1_000_000_000).contains(clock_page_now(reader)))
    let clock = AdjustableClock(.held(origin + 0.123_456_7), show: { page.show($0) })
    #expect(clock_page_now(reader) == clock.now.nanoseconds)
    try clock.set(to: Date(timeIntervalSinceReferenceDate: 762_000_000.1))
    let seen = clock_page_now(reader)
    let seconds = seen / 1_000_000_000
    let date = Date(
      timeIntervalSinceReferenceDate: Double(seconds) - Date.timeIntervalBetween1970AndReferenceDate
        + 1e-9 * Double(seen % 1_000_000_000))
    #expect(date == clock.now)
    try clock.set(rate: 1000)
    try clock.run()
    let next = try ClockPage(path: path)
    let (before, shown, after) = (clock.now.nanoseconds, clock_page_now(reader), clock.now.nanoseconds)
    #expect((before - 1_000_000...after + 1_000_000).contains(shown))
    next.show(.held(origin))
    #expect(clock_page_now(reader) == origin.nanoseconds)
  }
}

extension JSONEncoder {
  /// Encodes dates as message bodies and databases do.
  fileprivate static var bus: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .secondsSince1970
    return encoder
  }
}

extension JSONDecoder {
  fileprivate static var bus: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    return decoder
  }
}
