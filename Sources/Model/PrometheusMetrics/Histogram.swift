// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The distribution of durations. Any thread; an observation is two atomic additions without a lock.
///
/// A reader may see an observation in its bucket and not yet in the sum.
package final class Histogram: Sendable {
  /// The upper bounds of the buckets in seconds, ascending, without the last one, which is infinite.
  package let bounds: [Double]
  private let buckets: [Counter]
  private let nanoseconds = Counter()

  /// Bounds for the work of a server: half a millisecond to 10 s.
  package static let workBounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  /// Bounds for deliveries to devices, which may be offline for days: a millisecond to a week.
  package static let deliveryBounds = [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 3_600, 86_400, 604_800]

  package init(bounds: [Double] = workBounds) {
    self.bounds = bounds
    buckets = (0...bounds.count).map { _ in Counter() }
  }

  /// - Parameter seconds: a negative duration, after a change of the clock, counts as 0.
  package func observe(seconds: Double) {
    let seconds = max(0, seconds)
    buckets[bounds.firstIndex { seconds <= $0 } ?? bounds.count].add()
    nanoseconds.add(Int(exactly: (min(seconds, 1e9) * 1e9).rounded()) ?? 0)
  }

  package func observe(_ duration: Duration) { observe(seconds: duration / .seconds(1)) }

  /// The observations up to each bound, and of all; and their sum in seconds.
  package var snapshot: (cumulative: [Int], sum: Double) {
    var total = 0
    let cumulative = buckets.map { bucket in
      total += bucket.value
      return total
    }
    return (cumulative, Double(nanoseconds.value) / 1e9)
  }
}
