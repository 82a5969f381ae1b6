package import Foundation

/// Work in progress. An advance of the clock waits until it ends.
package struct ClockWork: Hashable, Sendable {
  let number: UInt64
}

/// Work that is scheduled for a date.
package struct ClockAlarm: Sendable {
  private let onCancel: @Sendable () -> Void

  init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// Cancels the work unless it has begun.
  package func cancel() { onCancel() }
}

/// The device's time. Services read the time only from this protocol, never from the system clock, so that the user or
/// a test can hold and advance it.
package protocol DeviceClock: Sendable {
  /// The device's time.
  var now: Date { get }

  /// Returns when `instant` is reached; at once when it is past.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  func sleep(until instant: Date) async throws

  /// Waits until `instant`, then runs `work`. An advance of the clock continues only after `work` has returned, so that
  /// work runs in the order of its dates.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled before `instant`. `work` is then not run.
  func sleep(until instant: Date, then work: @Sendable () async -> Void) async throws

  /// Runs `work` at `instant` unless it is cancelled before. The alarm is set when this returns, so an advance cannot
  /// skip it, as it could skip a task that has not begun to sleep.
  func alarm(at instant: Date, _ work: @escaping @Sendable () async -> Void) -> ClockAlarm

  /// Stops advances of the clock until `endWork`. For work that continues after an alarm's work has returned, such as a
  /// request that awaits another process's reply.
  func beginWork() -> ClockWork

  /// Ends the work. A second call has no effect.
  func endWork(_ work: ClockWork)
}
