// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

// Pending reloads while no timeline can be stored: the extension's files are protected, and the device is locked.

extension TimelineStateMachine {
  /// Why no timeline of a placement can be stored now; `nil` if one can.
  func withholding(_ placed: PlacementState) -> Withholding? { address(of: placed.placement).flatMap { withheld[$0] } }

  /// An extension may still reply to a request that was sent before. All other pending reloads wait, and continue as
  /// soon as they are permitted.
  mutating func withhold(_ extensions: [Address: Withholding], _ now: Date) -> [Action] {
    withheld = extensions
    return placements.keys.sorted().flatMap { withholdIfDue($0, now) ?? goOn($0, now) }
  }

  /// - Returns: `nil` if the pending reload may continue.
  mutating func withholdIfDue(_ id: Int, _ now: Date) -> [Action]? {
    guard let placed = placements[id], let pendingReload = placed.pendingReload, let rule = withholding(placed) else {
      return nil
    }
    // A reload that waits for its payment, or for the end of a back-off, is withheld when that wait ends.
    guard pendingReload.isDue || pendingReload.withheld != nil && pendingReload.withheld != rule,
      !isAsking(id, pendingReload.reload)
    else { return [] }
    return [withhold(id, rule, now)].compactMap(\.self)
  }

  /// - Returns: its line in the ledger.
  mutating func withhold(_ id: Int, _ rule: Withholding, _ now: Date) -> Action? {
    guard var placed = placements[id], var pendingReload = placed.pendingReload else { return nil }
    pendingReload.withheld = rule
    pendingReload.notBefore = nil
    placed.pendingReload = pendingReload
    placed.noted(pendingReload.reload, .delayed(rule: rule.rawValue, until: nil))
    placements[id] = placed
    return line(placed, pendingReload, BudgetVerdict(.delayed, rule.rawValue), now)
  }

  /// A reload that was paid before it was withheld is not paid again.
  private mutating func goOn(_ id: Int, _ now: Date) -> [Action] {
    guard var placed = placements[id], var pendingReload = placed.pendingReload, pendingReload.withheld != nil else {
      return []
    }
    pendingReload.withheld = nil
    placed.pendingReload = pendingReload
    guard pendingReload.isPaid else {
      placements[id] = placed
      return decide(id, now)
    }
    placed.noted(pendingReload.reload, .pending)
    placements[id] = placed
    return [line(placed, pendingReload, BudgetVerdict(.free, "paid-before"), now)] + wantIfDue(placed)
  }
}
