// SPDX-License-Identifier: Apache-2.0

import Messages

/// The verdicts about a journal as JSON. The command's help documents its shape. Fields may be added, but are never
/// removed.
package struct LawReport: Encodable {
  /// One law.
  struct Item: Encodable {
    let code: String
    let answer: LawVerdict.Answer
    let checks: Int
    let broken: Int
    let unknown: Int
    let breaches: [LawFinding]
    let doubts: [LawFinding]
  }

  let answer: LawVerdict.Answer
  let envelopes: Int
  let first: UInt64?
  let last: UInt64?
  let laws: [Item]

  /// Creates the report of a checker's verdicts.
  package init(_ verdicts: [LawVerdict], of checker: LawChecker) {
    answer = LawVerdict.answer(verdicts)
    envelopes = checker.envelopes
    first = checker.range?.lowerBound
    last = checker.range?.upperBound
    laws = verdicts.map { verdict in
      Item(
        code: verdict.law.code, answer: verdict.answer, checks: verdict.findings.checks,
        broken: verdict.findings.breachCount, unknown: verdict.findings.doubtCount,
        breaches: verdict.findings.breaches, doubts: verdict.findings.doubts)
    }
  }
}

/// Formats verdicts for the terminal.
package enum LawText {
  /// One line per law, what each found, and a summary.
  package static func lines(_ verdicts: [LawVerdict], of checker: LawChecker, isColored: Bool) -> [String] {
    let rows = verdicts.flatMap { verdict in
      [row(verdict, isColored: isColored)] + findings(verdict)
    }
    return rows + [summary(verdicts, checker)]
  }

  /// One violation, while the journal is followed.
  package static func line(_ news: LawChecker.News, isColored: Bool) -> String {
    let numbers = news.finding.evidence.map { "#\($0.sequence)" }.joined(separator: " ")
    return TerminalColor.red("broken \(news.law.code): \(news.finding.what) (\(numbers))", if: isColored)
  }

  /// The description of a law.
  package static func lines(_ law: LawDescription, isColored: Bool) -> [String] {
    let rows = [
      ("law", law.statement), ("source", law.source), ("check", law.check), ("not", law.limits),
    ]
    return [TerminalColor.cyan("\(law.code): \(law.title)", if: isColored)] + rows.map { "  \($0.0.padded(8)) \($0.1)" }
  }

  private static func row(_ verdict: LawVerdict, isColored: Bool) -> String {
    let color: TerminalColor =
      switch verdict.answer {
      case .holds: .green
      case .broken: .red
      case .unknown: .yellow
      }
    let checks = verdict.findings.checks
    let count =
      checks == 0 ? "nothing to check" : "\(checks) check\(checks == 1 ? "" : "s")"
    return "\(color(verdict.answer.rawValue.padded(8), if: isColored)) \(verdict.law.code.padded(30)) \(count)"
  }

  /// Violations hide what is only unknown.
  private static func findings(_ verdict: LawVerdict) -> [String] {
    let findings = verdict.findings
    let isBroken = findings.breachCount > 0
    let shown = isBroken ? findings.breaches : findings.doubts
    let rest = (isBroken ? findings.breachCount : findings.doubtCount) - shown.count
    let lines = shown.flatMap { finding in
      ["  \(finding.what)"] + finding.evidence.map { "    \("#\($0.sequence)".padded(8)) \($0.text)" }
    }
    return lines + (rest > 0 ? ["  … and \(rest) more"] : [])
  }

  private static func summary(_ verdicts: [LawVerdict], _ checker: LawChecker) -> String {
    let range = checker.range.map { ", #\($0.lowerBound) to #\($0.upperBound)" } ?? ""
    let counts = LawVerdict.Answer.allCases.compactMap { answer -> String? in
      let count = verdicts.count { $0.answer == answer }
      return count == 0 ? nil : "\(count) \(answer.rawValue)"
    }
    return "\(checker.envelopes) envelopes\(range): \(counts.joined(separator: ", "))"
  }
}
