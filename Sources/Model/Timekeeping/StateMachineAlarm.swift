// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The alarm for the next date of a state machine. At most one is set.
package struct StateMachineAlarm {
  private var pending: (instant: Date, alarm: ClockAlarm)?

  package init() {}

  /// Replaces the alarm, if its date is another. `nil` removes it.
  ///
  /// - Parameter fire: receives the date. It calls `takeFired`, and handles the event if that returns `true`.
  package mutating func set(
    _ instant: Date?, on clock: any ControllableClock, _ fire: @escaping @Sendable (Date) async -> Void
  ) {
    // An alarm that has fired but is not handled yet is handled next, and sets another.
    if let pending, pending.instant <= clock.now { return }
    guard instant != pending?.instant else { return }
    pending?.alarm.cancel()
    pending = instant.map { instant in (instant, clock.alarm(at: instant) { await fire(instant) }) }
  }

  /// Removes the alarm that has fired.
  ///
  /// - Returns: `false` when it was replaced before this call. Its date is void then.
  package mutating func takeFired(_ instant: Date) -> Bool {
    guard pending?.instant == instant else { return false }
    pending = nil
    return true
  }

  /// Removes the alarm from this value without cancelling it, so that the caller can end it and its work.
  package mutating func take() -> ClockAlarm? {
    defer { pending = nil }
    return pending?.alarm
  }

  /// Cancels and removes the alarm.
  package mutating func cancel() {
    pending?.alarm.cancel()
    pending = nil
  }
}
