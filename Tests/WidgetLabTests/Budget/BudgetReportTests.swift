// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import JournalAnalysis
import Messages
import Testing

@testable import WidgetLab

private let noon = Date(timeIntervalSince1970: 1_795_262_400)

private func line(
  _ reload: Int, hoursAgo: Double, verdict: LedgerEntry.Verdict, rule: String = "budget", placement: Int = 1,
  until: Date? = nil
) -> LedgerEntry {
  LedgerEntry(
    number: reload, date: noon - hoursAgo * 3600, reload: reload, placement: placement, bundle: "com.example.W",
    widgetKind: "Coffee", because: .policy, verdict: verdict, rule: rule, balance: 4.25, until: until)
}

@Suite struct `The budget table` {
  private func report(
    _ entries: [LedgerEntry], accounts: Int = 1, isDeveloperMode: Bool = false, withheld: Withholding? = nil
  ) -> BudgetReport {
    BudgetReport(
      now: noon, policy: "standard", isDeveloperMode: isDeveloperMode,
      accounts: (0..<accounts).map {
        ListBudget.Account(
          placement: $0 + 1, bundle: "com.example.W", widgetKind: "Coffee", balance: 4.25, perDay: 55, spent: 3,
          next: withheld == nil ? noon + 600 : nil, nextBecause: .policy, withheld: withheld)
      }, entries: entries)
  }

  @Test func `the budget table shows the balance, the reloads spent and the next reload`() {
    let lines = report([]).lines(width: 80, isColored: false)
    #expect(lines[0] == "policy: standard   developer mode: off   clock: 2026-11-21 12:00:00Z")
    #expect(lines[2] == "PLACEMENT  KIND    BALANCE  PER DAY  SPENT  NEXT")
    #expect(lines[3] == "1          Coffee  4.2      55       3      in 10 min, policy")
    let locked = report([], withheld: .locked).lines(width: 80, isColored: false)
    #expect(locked[3].hasSuffix("when unlocked, policy"))
  }

  @Test(arguments: [(40, 24), (80, 48), (120, 96), (10, 8)])
  func `the budget table plots the last day as wide as the terminal allows`(width: Int, columns: Int) {
    let entries = [
      line(1, hoursAgo: 23.9, verdict: .granted), line(2, hoursAgo: 23.9, verdict: .granted),
      line(3, hoursAgo: 12.1, verdict: .free), line(4, hoursAgo: 6.1, verdict: .delayed),
      line(5, hoursAgo: 0.1, verdict: .refused), line(6, hoursAgo: 25, verdict: .granted),
    ]
    let lines = report(entries).lines(width: width, isColored: false)
    let row = lines.first { $0.hasPrefix("1 Coffee  ") }?.dropFirst("1 Coffee  ".count) ?? ""
    #expect(row.count == columns)
    #expect(row.first == "2" && row.last == "x" && row.contains("+") && row.contains("~") && row.contains("."))
    #expect(lines.last?.contains("1 to 9 paid for, + free, ~ delayed, x refused") == true)
  }

  @Test func `the budget table names the command to run when no widget is placed`() {
    #expect(
      report([], accounts: 0).lines(width: 80, isColored: false).last?.contains("widgetlab reload --all") == true)
    #expect(report([], isDeveloperMode: true).lines(width: 80, isColored: false)[0].contains("developer mode: on"))
  }

  @Test func `the budget report lists the ledger lines of one placement`() {
    let lines = report([line(3, hoursAgo: 1, verdict: .delayed, rule: "minimum-spacing", until: noon)]).ledger
    #expect(
      lines.last
        == "3       2026-11-21 11:00:00Z  policy   delayed until 2026-11-21 12:00:00Z by minimum-spacing, 4.2 left")
  }
}
