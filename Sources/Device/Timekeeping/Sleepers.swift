import Foundation

/// Who sleeps until when: a plain value. Its keeper wakes those that it gives back.
struct Sleepers {
  struct Sleeper {
    let instant: Date
    /// Whether what it does next is waited for.
    let hasWork: Bool
    /// Told what stands for that; or that it sleeps no longer, without its instant having come. Does not call the clock.
    let wake: @Sendable (Result<ClockWork?, any Error>) -> Void
  }

  private var sleeping: [UUID: (order: Int, sleeper: Sleeper)] = [:]
  private var count = 0

  /// The first instant at which somebody is to be woken.
  var next: Date? { sleeping.values.lazy.map(\.sleeper.instant).min() }

  mutating func add(_ sleeper: Sleeper, _ id: UUID) {
    count += 1
    sleeping[id] = (count, sleeper)
  }

  mutating func remove(_ id: UUID) -> Sleeper? { sleeping.removeValue(forKey: id)?.sleeper }

  /// Takes out whose instant has come: the earliest first, and of several at one instant who slept first.
  mutating func wake(at now: Date) -> [Sleeper] {
    let due = sleeping.filter { $0.value.sleeper.instant <= now }
    for id in due.keys { sleeping[id] = nil }
    return due.values.sorted { ($0.sleeper.instant, $0.order) < ($1.sleeper.instant, $1.order) }.map(\.sleeper)
  }
}
