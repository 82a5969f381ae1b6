package import Archive
package import Conversations
package import Foundation

/// A reload that is owed to a placement.
package struct Owed: Codable, Sendable, Equatable {
  /// Its number in the ledger.
  package let reload: Int
  package let because: ReloadCause
  /// The envelope that asked for it, and its story.
  let cause: UUID?
  let correlation: UUID?
  /// The provider asked for it while it was asked itself.
  let isInside: Bool
  /// It may come: only the extension, or the end of a back-off, is waited for.
  var isPaid = false
  /// Then it is decided, or tried, again.
  package var notBefore: Date?
  /// The app asked for it right after a person opened it from a widget: it waits until then.
  var openedUntil: Date?
  /// What would come of it could not be stored: the device is to be unlocked first.
  package var withheld: Withholding?
  /// Lives that ended while they were asked for it.
  var deaths = 0

  var story: Story { Story(cause: cause, correlation: correlation) }
  /// Whether the extension is to be asked at once.
  var isDue: Bool { isPaid && notBefore == nil && withheld == nil }
  /// Whether it is left alone after a failure.
  var isBackingOff: Bool { isPaid && notBefore != nil }
}

/// What is known of the timeline that a placement has.
package struct TimelineFacts: Codable, Sendable, Equatable {
  var because: ReloadCause
  var entries: Int
  var first: Date
  var last: Date
  var policy: ReloadPolicy
  var bytes: Int
  var digest: String
  var note: String?
}

/// An entry that is shown when its time has come.
package struct UpcomingEntry: Sendable, Equatable {
  let date: Date
  let text: [String]
  let relevance: ArchivedEntry.Relevance?
  /// `nil` of one that an earlier host wrote.
  var motion: EntryMotion?
}

/// One placement with its timeline and its account.
package struct Placed: Codable, Sendable, Equatable {
  /// Why its last reload came to nothing.
  struct Failure: Codable, Sendable, Equatable {
    let failure: ReloadFailed.Failure
    let reason: String
  }

  package var placement: Placement
  package var account: BudgetAccount
  package var owed: Owed?
  /// Failures in a row.
  var failures = 0
  var lastFailure: Failure?
  /// The placeholder was asked for.
  var hasPlaceholder = false
  /// What its views read has changed since; `nil`: it has not.
  var isPlaceholderOld: Bool?
  var timeline: TimelineFacts?
  /// When the timeline's own policy asks for the next one; `nil`: it does not, or it has been asked for.
  var policyDue: Date?
  /// The date of the entry that is on the screen.
  var shown: Date?
  /// That of the entry that was shown last; `nil` before the first.
  var motion: EntryMotion?
  var relevance = CurrentRelevance()
  /// The last widget pushes that it was to be reloaded for, the oldest first.
  package internal(set) var pushes: [PushedReload]?
  /// The device moved far while it was out of sight: it is owed a reload when it is seen; `nil` for no.
  var hasMoved: Bool?

  /// Whether the placeholder is to be asked for before the next timeline.
  var needsPlaceholder: Bool { isPlaceholderOld == true || !hasPlaceholder && timeline == nil }

  init(_ placement: Placement, _ account: BudgetAccount) {
    self.placement = placement
    self.account = account
  }
}

/// How relevant a widget is: what its entries said, over all its timelines.
///
/// Source: `TimelineEntryRelevance`: an entry without one keeps the former; a score of 0 or less ends it; a duration of 0 holds
/// until the next entry that has one; when the duration is over, the score counts as 0.
struct CurrentRelevance: Codable, Sendable, Equatable {
  private(set) var score = 0.0
  private(set) var until: Date?

  mutating func show(_ relevance: ArchivedEntry.Relevance?, of date: Date) {
    guard let relevance else { return }
    score = max(relevance.score, 0)
    until = relevance.duration > 0 ? date.addingTimeInterval(relevance.duration) : nil
  }

  func score(at now: Date) -> Double { until.map { now < $0 } ?? true ? score : 0 }
}

extension ReloadPolicy {
  /// When it asks for the next timeline, earliest.
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
