import Synchronization

/// The device's rate, shared by all transfers, down and up (`NetworkState.rate`).
final class Throttle: Sendable {
  private let pace = Mutex(TokenBucket())

  /// Bytes a second of all together; `nil` as fast as the machine is. What waits already waits on, a quarter of a second
  /// for each transfer at most.
  func setRate(_ rate: Int64?) { pace.withLock { $0.setRate(rate) } }

  /// The most bytes that one transfer should ask for at once: a quarter of a second's.
  var slice: Int { pace.withLock { $0.slice } }

  /// Returns when `bytes` may go over the network.
  ///
  /// - Throws: `CancellationError`.
  func spend(_ bytes: Int) async throws {
    let wait = pace.withLock { $0.spend(bytes, now: .now) }
    if wait > .zero { try await Task.sleep(for: wait) }
  }
}

/// Who may send how much when, so that all together keep to a rate. In the order in which they ask.
struct TokenBucket: Sendable {
  /// Bytes a second.
  private(set) var rate: Int64?
  /// When all that was granted will have gone.
  private var free: ContinuousClock.Instant?

  mutating func setRate(_ rate: Int64?) {
    self.rate = rate.map { max(1, $0) }
    free = nil
  }

  var slice: Int { rate.map { Int(max(1, min($0 / 4, 1 << 20))) } ?? 1 << 20 }

  /// How long to wait before `bytes` may go.
  mutating func spend(_ bytes: Int, now: ContinuousClock.Instant) -> Duration {
    guard let rate else { return .zero }
    let free = max(now, self.free ?? now) + .seconds(Double(bytes) / Double(rate))
    self.free = free
    return free - now
  }
}
