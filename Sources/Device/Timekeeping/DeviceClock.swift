package import Foundation

/// Something that is under way and that an instant set going: who advances the clock waits for its end.
package struct ClockWork: Hashable, Sendable {
  let number: UInt64
}

/// Work that waits for its instant.
package struct ClockAlarm: Sendable {
  private let onCancel: @Sendable () -> Void

  init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  /// Nothing is done, unless it has begun.
  package func cancel() { onCancel() }
}

/// The device's time. Keepers read time from it alone, never from the wall, so that a person or a test can hold and
/// advance it.
package protocol DeviceClock: Sendable {
  /// What time it is on the device.
  var now: Date { get }

  /// Returns when `instant` has come; at once when it is past.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  func sleep(until instant: Date) async throws

  /// The same, then does `work`. Who advances the clock goes on only when the work that an instant set going has
  /// returned, so that what is due comes in the order of its instants.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled before `instant`; then nothing is done.
  func sleep(until instant: Date, then work: @Sendable () async -> Void) async throws

  /// Does `work` when `instant` has come, unless it is cancelled before. The clock knows of it when this returns: a keeper that
  /// sets its timer as the last of its work is not passed by, as a task might be that is yet to sleep.
  func alarm(at instant: Date, _ work: @escaping @Sendable () async -> Void) -> ClockAlarm

  /// From now on until `endWork` nobody advances the clock: for what goes on after the work of an instant has returned,
  /// such as a request that another process has not answered.
  func beginWork() -> ClockWork

  /// It is over. Ended twice it is over once.
  func endWork(_ work: ClockWork)
}
