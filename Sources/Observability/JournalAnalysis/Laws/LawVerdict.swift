// SPDX-License-Identifier: Apache-2.0

/// The description of a law.
package struct LawDescription: Sendable, Equatable {
  /// Stable across versions: `no-loss`.
  package let code: String
  /// The law, in a few words.
  package let title: String
  /// What must be true in every journal.
  package let statement: String
  /// The source of the law: documented, observed or ours, and where.
  package let source: String
  /// What counts as one check.
  package let check: String
  /// What the journal does not show, and the law therefore does not judge.
  package let limits: String
}

/// Something that a law found, with the envelopes that show it.
package struct LawFinding: Sendable, Equatable, Codable {
  /// What happened.
  package let what: String
  /// The envelopes that matter, in order.
  package let evidence: [Evidence]

  init(_ what: String, _ evidence: [Evidence] = []) {
    self.what = what
    self.evidence = evidence.sorted { $0.sequence < $1.sequence }
  }
}

/// What a law has found so far. Only the first findings are kept, so that memory stays bounded; all are counted.
package struct LawFindings: Sendable, Equatable {
  /// How many findings of each sort are kept.
  static let limit = 16

  /// Checks that were made: each had something to judge.
  package private(set) var checks = 0
  /// The first violations.
  package private(set) var breaches: [LawFinding] = []
  /// All violations.
  package private(set) var breachCount = 0
  /// The first things that could not be judged.
  package private(set) var doubts: [LawFinding] = []
  /// All things that could not be judged.
  package private(set) var doubtCount = 0

  /// Counts a check, and records a violation when it failed.
  mutating func check(_ holds: Bool, _ finding: @autoclosure () -> LawFinding) {
    checks += 1
    if !holds { breach(finding()) }
  }

  /// Records a violation that a check found.
  mutating func breach(_ finding: LawFinding) {
    breachCount += 1
    if breaches.count < Self.limit { breaches.append(finding) }
  }

  /// Records something that cannot be judged.
  mutating func doubt(_ finding: @autoclosure () -> LawFinding) {
    doubtCount += 1
    if doubts.count < Self.limit { doubts.append(finding()) }
  }

  /// Adds what the same law found later.
  mutating func add(_ later: LawFindings) {
    checks += later.checks
    breachCount += later.breachCount
    doubtCount += later.doubtCount
    breaches = Array((breaches + later.breaches).prefix(Self.limit))
    doubts = Array((doubts + later.doubts).prefix(Self.limit))
  }
}

/// The answer of a law about a journal.
package struct LawVerdict: Sendable, Equatable {
  /// The answers.
  package enum Answer: String, Sendable, Codable, CaseIterable {
    /// Nothing contradicts the law, and everything could be judged.
    case holds
    /// Envelopes contradict the law.
    case broken
    /// Nothing contradicts the law, and something could not be judged.
    case unknown
  }

  /// The law.
  package let law: LawDescription
  /// What it found.
  package let findings: LawFindings

  /// The answer.
  package var answer: Answer {
    findings.breachCount > 0 ? .broken : findings.doubtCount > 0 ? .unknown : .holds
  }

  /// The answer about all laws together.
  package static func answer(_ verdicts: [LawVerdict]) -> Answer {
    let answers = verdicts.map(\.answer)
    return answers.contains(.broken) ? .broken : answers.contains(.unknown) ? .unknown : .holds
  }
}
