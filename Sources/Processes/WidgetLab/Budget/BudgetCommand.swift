// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Foundation
import Glibc
import Journal
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

/// `widgetlab why`.
struct WhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Explains one reload: its cause, the budget's decisions, and the result.",
    discussion: """
      `widgetlab budget PLACEMENT` and the notes of `budget.decided` in the tail show the numbers of reloads.

      EXAMPLES
        widgetlab why 12
        widgetlab why 12 --json     because, asker, lines, outcome
      """)

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalLocation

  @Argument(help: "The reload's number.")
  var reload: Int

  @Flag(help: "Print one JSON object on one line; times are seconds since 1970.")
  var json = false

  func run() async throws {
    try await reporting {
      let envelopes = try place.reader(options).read(from: .beginning)
      guard let history = ReloadHistory(reload, in: envelopes) else {
        throw CommandError(
          Exit.no, "the journal does not contain reload \(reload)", at: try place.folder(options),
          advice: "`widgetlab budget PLACEMENT` lists the reloads of a placed widget")
      }
      if json { return Output.json(data: try BodyCoding.data(history)) }
      for line in history.text { Output.print(line) }
    }
  }
}

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
      if isRefused { return TerminalColor.red("x", if: isColored) }
      if paid > 0 { return TerminalColor.green("\(min(paid, 9))", if: isColored) }
      if isFree { return TerminalColor.cyan("+", if: isColored) }
      return isDelayed ? TerminalColor.yellow("~", if: isColored) : "."
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
