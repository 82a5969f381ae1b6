// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// Why a widget shows nothing newer, in one sentence.
package enum WidgetReason {
  /// What is known about a widget.
  package struct Facts: Sendable {
    /// The entry that is shown is a placeholder or nothing.
    package var isEmpty = false
    /// The note of the screen: the reason of the last failure.
    package var note: String?
    package var account: ListBudget.Account?
    /// The budget's last decision.
    package var decision: LedgerHistory.Line?
    package var isLocked = false
    /// The device's time.
    package var now: Date

    /// Creates facts about a widget of which nothing is known.
    package init(now: Date) { self.now = now }
  }

  /// The sentence.
  package static func text(_ facts: Facts) -> String {
    if let note = facts.note { return "The last reload failed: \(note)\(following(facts))." }
    if let withheld = facts.account?.withheld {
      switch withheld {
      case .locked: return "Its reload waits until the device is unlocked."
      case .notUnlockedYet: return "Its reload waits until the device is unlocked for the first time since its restart."
      }
    }
    if facts.isEmpty { return "Its extension has not provided a timeline yet\(following(facts))." }
    if let decision = facts.decision, decision.verdict == LedgerEntry.Verdict.refused.rawValue {
      return "The budget refused its last reload by the rule \(decision.rule)\(following(facts))."
    }
    if let decision = facts.decision, decision.verdict == LedgerEntry.Verdict.delayed.rawValue {
      let until = decision.until.map { Date(timeIntervalSince1970: $0) }
      if let until, until > facts.now {
        return "The budget delays its reload by the rule \(decision.rule), for \(distance(facts.now, until))."
      }
      if until == nil { return "The budget delays its reload by the rule \(decision.rule)." }
    }
    guard let account = facts.account else { return "It shows the last timeline that the journal contains." }
    guard let because = account.nextBecause else {
      return "It is up to date, and no reload is scheduled: its timeline ends without a reload policy."
    }
    guard let next = account.next, next > facts.now else {
      return "A reload is due now, because of \(because.rawValue)."
    }
    return "It is up to date; the next reload is in \(distance(facts.now, next)), because of \(because.rawValue)."
  }

  private static func following(_ facts: Facts) -> String {
    guard let account = facts.account, let because = account.nextBecause else { return "" }
    guard let next = account.next, next > facts.now else { return "; a reload is due now" }
    return "; the next reload is in \(distance(facts.now, next)), because of \(because.rawValue)"
  }

  private static func distance(_ from: Date, _ to: Date) -> String {
    Amount.text(seconds: to.timeIntervalSince(from).rounded(.up))
  }
}
