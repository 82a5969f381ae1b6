/// How long to wait before the next try: `first`, doubling to `limit`. Seconds.
///
/// Source: ours (Documentation/fidelity.md).
package struct Backoff: Sendable, Hashable {
  package let first: Double
  package let limit: Double

  package init(first: Double, limit: Double) {
    self.first = first
    self.limit = limit
  }

  /// The pause after `failures` failures in a row; none after none.
  package func pause(after failures: Int) -> Double {
    guard failures > 0 else { return 0 }
    var pause = first
    for _ in 1..<min(failures, 64) where pause < limit { pause *= 2 }
    return min(pause, limit)
  }
}
