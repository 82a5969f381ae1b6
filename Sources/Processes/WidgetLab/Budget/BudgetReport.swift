// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import JournalAnalysis
import Messages

/// The output of `budget`.
struct BudgetReport: Encodable, Sendable {
  let now: Date
  let policy: String
  let isDeveloperMode: Bool
  let accounts: [ListBudget.Account]
  /// The entries of the last 24 hours.
  let entries: [LedgerEntry]

  /// The text for a terminal with `width` columns.
  func lines(width: Int, isColored: Bool) -> [String] {
    let mode = isDeveloperMode ? "on: no budget, no spacing" : "off"
    let head = "policy: \(policy)   developer mode: \(mode)   clock: \(Amount.text(now))"
    guard !accounts.isEmpty else {
      return [
        head, "", "no widget is placed: `widgetlab reload --all` launches each extension, which declares its kinds",
      ]
    }
    var table = TextTable(headings: ["PLACEMENT", "KIND", "BALANCE", "PER DAY", "SPENT", "NEXT"])
    table.rows = accounts.map { account in
      [
        "\(account.placement)", account.widgetKind, account.balance.formatted(.number.precision(.fractionLength(1))),
        account.perDay > 0 ? account.perDay.formatted() : "-", "\(account.spent)", next(of: account),
      ]
    }
    return [head, ""] + table.lines + [""] + plot(width: width, isColored: isColored)
  }

  private func next(of account: ListBudget.Account) -> String {
    guard let because = account.nextBecause else { return "-" }
    if account.withheld != nil { return "when unlocked, \(because)" }
    guard let date = account.next, date > now else { return "now, \(because.rawValue)" }
    return "in \(Amount.text(seconds: date.timeIntervalSince(now))), \(because.rawValue)"
  }

  // MARK: The last day

  /// One row per placement, from 24 hours ago to now: the number of reloads that were paid for in each column, and the
  /// others.
  private func plot(width: Int, isColored: Bool) -> [String] {
    let label = (accounts.map { "\($0.placement) \($0.widgetKind)".count }.max() ?? 0).clamped(to: 4...24)
    // Columns are whole fractions of an hour, if they fit.
    let columns = [96, 72, 48, 24, 12].first { $0 + label + 2 <= width } ?? 8
    let rows = accounts.map { account in
      let name = String("\(account.placement) \(account.widgetKind)".prefix(label)).padded(label)
      let own = entries.filter { $0.placement == account.placement }
      return "\(name)  " + cells(own, columns).map { $0.text(isColored) }.joined()
    }
    let column = Amount.text(seconds: 86_400 / Double(columns))
    let scale = String(repeating: " ", count: label + 2) + "24 h ago".padded(columns - 3) + "now"
    return [scale] + rows + [
      "", "each column is \(column); 1 to 9 paid for, + free, ~ delayed, x refused, . none",
    ]
  }

  private struct Cell {
    var paid = 0
    var isFree = false
    var isDelayed = false
    var isRefused = false

    func text(_ isColored: Bool) -> String {
      if isRefused { return TerminalColor.red("x", isColored) }
      if paid > 0 { return TerminalColor.green("\(min(paid, 9))", isColored) }
      if isFree { return TerminalColor.cyan("+", isColored) }
      return isDelayed ? TerminalColor.yellow("~", isColored) : "."
    }
  }

  private func cells(_ entries: [LedgerEntry], _ columns: Int) -> [Cell] {
    var cells = Array(repeating: Cell(), count: columns)
    for entry in entries {
      let age = now.timeIntervalSince(entry.date) / 86_400
      guard (0..<1).contains(age) else { continue }
      let column = min(Int(saturating: (1 - age) * Double(columns)), columns - 1)
      switch entry.verdict {
      case .granted: cells[column].paid += 1
      case .free: cells[column].isFree = true
      case .delayed: cells[column].isDelayed = true
      case .refused: cells[column].isRefused = true
      case .merged: break
      }
    }
    return cells
  }
}

extension Comparable {
  fileprivate func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
