// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The sleepers of a clock and their dates: a plain value. The caller wakes the sleepers that it returns.
package struct Sleepers {
  /// One sleeper.
  package struct Sleeper {
    /// The date at which the sleeper is woken.
    package let instant: Date
    /// Receives the work that begins with the wake, or the error that ends the sleep early. Must not call the clock.
    package let wake: @Sendable (Result<ClockWork, any Error>) -> Void

    /// Creates a sleeper that has not been added.
    package init(instant: Date, wake: @escaping @Sendable (Result<ClockWork, any Error>) -> Void) {
      self.instant = instant
      self.wake = wake
    }
  }

  private var sleeping: [UUID: (order: Int, sleeper: Sleeper)] = [:]
  private var count = 0

  /// Creates a value without sleepers.
  package init() {}

  /// The first date at which a sleeper is due.
  package var next: Date? { sleeping.values.lazy.map(\.sleeper.instant).min() }

  /// Adds a sleeper.
  ///
  /// - Parameter id: the name of the sleeper for `remove`.
  package mutating func add(_ sleeper: Sleeper, _ id: UUID) {
    count += 1
    sleeping[id] = (count, sleeper)
  }

  /// Removes and returns a sleeper; `nil` when it was woken or removed before.
  package mutating func remove(_ id: UUID) -> Sleeper? { sleeping.removeValue(forKey: id)?.sleeper }

  /// Removes and returns the sleepers that are due: the earliest first, and at the same date in the order in which they
  /// were added.
  package mutating func wake(at now: Date) -> [Sleeper] {
    let due = sleeping.filter { $0.value.sleeper.instant <= now }
    for id in due.keys { sleeping[id] = nil }
    return due.values.sorted { ($0.sleeper.instant, $0.order) < ($1.sleeper.instant, $1.order) }.map(\.sleeper)
  }
}
