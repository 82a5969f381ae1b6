import Foundation
import Synchronization
import Testing

@testable import Timekeeping

private let origin = Date(timeIntervalSince1970: 1_000_000_000)

/// What happened, in order.
private final class Record<Entry: Sendable>: Sendable {
  private let entries = Mutex<[Entry]>([])
  var all: [Entry] { entries.withLock { $0 } }
  func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }
}

private struct Refusal: Error {}

@Suite(.timeLimit(.minutes(1))) struct `the device's clock` {
  private func held(_ record: Record<AdjustableClock.Setting> = Record()) -> AdjustableClock {
    AdjustableClock(.held(origin), machine: { origin }, save: { record.add($0) })
  }

  /// Sleeps until so many seconds after the origin, then works; returned when it sleeps, if nobody else sleeps so short.
  private func sleeper(
    _ clock: AdjustableClock, until seconds: Double, _ work: @escaping @Sendable () async -> Void
  ) async -> Task<Void, any Error> {
    let task = Task { try await clock.sleep(until: origin + seconds, then: work) }
    await clock.whenSomebodySleeps(within: (origin + seconds).timeIntervalSince(clock.now))
    return task
  }

  @Test func `runs at the machine's rate, as far ahead as it was set`() async throws {
    let clock = AdjustableClock(.running(ahead: 86_400))
    let before = Date()
    let now = clock.now.timeIntervalSince(before)
    #expect((86_400...86_400.5).contains(now))
    #expect(clock.offset == 86_400 && !clock.isHeld)
    try await clock.sleep(until: clock.now + 0.01)
    #expect(Date().timeIntervalSince(before) >= 0.01)
  }

  @Test func `stands still while it is held, and goes on from there`() throws {
    let machine = Mutex(origin)
    let clock = AdjustableClock(.running(ahead: 10), machine: { machine.withLock { $0 } })
    try clock.hold()
    machine.withLock { $0 += 100 }
    #expect(clock.now == origin + 10)
    #expect(clock.isHeld && clock.offset == -90)
    try clock.run()
    machine.withLock { $0 += 5 }
    #expect(clock.now == origin + 15)
    try clock.reset()
    #expect(clock.now == origin + 105 && clock.offset == 0)
  }

  @Test func `wakes in the order of time, each at its own instant, those that came meanwhile too`() async throws {
    let clock = held()
    let record = Record<Double>()
    let note: @Sendable () -> Void = { record.add(clock.now.timeIntervalSince(origin)) }
    let late = await sleeper(clock, until: 61, note)
    let others = [await sleeper(clock, until: 30, note), await sleeper(clock, until: 20, note)]
    let again = await sleeper(clock, until: 10) {
      note()
      _ = await self.sleeper(clock, until: 15) { note() }
    }
    let steps = Record<Double>()
    try await clock.advance(by: 60) { steps.add(clock.now.timeIntervalSince(origin)) }
    #expect(record.all == [10, 15, 20, 30])
    #expect(steps.all == [10, 15, 20, 30, 60])
    #expect(clock.now == origin + 60)
    for task in others + [again] { try await task.value }
    late.cancel()
  }

  @Test func `does not go on before the work of whom it woke has returned`() async throws {
    let clock = held()
    let gate = AsyncStream.makeStream(of: Void.self)
    let begun = AsyncStream.makeStream(of: Void.self)
    let task = await sleeper(clock, until: 1) {
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

  @Test func `is advanced by as much while it runs`() async throws {
    let clock = AdjustableClock(.running(ahead: 0), machine: { origin })
    let record = Record<Double>()
    let task = await sleeper(clock, until: 3600) { record.add(clock.now.timeIntervalSince(origin)) }
    try await clock.advance(by: 7200)
    try await task.value
    #expect(record.all == [3600])
    #expect(clock.setting == .running(ahead: 7200))
  }

  @Test func `has each setting saved before anybody sees it`() async throws {
    let saved = Record<AdjustableClock.Setting>()
    let clock = held(saved)
    let task = await sleeper(clock, until: 5) { #expect(saved.all == [.held(origin + 5)]) }
    try await clock.advance(by: 6)
    try await task.value
    #expect(saved.all == [.held(origin + 5), .held(origin + 6)])
    let next = AdjustableClock(try #require(saved.all.last))
    #expect(next.now == clock.now)
  }

  @Test func `stays as it was when it cannot be saved`() async throws {
    let clock = AdjustableClock(.held(origin), machine: { origin }, save: { _ in throw Refusal() })
    #expect(throws: Refusal.self) { try clock.run() }
    await #expect(throws: Refusal.self) { try await clock.advance(by: 1) }
    #expect(clock.setting == .held(origin))
  }

  @Test func `lets who is cancelled go, before and while it sleeps`() async throws {
    let clock = held()
    let sleeping = Task { try await clock.sleep(until: origin + 1) }
    await clock.whenSomebodySleeps(within: 1)
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(until: origin + 1)
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await clock.advance(by: 2)
  }

  @Test func `wakes whoever slept when it is let go after their instant`() async throws {
    let machine = Mutex(origin)
    let clock = AdjustableClock(.held(origin), machine: { machine.withLock { $0 } })
    let task = await sleeper(clock, until: 10) {}
    machine.withLock { $0 += 3600 }
    try clock.reset()
    try await task.value
  }
}
