package import Foundation

/// A clock that stands still until a test advances it.
package final class HeldClock: DeviceClock {
  private let clock: AdjustableClock

  /// A clock that stands at `origin`.
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

  /// Lets `seconds` pass and wakes those whose instant has come, the earliest first.
  package func advance(by seconds: Double) {
    do {
      try clock.jump(by: seconds)
    } catch {
      preconditionFailure("a clock that nobody saves could not be set: \(error)")
    }
  }

  /// Returns when somebody sleeps whose instant comes within `seconds` from now.
  package func whenSomebodySleeps(within seconds: Double) async { await clock.whenSomebodySleeps(within: seconds) }
}
