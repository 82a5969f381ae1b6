package import Conversations
import Foundation

/// How reloads are paid for: what `budget:` in the settings names, or the built-in `standard`.
///
/// Source: *Keeping a widget up to date*: 40 to 70 reloads a day for a widget that is often seen, which accrue over a window of
/// 24 hours that follows the person's day. The figures are ours.
package struct BudgetPolicy: Sendable, Hashable {
  package var name = "standard"
  /// Reloads that a placement accrues in a day; `nil`: there is no budget.
  package var perDay: Double? = 55
  /// What a placement has when it is placed.
  package var initial = 5.0
  /// What a placement can save at most.
  package var burst = 10.0
  /// Between two reloads of a placement, seconds.
  package var minimumSpacing = 300.0
  /// In any so many hours, no placement spends more than it accrues in a day.
  package var window = 24.0
  /// How much of the day's budget accrues in each hour of the person's day, from midnight: weights.
  package var hours: [Double] = [
    0, 0, 0, 0, 0, 0, 0.5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5,
  ]
  /// Hours that the person's clock is ahead of Greenwich's.
  package var utcOffset = 0.0
  /// A placement that was not seen for so many hours accrues `unseenFactor` of the rest.
  package var unseenAfter = 24.0
  package var unseenFactor = 0.25
  /// A placement that is seen after so many hours out of sight, while a reload of it waits, has it free.
  package var staleAfter = 6.0
  /// How often the system asks for new timelines by itself of what stands in StandBy, while that is seen, seconds; `nil`: never.
  package var standByEvery: Double? = 900
  /// The system still learns so many days after the placing, and gives `learningFactor` times as much.
  package var learningDays = 3.0
  package var learningFactor = 1.25
  /// Causes that cost nothing. Source: "Reloads … don't count toward the budget", *Keeping a widget up to date*.
  package var freeCauses: Set<ReloadCause> = [
    .added, .edited, .operator, .system, .interaction, .stale, .location, .gallery, .standBy,
  ]
  /// Nothing costs while the containing app is in front.
  package var isFreeInForeground = true
  /// Nothing costs while the containing app has an audio or a navigation session or uses the standard location service.
  package var isFreeAtWork = true

  /// A reload that an app asks for so many seconds after a person opened it from a widget waits until then. Source: forum
  /// thread 815795, where some 30 s were seen; by what Apple says an app in front has its reloads at once.
  package var afterOpenedFromWidget = 0.0

  package init() {}

  /// Reloads that accrue in a second from an instant on, until `boundary`.
  func rate(at instant: Date, of account: BudgetAccount) -> Double {
    guard let perDay else { return 0 }
    let whole = hours.reduce(0, +)
    guard whole > 0 else { return 0 }
    let rate = perDay * hours[hour(at: instant)] / whole / 3600
    return rate * factor(at: instant, of: account)
  }

  /// What a placement may spend in the window.
  func allowance(at instant: Date, of account: BudgetAccount) -> Int {
    let isLearning = instant < learningEnd(account)
    return Int(((perDay ?? 0) * (isLearning ? learningFactor : 1)).rounded(.up))
  }

  /// The next instant after which the rate may be another.
  func boundary(after instant: Date, of account: BudgetAccount) -> Date {
    let shifted = instant.timeIntervalSince1970 + utcOffset * 3600
    let hourEnd = Date(timeIntervalSince1970: ((shifted / 3600).rounded(.down) + 1) * 3600 - utcOffset * 3600)
    let others = [account.unseenFrom(self), learningEnd(account)].compactMap(\.self).filter { $0 > instant }
    return min(hourEnd, others.min() ?? hourEnd)
  }

  private func hour(at instant: Date) -> Int {
    let hours = ((instant.timeIntervalSince1970 / 3600) + utcOffset).rounded(.down)
    return Int(hours - (hours / 24).rounded(.down) * 24) % 24
  }

  private func factor(at instant: Date, of account: BudgetAccount) -> Double {
    let seen = account.unseenFrom(self).map { instant >= $0 ? unseenFactor : 1 } ?? 1
    return seen * (instant < learningEnd(account) ? learningFactor : 1)
  }

  private func learningEnd(_ account: BudgetAccount) -> Date {
    account.opened.addingTimeInterval(learningDays * 86_400)
  }
}
