// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import Messages

/// The decision on a reload, and the rule that it follows.
package struct BudgetVerdict: Sendable, Equatable {
  package let verdict: LedgerEntry.Verdict
  package let rule: String
  package let until: Date?
  package init(_ verdict: LedgerEntry.Verdict, _ rule: String, until: Date? = nil) {
    self.verdict = verdict
    self.rule = rule
    self.until = until
  }
}

/// The state of the device when a reload is decided.
struct BudgetSituation {
  var isDeveloperMode = false
  /// Whether the placement's containing app is in the foreground.
  var isAppInFront = false
  /// The activity that keeps that app running in the background.
  var activity: AppActivity?
  /// Whether the provider requested the reload while one of its methods was running.
  var isInsideProvider = false
  /// The end of the delay, if the app requested the reload right after the user opened it from a widget.
  var openedUntil: Date?
}

/// The budget of one placement: a bucket that fills during the day. A plain value: equal events give equal verdicts.
package struct BudgetAccount: Codable, Sendable, Hashable {
  package private(set) var balance: Double
  /// When the widget was placed.
  package let opened: Date
  private var accruedTo: Date
  /// When a reload was last allowed.
  package private(set) var lastReload: Date?
  /// When reloads were paid, within the window.
  package private(set) var spent: [Date] = []
  package private(set) var isSeen: Bool
  private var lastSeen: Date

  package init(_ policy: BudgetPolicy, isSeen: Bool = true, now: Date) {
    balance = policy.initial
    opened = now
    accruedTo = now
    self.isSeen = isSeen
    lastSeen = now
  }

  /// The time from which it counts as unseen; `nil` while it is visible.
  func unseenFrom(_ policy: BudgetPolicy) -> Date? {
    isSeen ? nil : lastSeen.addingTimeInterval(policy.unseenAfter * 3600)
  }

  /// How many hours it has been out of sight.
  func hoursUnseen(_ now: Date) -> Double { isSeen ? 0 : now.timeIntervalSince(lastSeen) / 3600 }

  mutating func see(isSeen: Bool, policy: BudgetPolicy, now: Date) {
    accrue(policy, now: now)
    self.isSeen = isSeen
    lastSeen = now
  }

  /// Accrues the balance up to `now`.
  package mutating func accrue(_ policy: BudgetPolicy, now: Date) {
    // After a month of absence one week of accrual suffices: the bucket is full then, or nearly so.
    var instant = max(accruedTo, now.addingTimeInterval(-7 * 86_400))
    while instant < now, balance < policy.burst {
      let end = min(policy.boundary(after: instant, of: self), now)
      balance += policy.rate(at: instant, of: self) * end.timeIntervalSince(instant)
      instant = end
    }
    balance = min(balance, max(policy.burst, policy.initial))
    accruedTo = max(accruedTo, now)
    spent.removeAll { $0 <= now.addingTimeInterval(-policy.window * 3600) }
  }

  /// Decides one reload, and pays for it if it is granted.
  mutating func decide(
    _ cause: ReloadCause, policy: BudgetPolicy, situation: BudgetSituation, now: Date
  ) -> BudgetVerdict {
    accrue(policy, now: now)
    let verdict = verdict(cause, policy: policy, situation: situation, now: now)
    switch verdict.verdict {
    case .granted:
      if policy.perDay != nil { balance -= 1 }
      spent.append(now)
      lastReload = now
    case .free: lastReload = now
    case .delayed, .merged, .refused: break
    }
    return verdict
  }

  private func verdict(
    _ cause: ReloadCause, policy: BudgetPolicy, situation: BudgetSituation, now: Date
  ) -> BudgetVerdict {
    let spacingEnd = lastReload?.addingTimeInterval(policy.minimumSpacing) ?? now
    if situation.isInsideProvider, spacingEnd > now {
      return BudgetVerdict(.delayed, "asked-by-its-own-provider", until: spacingEnd)
    }
    if situation.isDeveloperMode { return BudgetVerdict(.free, "developer-mode") }
    if let end = situation.openedUntil, end > now { return BudgetVerdict(.delayed, "opened-from-widget", until: end) }
    if policy.freeCauses.contains(cause) { return BudgetVerdict(.free, cause.rawValue) }
    if situation.isAppInFront, policy.isFreeInForeground {
      let end = lastReload?.addingTimeInterval(policy.foregroundSpacing) ?? now
      return policy.foregroundSpacing > 0 && end > now
        ? BudgetVerdict(.delayed, "foreground-spacing", until: end) : BudgetVerdict(.free, "app-in-foreground")
    }
    if let activity = situation.activity, policy.isFreeAtWork { return BudgetVerdict(.free, activity.rule) }
    if spacingEnd > now { return BudgetVerdict(.delayed, "minimum-spacing", until: spacingEnd) }
    guard let perDay = policy.perDay else { return BudgetVerdict(.granted, "no-budget") }
    guard perDay > 0 else { return BudgetVerdict(.refused, "no-reloads") }
    let allowance = policy.allowance(at: now, of: self)
    if spent.count >= allowance, let first = spent.first {
      return BudgetVerdict(.delayed, "window", until: first.addingTimeInterval(policy.window * 3600))
    }
    if balance + policy.credit >= 1 - 1e-6 { return BudgetVerdict(.granted, "budget") }
    guard let until = whenPaid(policy, now) else { return BudgetVerdict(.refused, "never-paid") }
    return BudgetVerdict(.delayed, "budget", until: until)
  }

  /// When one reload can be paid, rounded up to a whole second; `nil` if not within a month.
  private func whenPaid(_ policy: BudgetPolicy, _ now: Date) -> Date? {
    var missing = 1 - balance - policy.credit
    var instant = now
    let horizon = now.addingTimeInterval(31 * 86_400)
    while instant < horizon {
      let rate = policy.rate(at: instant, of: self)
      let end = policy.boundary(after: instant, of: self)
      let step = rate * end.timeIntervalSince(instant)
      if step >= missing {
        let exact = instant.timeIntervalSince1970 + missing / rate
        return Date(timeIntervalSince1970: max(exact, now.timeIntervalSince1970 + 1).rounded(.up))
      }
      missing -= step
      instant = end
    }
    return nil
  }
}

extension AppActivity {
  /// The ledger's rule by which the activity makes reloads free.
  var rule: String {
    switch self {
    case .audio: "app-audio-session"
    case .navigation: "app-navigation-session"
    case .location: "app-location-service"
    }
  }
}

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
  /// The shortest time between two reloads of a placement while the containing app is in the foreground, seconds. Source:
  /// session 277 of 2026: frequent reloads may be throttled then.
  package var foregroundSpacing = 0.0
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
    let seen = account.unseenFrom(self).map { instant >= $0 ? unseenFactor : 1 } ?? 1
    return rate * (seen * (instant < learningEnd(account) ? learningFactor : 1))
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

  private func learningEnd(_ account: BudgetAccount) -> Date {
    account.opened.addingTimeInterval(learningDays * 86_400)
  }
}
