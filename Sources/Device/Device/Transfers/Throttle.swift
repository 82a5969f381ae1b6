// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The device's data rate, shared by all transfers in both directions (`NetworkState.rate`).
final class Throttle: Sendable {
  private let pace = Mutex(TokenBucket())

  /// Bytes per second of all transfers together; `nil` means unlimited. Transfers that already wait keep waiting, for
  /// at most a quarter of a second each.
  func setRate(_ rate: Int64?) { pace.withLock { $0.setRate(rate) } }

  /// The most bytes that one transfer should request at once: those of a quarter of a second.
  var slice: Int { pace.withLock { $0.slice } }

  /// Returns when `bytes` may be sent or received.
  ///
  /// - Throws: `CancellationError`.
  func spend(_ bytes: Int) async throws {
    let wait = pace.withLock { $0.spend(bytes, now: .now) }
    if wait > .zero { try await Task.sleep(for: wait) }
  }
}

/// Grants bytes at a common rate, in the order of the requests.
struct TokenBucket: Sendable {
  /// Bytes per second.
  private(set) var rate: Int64?
  /// The time at which all granted bytes will have been sent.
  private var free: ContinuousClock.Instant?

  mutating func setRate(_ rate: Int64?) {
    self.rate = rate.map { max(1, $0) }
    free = nil
  }

  var slice: Int { rate.map { Int(max(1, min($0 / 4, 1 << 20))) } ?? 1 << 20 }

  /// Returns how long to wait before `bytes` may be sent.
  mutating func spend(_ bytes: Int, now: ContinuousClock.Instant) -> Duration {
    guard let rate else { return .zero }
    let free = max(now, self.free ?? now) + .seconds(Double(bytes) / Double(rate))
    self.free = free
    return free - now
  }
}
