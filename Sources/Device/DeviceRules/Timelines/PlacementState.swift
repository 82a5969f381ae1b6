// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// A pending reload of a placement.
package struct PendingReload: Codable, Sendable, Equatable {
  /// Its number in the ledger.
  package let reload: Int
  package let reloadCause: ReloadCause
  /// The message that requested it: its causation and correlation ids.
  let causationID: UUID?
  let correlation: UUID?
  /// Whether the provider requested it while one of its methods was running.
  let isInside: Bool
  /// Whether it is paid: it waits only for the extension, or for the end of a back-off.
  var isPaid = false
  /// When it is decided, or tried, again.
  package var notBefore: Date?
  /// The end of the delay, if the app requested it right after the user opened it from a widget.
  var openedUntil: Date?
  /// Why its timeline could not be stored: the device must be unlocked first.
  package var withheld: Withholding?
  /// How many process instances ended during the request.
  var exits = 0

  var context: MessageContext { MessageContext(cause: causationID, correlation: correlation) }
  /// Whether the extension is to be asked at once.
  var isDue: Bool { isPaid && notBefore == nil && withheld == nil }
  /// Whether it waits after a failure.
  package var isBackingOff: Bool { isPaid && notBefore != nil }
}

/// The metadata of a placement's timeline.
package struct TimelineFacts: Codable, Sendable, Equatable {
  package let reloadCause: ReloadCause
  package let entries: Int
  package let first: Date
  package let last: Date
  package let policy: ReloadPolicy
  package let bytes: Int
  package let digest: String
  package let note: String?
}

/// An entry that is shown at its date.
package struct UpcomingEntry: Sendable, Equatable {
  package let date: Date
  package let text: [String]
  package let relevance: ArchivedEntry.Relevance?
  package let transition: EntryTransition

  package init(date: Date, text: [String], relevance: ArchivedEntry.Relevance?, transition: EntryTransition) {
    self.date = date
    self.text = text
    self.relevance = relevance
    self.transition = transition
  }
}

/// One placement with its timeline and its budget account.
package struct PlacementState: Codable, Sendable, Equatable {
  /// Why the last reload failed.
  package struct Failure: Codable, Sendable, Equatable {
    let failure: ReloadFailed.Failure
    package let reason: String
  }

  package var placement: Placement
  package var account: BudgetAccount
  package var pendingReload: PendingReload?
  /// Consecutive failures.
  var failures = 0
  package internal(set) var lastFailure: Failure?
  /// Whether the placeholder was requested.
  var hasPlaceholder = false
  /// Whether a setting that its views read has changed since.
  var isPlaceholderOld = false
  package internal(set) var timeline: TimelineFacts?
  /// When the timeline's own policy requests the next one; `nil`: never, or already requested.
  package internal(set) var policyDue: Date?
  /// The date of the visible entry.
  package internal(set) var shown: Date?
  /// The animation data of the entry that was shown last; `nil` before the first.
  var transition: EntryTransition?
  package internal(set) var relevance = CurrentRelevance()
  /// The last widget pushes that requested its reload, the oldest first.
  package internal(set) var pushes: [PushedReload] = []
  /// Whether the device moved far while it was out of sight, so that it is reloaded when it is seen.
  var hasMoved = false

  /// Whether the placeholder is requested before the next timeline.
  var needsPlaceholder: Bool { isPlaceholderOld || !hasPlaceholder && timeline == nil }

  init(_ placement: Placement, _ account: BudgetAccount) {
    self.placement = placement
    self.account = account
  }
}

/// The relevance of a widget, according to its entries over all its timelines.
///
/// Source: `TimelineEntryRelevance`: an entry without one keeps the former; a score of 0 or less ends it; a duration of
/// 0 holds until the next entry that has one; after the duration, the score counts as 0.
package struct CurrentRelevance: Codable, Sendable, Equatable {
  package private(set) var score = 0.0
  package private(set) var until: Date?

  mutating func show(_ relevance: ArchivedEntry.Relevance?, of date: Date) {
    guard let relevance else { return }
    score = max(relevance.score, 0)
    until = relevance.duration > 0 ? date.addingTimeInterval(relevance.duration) : nil
  }

  func score(at now: Date) -> Double { until.map { now < $0 } ?? true ? score : 0 }
}

extension ReloadPolicy {
  /// The earliest time at which it requests the next timeline.
  ///
  /// Source: `TimelineReloadPolicy`; for a timeline of one entry the system chooses the time itself.
  func due(entries: [UpcomingEntry], stored: Date, _ settings: TimelineSettings) -> Date? {
    let floor = stored.addingTimeInterval(settings.policyFloor)
    switch self {
    case .never: return nil
    case .after(let date): return max(date, floor)
    case .atEnd:
      guard let last = entries.last?.date else { return nil }
      guard entries.count > 1 else { return max(last, stored.addingTimeInterval(settings.oneEntryPause)) }
      return max(last, floor)
    }
  }
}
