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

  private var sleeping: [UInt64: Sleeper] = [:]
  private var lastID: UInt64 = 0

  /// Creates a value without sleepers.
  package init() {}

  /// The first date at which a sleeper is due.
  package var next: Date? { sleeping.values.lazy.map(\.instant).min() }

  /// A new name for a sleeper.
  package mutating func newID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Adds a sleeper.
  ///
  /// - Parameter id: the name of the sleeper for `remove`, from `newID`.
  package mutating func add(_ sleeper: Sleeper, _ id: UInt64) { sleeping[id] = sleeper }

  /// Removes and returns a sleeper; `nil` when it was woken or removed before.
  package mutating func remove(_ id: UInt64) -> Sleeper? { sleeping.removeValue(forKey: id) }

  /// Removes and returns the sleepers that are due: the earliest first, and at the same date in the order of their names.
  package mutating func wake(at now: Date) -> [Sleeper] {
    let due = sleeping.filter { $0.value.instant <= now }
    for id in due.keys { sleeping[id] = nil }
    return due.sorted { ($0.value.instant, $0.key) < ($1.value.instant, $1.key) }.map(\.value)
  }
}
