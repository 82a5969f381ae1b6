package import Foundation

// Budget: what each reload costs and who pays.

/// One line of the ledger: what was decided of one reload of one placement.
package struct LedgerEntry: Codable, Hashable, Sendable {
  package enum Verdict: String, Codable, Hashable, Sendable {
    /// Paid from the budget.
    case granted
    /// An exemption: it costs nothing.
    case free
    /// It waits until `until`.
    case delayed
    /// It will not come: a newer one stands for it.
    case merged
    /// It will not come.
    case refused
  }

  /// Numbered on each device.
  package let number: Int
  package let date: Date
  /// The reload, over all its lines.
  package let reload: Int
  package let placement: Int
  package let bundle: String
  package let widgetKind: String
  package let because: ReloadCause
  package let verdict: Verdict
  /// The rule of the policy that decided, such as `app-in-foreground` or `minimum-spacing`.
  package let rule: String
  /// Reloads that the placement may still have, after this.
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

/// Why an extension is asked for no timeline: none could be stored now. Its raw value is the rule in the ledger.
///
/// Source: session 10048 of 2021, by which updates may be withheld while the device is locked; `NSFileProtection`.
package enum Withholding: String, Codable, Hashable, Sendable {
  /// The device is locked, and the extension's files are protected then.
  case locked = "device-locked"
  /// The device was not unlocked since it was started: an extension's files cannot be read, whatever their class.
  case notUnlockedYet = "before-first-unlock"
}

/// Journal: a line of the ledger was written.
package struct BudgetDecided: Notice, Hashable {
  package static let kind: Kind = "budget.decided"
  package let entry: LedgerEntry
  package init(_ entry: LedgerEntry) { self.entry = entry }
}

/// A page of the ledger, the oldest first.
package struct ListBudget: Request {
  package static let kind: Kind = "budget.list"
  /// Of all placements when `nil`.
  package let placement: Int?
  /// Of all reloads when `nil`.
  package let reload: Int?
  /// Lines that are skipped: those up to this number.
  package let after: Int
  package init(placement: Int? = nil, reload: Int? = nil, after: Int = 0) {
    self.placement = placement
    self.reload = reload
    self.after = after
  }

  /// How one placement stands.
  package struct Account: Codable, Hashable, Sendable {
    package let placement: Int
    package let bundle: String
    package let widgetKind: String
    package let balance: Double
    /// What it accrues a day.
    package let perDay: Double
    /// What it spent in the last 24 hours.
    package let spent: Int
    /// When its next reload is due, and why; `nil` when none is.
    package let next: Date?
    package let nextBecause: ReloadCause?
    /// Why the next reload waits for the device to be unlocked; `nil` when it does not.
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
    /// Whether there are lines after these.
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
