import Foundation

/// The sleepers of a clock and their dates: a plain value. The caller wakes the sleepers that it returns.
struct Sleepers {
  struct Sleeper {
    let instant: Date
    /// Whether an advance waits for the work after the wake.
    let hasWork: Bool
    /// Receives the work item of `hasWork`, or the error that ends the sleep early. Must not call the clock.
    let wake: @Sendable (Result<ClockWork?, any Error>) -> Void
  }

  private var sleeping: [UUID: (order: Int, sleeper: Sleeper)] = [:]
  private var count = 0

  /// The first date at which a sleeper is due.
  var next: Date? { sleeping.values.lazy.map(\.sleeper.instant).min() }

  mutating func add(_ sleeper: Sleeper, _ id: UUID) {
    count += 1
    sleeping[id] = (count, sleeper)
  }

  mutating func remove(_ id: UUID) -> Sleeper? { sleeping.removeValue(forKey: id)?.sleeper }

  /// Removes and returns the sleepers that are due: the earliest first, and at the same date in the order in which they
  /// were added.
  mutating func wake(at now: Date) -> [Sleeper] {
    let due = sleeping.filter { $0.value.sleeper.instant <= now }
    for id in due.keys { sleeping[id] = nil }
    return due.values.sorted { ($0.sleeper.instant, $0.order) < ($1.sleeper.instant, $1.order) }.map(\.sleeper)
  }
}
