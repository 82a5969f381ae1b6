package import Foundation

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
}
