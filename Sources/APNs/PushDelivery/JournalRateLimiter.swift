// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// Limits how many delivery-log lines per second are recorded in the journal, so that a fast provider does not delay
/// other bus traffic. The delivery log has all lines.
struct JournalRateLimiter: Sendable {
  private let rate: Int
  private var second = 0
  private var recorded = 0
  private var omitted = 0

  init(rate: Int) { self.rate = rate }

  /// Returns whether another line may be recorded now, and counts it.
  mutating func takes(at now: Date) -> Bool {
    let present = Int(saturating: now.timeIntervalSince1970)
    if present != second {
      second = present
      recorded = 0
    }
    guard recorded < rate else {
      omitted += 1
      return false
    }
    recorded += 1
    return true
  }

  /// Returns how many lines were not recorded since the last call; `nil` for none.
  mutating func takeOmitted() -> Int? {
    defer { omitted = 0 }
    return omitted > 0 ? omitted : nil
  }
}
