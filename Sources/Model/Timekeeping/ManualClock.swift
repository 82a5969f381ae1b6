package import Foundation

/// A clock that is held until a test advances it.
package final class ManualClock: DeviceClock {
  private let clock: AdjustableClock

  /// Creates a clock that is held at `origin`.
  package init(_ origin: Date = Date(timeIntervalSince1970: 1_000_000_000)) { clock = AdjustableClock(.held(origin)) }

  package var now: Date { clock.now }

  package func sleep(until instant: Date) async throws { try await clock.sleep(until: instant) }

  package func sleep(until instant: Date, then work: @Sendable () async -> Void) async throws {
    try await clock.sleep(until: instant, then: work)
  }

  package func alarm(at instant: Date, _ work: @escaping @Sendable () async -> Void) -> ClockAlarm {
    clock.alarm(at: instant, work)
  }

  package func beginWork() -> ClockWork { clock.beginWork() }

  package func endWork(_ work: ClockWork) { clock.endWork(work) }

  /// Advances the clock by `seconds` and wakes the sleepers whose date has been reached, the earliest first.
  package func advance(by seconds: Double) {
    do {
      try clock.jump(by: seconds)
    } catch {
      preconditionFailure("a clock without `save` could not be set: \(error)")
    }
  }

  /// Returns when a sleeper's date is within `seconds` from now.
  package func whenSleeping(within seconds: Double) async { await clock.whenSleeping(within: seconds) }
}
