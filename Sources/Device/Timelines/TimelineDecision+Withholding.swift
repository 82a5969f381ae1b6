import Conversations
import Foundation

// What is owed while no timeline could be stored: the extension's files are protected, and the device is locked.

extension TimelineDecision {
  /// Why no timeline of a placement could be stored now; `nil` when one could.
  func withholding(_ placed: Placed) -> Withholding? { address(of: placed.placement).flatMap { withheld[$0] } }

  /// What an extension is being asked for it may give: it was asked before. All else that is owed waits, and goes on at once
  /// when it may.
  mutating func withhold(_ extensions: [Address: Withholding], _ now: Date) -> [Answer] {
    withheld = extensions
    return placements.keys.sorted().flatMap { withholdIfDue($0, now) ?? goOn($0, now) }
  }

  /// - Returns: `nil` when the reload that is owed may go on.
  mutating func withholdIfDue(_ id: Int, _ now: Date) -> [Answer]? {
    guard let placed = placements[id], let owed = placed.owed, let rule = withholding(placed) else { return nil }
    // What waits for its payment, or for the end of a back-off, is withheld when that is over.
    guard owed.isDue || owed.withheld != nil && owed.withheld != rule, !isAsking(id, owed.reload) else { return [] }
    return [withhold(id, rule, now)].compactMap(\.self)
  }

  /// - Returns: its line in the ledger.
  mutating func withhold(_ id: Int, _ rule: Withholding, _ now: Date) -> Answer? {
    guard var placed = placements[id], var owed = placed.owed else { return nil }
    owed.withheld = rule
    owed.notBefore = nil
    placed.owed = owed
    placed.noted(owed.reload, .delayed(rule: rule.rawValue, until: nil))
    placements[id] = placed
    return line(placed, owed, BudgetVerdict(.delayed, rule.rawValue), now)
  }

  /// What was paid for before it was withheld is not paid for again.
  private mutating func goOn(_ id: Int, _ now: Date) -> [Answer] {
    guard var placed = placements[id], var owed = placed.owed, owed.withheld != nil else { return [] }
    owed.withheld = nil
    placed.owed = owed
    guard owed.isPaid else {
      placements[id] = placed
      return decide(id, now)
    }
    placed.noted(owed.reload, .owed)
    placements[id] = placed
    return [line(placed, owed, BudgetVerdict(.free, "paid-before"), now)] + wantIfDue(placed)
  }
}
