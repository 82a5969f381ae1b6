// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The pause before the next attempt, in seconds: `first`, doubled after each failure up to `limit`.
///
/// Source: ours (Documentation/fidelity).
package struct Backoff: Sendable, Hashable {
  package let first: Double
  package let limit: Double

  package init(first: Double, limit: Double) {
    self.first = first
    self.limit = limit
  }

  /// Whether a pause is over that was to end at a date. It is as well when more of it is left than it ever had: the clock
  /// was set back since it began. A second more is none of that: the sum of a date and a pause is rounded.
  package static func isOver(_ end: Date, longest pause: Double, at now: Date) -> Bool {
    end <= now || end.timeIntervalSince(now) > pause + 1
  }

  /// Returns the pause after `failures` consecutive failures; 0 after no failure.
  package func pause(after failures: Int) -> Double {
    guard failures > 0 else { return 0 }
    var pause = first
    for _ in 1..<min(failures, 64) where pause < limit { pause *= 2 }
    return min(pause, limit)
  }
}
