// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import JournalAnalysis
import Messages

/// `widgetlab budget`.
struct BudgetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "budget",
    abstract: "Shows the reload budget of each placed widget, and its reloads of the last 24 hours.",
    discussion: """
      Every requested reload is a line of the ledger: granted (paid for), free (an exemption), delayed until it can be \
      paid for, merged with a newer one, or refused; each with the rule that decided. With a placement's number, its \
      lines of the last 24 hours are listed; `widgetlab why RELOAD` explains one reload.

      The policy is a file: `budget: PATH` in `settings` of widgetlab.yaml; deploy/budgets has examples. With \
      `developerMode: true` all reloads are free.

      EXAMPLES
        widgetlab budget
        widgetlab budget 3
        widgetlab budget --json     accounts, entries; seconds since 1970
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "A placement's number: show only this one, with its lines of the ledger.")
  var placement: Int?

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func run() async throws {
    try await reporting {
      let report = try await OperatorSession.with(options, reading: true) { try await BudgetReport($0, placement) }
      if let placement, report.accounts.isEmpty {
        throw CommandError(
          Exit.no, "placement \(placement) does not exist", at: try options.folder(reading: true),
          advice: "`widgetlab budget` lists the placements")
      }
      if json { return Output.json(data: try BodyCoding.data(report)) }
      let lines = report.lines(width: Output.width, isColored: Output.isColored)
      for line in lines + (placement == nil ? [] : report.ledger) { Output.print(line) }
    }
  }
}

extension BudgetReport {
  /// Requests all pages from the host.
  init(_ operation: OperatorSession, _ placement: Int?) async throws {
    var entries: [LedgerEntry] = []
    while true {
      let page = try await operation.ask(ListBudget(placement: placement, after: entries.last?.number ?? 0))
      entries += page.entries
      if page.hasMore { continue }
      let dayAgo = page.now.addingTimeInterval(-86_400)
      self.init(
        now: page.now, policy: page.policy, isDeveloperMode: page.isDeveloperMode, accounts: page.accounts,
        entries: entries.filter { $0.date > dayAgo })
      return
    }
  }

  /// The lines of the last 24 hours.
  var ledger: [String] {
    var table = TextTable(headings: ["RELOAD", "WHEN", "BECAUSE", "DECIDED"])
    table.rows = entries.map { ["\($0.reload)", Amount.text($0.date), $0.because.rawValue, $0.text] }
    return [""] + table.lines
  }
}

extension Output {
  /// The number of terminal columns; without a terminal `COLUMNS`, else 80.
  static var width: Int {
    var size = winsize()
    if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    return ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 80
  }
}
