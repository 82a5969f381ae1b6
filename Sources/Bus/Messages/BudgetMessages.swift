// SPDX-License-Identifier: Apache-2.0

package import Foundation

// Budget: the cost of each reload and which budget is charged.

/// One entry of the ledger: the decision on one reload of one placement.
package struct LedgerEntry: Codable, Hashable, Sendable {
  package enum Verdict: String, Codable, Hashable, Sendable {
    /// Charged to the budget.
    case granted
    /// Exempt: it costs nothing.
    case free
    /// Postponed to `until`.
    case delayed
    /// Replaced by a newer reload.
    case merged
    /// Refused.
    case refused
  }

  /// Numbered per device.
  package let number: Int
  package let date: Date
  /// The reload, the same in all its entries.
  package let reload: Int
  package let placement: Int
  package let bundle: String
  package let widgetKind: String
  package let because: ReloadCause
  package let verdict: Verdict
  /// The rule of the policy that decided, such as `app-in-foreground` or `minimum-spacing`.
  package let rule: String
  /// The reloads left for the placement after this one.
  package let balance: Double
  /// When it is decided again.
  package let until: Date?
  package init(
    number: Int, date: Date, reload: Int, placement: Int, bundle: String, widgetKind: String, because: ReloadCause,
    verdict: Verdict, rule: String, balance: Double, until: Date?
  ) {
    self.number = number
    self.date = date
    self.reload = reload
    self.placement = placement
    self.bundle = bundle
    self.widgetKind = widgetKind
    self.because = because
    self.verdict = verdict
    self.rule = rule
    self.balance = balance
    self.until = until
  }
}

/// Why an extension gets no timeline request: a timeline could not be stored now. The raw value is the rule in the
/// ledger.
///
/// Source: session 10048 of 2021, by which updates may be withheld while the device is locked; `NSFileProtection`.
package enum Withholding: String, Codable, Hashable, Sendable {
  /// The device is locked, and the extension's files are protected.
  case locked = "device-locked"
  /// The device was not unlocked since it started: an extension's files cannot be read, whatever their protection
  /// class.
  case notUnlockedYet = "before-first-unlock"
}

/// Journal: an entry was added to the ledger.
package struct BudgetDecided: Notice, Hashable {
  package static let kind: Kind = "budget.decided"
  package let entry: LedgerEntry
  /// The reloads that the policy lets the placement spend within its window; `nil` without a budget.
  package let allowance: Int?
  /// The length of the window, hours.
  package let window: Double?
  package init(_ entry: LedgerEntry, allowance: Int? = nil, window: Double? = nil) {
    self.entry = entry
    self.allowance = allowance
    self.window = window
  }
}

/// Requests a page of the ledger, oldest entry first.
package struct ListBudget: Request {
  package static let kind: Kind = "budget.list"
  /// `nil`: all placements.
  package let placement: Int?
  /// `nil`: all reloads.
  package let reload: Int?
  /// Skips the entries up to this number.
  package let after: Int
  package init(placement: Int? = nil, reload: Int? = nil, after: Int = 0) {
    self.placement = placement
    self.reload = reload
    self.after = after
  }

  /// The budget account of one placement.
  package struct Account: Codable, Hashable, Sendable {
    package let placement: Int
    package let bundle: String
    package let widgetKind: String
    package let balance: Double
    /// Reloads accrued per day.
    package let perDay: Double
    /// Reloads charged in the last 24 hours.
    package let spent: Int
    /// When its next reload is due, and the cause; `nil` when none is due.
    package let next: Date?
    package let nextBecause: ReloadCause?
    /// Why the next reload waits for the device to be unlocked; `nil` when it does not wait.
    package let withheld: Withholding?
    package init(
      placement: Int, bundle: String, widgetKind: String, balance: Double, perDay: Double, spent: Int, next: Date?,
      nextBecause: ReloadCause?, withheld: Withholding? = nil
    ) {
      self.placement = placement
      self.bundle = bundle
      self.widgetKind = widgetKind
      self.balance = balance
      self.perDay = perDay
      self.spent = spent
      self.next = next
      self.nextBecause = nextBecause
      self.withheld = withheld
    }
  }

  package struct Reply: Codable, Hashable, Sendable {
    package let now: Date
    /// The policy's name, such as `standard`.
    package let policy: String
    package let isDeveloperMode: Bool
    package let accounts: [Account]
    package let entries: [LedgerEntry]
    /// Whether further entries follow.
    package let hasMore: Bool
    package init(
      now: Date, policy: String, isDeveloperMode: Bool, accounts: [Account], entries: [LedgerEntry], hasMore: Bool
    ) {
      self.now = now
      self.policy = policy
      self.isDeveloperMode = isDeveloperMode
      self.accounts = accounts
      self.entries = entries
      self.hasMore = hasMore
    }
  }
}
