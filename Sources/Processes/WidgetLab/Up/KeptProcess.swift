import Foundation

/// One process that `up` keeps alive.
struct KeptProcess: Sendable {
  let name: String
  let executable: String
  /// Its arguments now: a process that comes again may have to take the port that it had.
  let arguments: @Sendable () -> [String]
}

/// How long to wait before a process that died is started again: at once when it lived long enough, else 0.2 s, doubling
/// to 5 s.
struct BackOff: Sendable, Equatable {
  static let shortLife = Duration.seconds(2)
  static let first = Duration.milliseconds(200)
  static let longest = Duration.seconds(5)
  private(set) var next: Duration = .zero

  /// The pause after a life of this length.
  mutating func pause(afterLifeOf life: Duration) -> Duration {
    if life >= Self.shortLife {
      next = .zero
      return .zero
    }
    next = next == .zero ? Self.first : min(next * 2, Self.longest)
    return next
  }
}
