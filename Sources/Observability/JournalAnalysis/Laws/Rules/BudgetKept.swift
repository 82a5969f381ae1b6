// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// A placement never spends more reloads than it has.
struct BudgetKept: Law {
  let description = LawDescription(
    code: "budget-kept", title: "no budget is overdrawn",
    statement:
      "A placement that pays for a reload has a balance of at least 0 afterwards, and within the window of its "
      + "policy it pays for no more reloads than the policy allows. The ledger's numbers are consecutive.",
    source: "documented: a budget of 40 to 70 refreshes a day (Keeping a widget up to date); ours: balance and window",
    check: "each entry of the ledger",
    limits: "Whether a reload that costs nothing should have cost something. Entries of a placement before the journal "
      + "begins, and those whose notice is lost with a connection, do not count in the window.")

  private struct Account: Hashable, Sendable {
    let host: Address
    let placement: Int
  }

  private struct Payment: Sendable {
    let date: Date
    let mark: Mark
  }

  var findings = LawFindings()
  /// The reloads paid within the window.
  private var payments: [Account: [Payment]] = [:]
  private var numbers: [Address: (number: Int, mark: Mark)] = [:]

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    if let change = seen.header.kind == PlacementChanged.kind ? seen.envelope.reading(PlacementChanged.self) : nil {
      if change.change == .removed {
        payments[Account(host: seen.header.source, placement: change.placement.id)] = nil
      }
      return
    }
    guard case .decided(let decided) = seen.body else { return }
    let (entry, host) = (decided.entry, seen.header.source)
    judgeNumber(entry, at: seen, in: record)
    guard entry.verdict == .granted else { return findings.check(true, LawFinding("")) }
    guard let allowance = decided.allowance, let window = decided.window else {
      // A policy without a budget.
      if entry.rule == "budget" {
        findings.doubt(LawFinding("an entry of the ledger does not state what the policy allows", [seen.evidence]))
      }
      return
    }
    let who = "placement \(entry.placement) (\(entry.widgetKind))"
    findings.check(
      entry.balance >= -1e-6,
      LawFinding("\(who) paid for a reload, and its balance is \(entry.balance)", [seen.evidence]))
    let account = Account(host: host, placement: entry.placement)
    var paid = payments[account] ?? []
    let start = entry.date.addingTimeInterval(-window * 3600)
    // A clock that was set back: payments in its future do not count, also when it gets there again.
    paid.removeAll { $0.date <= start || $0.date > entry.date }
    paid.append(Payment(date: entry.date, mark: Mark(seen.header)))
    let count = paid.count
    findings.check(
      count <= allowance,
      LawFinding(
        "\(who) paid for \(count) reloads within \(Amount.text(seconds: window * 3600)), and its policy allows \(allowance)",
        [paid.first?.mark.evidence, seen.evidence].compactMap(\.self)))
    payments[account] = paid
  }

  private mutating func judgeNumber(_ entry: LedgerEntry, at seen: LawEnvelope, in record: LawRecord) {
    let host = seen.header.source
    defer { numbers[host] = (entry.number, Mark(seen.header)) }
    guard let (number, mark) = numbers[host], !record.mayHaveLost(from: host, since: mark.sequence) else { return }
    findings.check(
      entry.number == number + 1,
      LawFinding(
        "the ledger's entry \(entry.number) follows entry \(number)", [mark.evidence, seen.evidence]))
  }

  mutating func forget(_ address: Address, at seen: LawEnvelope, in record: LawRecord) {
    numbers[address] = nil
    payments = payments.filter { $0.key.host != address }
  }

  mutating func finish(_ record: LawRecord) {}
}
