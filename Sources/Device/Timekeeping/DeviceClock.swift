package import Foundation

/// The device's time. Keepers read time from it alone, never from the wall, so that a test or, later, a person can hold
/// and advance it.
package protocol DeviceClock: Sendable {
  /// What time it is on the device.
  var now: Date { get }

  /// Returns when `instant` has come; at once when it is past.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  func sleep(until instant: Date) async throws
}

/// The time of the machine: origin now, rate 1.
package struct MachineClock: DeviceClock {
  package init() {}

  package var now: Date { Date() }

  package func sleep(until instant: Date) async throws {
    // The wall may be set while we sleep, so we look at it again after at most a minute.
    while true {
      let remaining = instant.timeIntervalSince(now)
      guard remaining > 0 else { return }
      try await Task.sleep(for: .seconds(min(remaining, 60)))
    }
  }
}
