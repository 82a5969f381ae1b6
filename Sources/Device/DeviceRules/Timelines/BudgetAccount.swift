// SPDX-License-Identifier: Apache-2.0

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

  mutating func see(_ isSeen: Bool, _ policy: BudgetPolicy, now: Date) {
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
    _ cause: ReloadCause, _ policy: BudgetPolicy, _ situation: BudgetSituation, now: Date
  ) -> BudgetVerdict {
    accrue(policy, now: now)
    let verdict = verdict(cause, policy, situation, now)
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
    _ cause: ReloadCause, _ policy: BudgetPolicy, _ situation: BudgetSituation, _ now: Date
  ) -> BudgetVerdict {
    let spacingEnd = lastReload?.addingTimeInterval(policy.minimumSpacing) ?? now
    if situation.isInsideProvider, spacingEnd > now {
      return BudgetVerdict(.delayed, "asked-by-its-own-provider", until: spacingEnd)
    }
    if situation.isDeveloperMode { return BudgetVerdict(.free, "developer-mode") }
    if let end = situation.openedUntil, end > now { return BudgetVerdict(.delayed, "opened-from-widget", until: end) }
    if policy.freeCauses.contains(cause) { return BudgetVerdict(.free, cause.rawValue) }
    if situation.isAppInFront, policy.isFreeInForeground { return BudgetVerdict(.free, "app-in-foreground") }
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
