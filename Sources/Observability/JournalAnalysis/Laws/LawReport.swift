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

/// The description of a law, as `check --list --json` prints it.
package struct LawDescriptionReport: Encodable {
  let code: String
  let title: String
  let statement: String
  let source: String
  let check: String
  let limits: String

  /// Creates the report of a description.
  package init(_ law: LawDescription) {
    code = law.code
    title = law.title
    statement = law.statement
    source = law.source
    check = law.check
    limits = law.limits
  }
}
