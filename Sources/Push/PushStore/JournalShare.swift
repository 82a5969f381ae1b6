import Foundation

/// How much of the delivery log is said to the journal: so many lines in a second. A provider that sends faster does not hold
/// up those who speak on the bus; its lines are in the delivery log.
struct JournalShare: Sendable {
  private let rate: Int
  private var second = 0
  private var said = 0

  init(rate: Int) { self.rate = rate }

  /// Whether one more line may be said now.
  mutating func takes(at now: Date) -> Bool {
    let present = Int(now.timeIntervalSince1970)
    if present != second {
      second = present
      said = 0
    }
    guard said < rate else { return false }
    said += 1
    return true
  }
}
