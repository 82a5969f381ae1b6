// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import Messages

/// How reloads are paid: the policy that `budget:` in the settings names, or the built-in `standard`.
///
/// Source: *Keeping a widget up to date*: 40 to 70 reloads a day for a widget that is viewed often, accrued over a
/// window of 24 hours that follows the user's day. The figures are ours.
package struct BudgetPolicy: Sendable, Hashable {
  package var name = "standard"
  /// Reloads that a placement accrues in a day; `nil`: no budget.
  package var perDay: Double? = 55
  /// The balance of a new placement.
  package var initial = 5.0
  /// The largest balance of a placement.
  package var burst = 10.0
  /// How far below 0 the balance of a placement may fall. No policy file sets it.
  package var credit = 0.0
  /// The shortest time between two reloads of a placement, seconds.
  package var minimumSpacing = 300.0
  /// The length of the window, hours: within it no placement spends more than it accrues in a day.
  package var window = 24.0
  /// The share of the day's budget that accrues in each hour of the user's day, from midnight: weights.
  package var hours: [Double] = [
    0, 0, 0, 0, 0, 0, 0.5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5,
  ]
  /// How many hours the user's clock is ahead of UTC; `nil`: as in `timeZone`.
  package var utcOffset: Double?
  /// The device's time zone.
  package var timeZone = TimeZone.gmt
  /// After so many hours out of sight a placement accrues only `unseenFactor` of the normal rate.
  package var unseenAfter = 24.0
  package var unseenFactor = 0.25
  /// After so many hours out of sight a waiting reload becomes free when the placement is seen.
  package var staleAfter = 6.0
  /// How often the system reloads a visible widget in StandBy by itself, seconds; `nil`: never.
  package var standByEvery: Double? = 900
  /// For so many days after the placing the system learns, and grants `learningFactor` times the budget.
  package var learningDays = 3.0
  package var learningFactor = 1.25
  /// Causes of free reloads. Source: "Reloads … don't count toward the budget", *Keeping a widget up to date*.
  package var freeCauses: Set<ReloadCause> = [
    .added, .edited, .operator, .system, .interaction, .stale, .location, .gallery, .standBy,
  ]
  /// Whether reloads are free while the containing app is in the foreground.
  package var isFreeInForeground = true
  /// Whether reloads are free while the containing app has an audio or a navigation session or uses the standard
  /// location service.
  package var isFreeAtWork = true

  /// How long a reload waits that the app requests after the user opened it from a widget, seconds from the opening.
  /// Source: forum thread 815795, where some 30 s were seen; according to Apple, an app in the foreground has its
  /// reloads at once.
  package var afterOpenedFromWidget = 0.0

  package init() {}

  /// Reloads that accrue per second from an instant on, until `boundary`.
  func rate(at instant: Date, of account: BudgetAccount) -> Double {
    guard let perDay else { return 0 }
    let whole = hours.reduce(0, +)
    guard whole > 0 else { return 0 }
    let rate = perDay * hours[hour(at: instant)] / whole / 3600
    return rate * factor(at: instant, of: account)
  }

  /// How many reloads a placement may spend in the window.
  func allowance(at instant: Date, of account: BudgetAccount) -> Int {
    let isLearning = instant < learningEnd(account)
    return Int(saturating: ((perDay ?? 0) * (isLearning ? learningFactor : 1)).rounded(.up))
  }

  /// The next instant at which the rate may change.
  func boundary(after instant: Date, of account: BudgetAccount) -> Date {
    let ahead = secondsAhead(at: instant)
    let shifted = instant.timeIntervalSince1970 + ahead
    let hourEnd = Date(timeIntervalSince1970: ((shifted / 3600).rounded(.down) + 1) * 3600 - ahead)
    let others = [account.unseenFrom(self), learningEnd(account)].compactMap(\.self).filter { $0 > instant }
    return min(hourEnd, others.min() ?? hourEnd)
  }

  private func hour(at instant: Date) -> Int {
    let hours = ((instant.timeIntervalSince1970 + secondsAhead(at: instant)) / 3600).rounded(.down)
    return Int(saturating: hours - (hours / 24).rounded(.down) * 24) % 24
  }

  /// How many seconds the user's clock is ahead of UTC.
  private func secondsAhead(at instant: Date) -> Double {
    utcOffset.map { $0 * 3600 } ?? Double(timeZone.secondsFromGMT(for: instant))
  }

  private func factor(at instant: Date, of account: BudgetAccount) -> Double {
    let seen = account.unseenFrom(self).map { instant >= $0 ? unseenFactor : 1 } ?? 1
    return seen * (instant < learningEnd(account) ? learningFactor : 1)
  }

  private func learningEnd(_ account: BudgetAccount) -> Date {
    account.opened.addingTimeInterval(learningDays * 86_400)
  }
}
