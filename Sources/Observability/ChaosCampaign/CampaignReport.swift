// SPDX-License-Identifier: Apache-2.0

import Archive
package import JournalAnalysis
package import Messages

/// The report of one campaign, or of several that were merged. `--report FILE.json` writes it. Fields may be added, but
/// are never removed.
package struct CampaignReport: Sendable, Codable {
  /// One law.
  package struct LawResult: Sendable, Codable, Equatable {
    package let code: String
    package var answer: LawVerdict.Answer
    /// Checks that had something to judge.
    package var checks: Int
    package var broken: Int
    package var unknown: Int
    /// The first findings of each sort.
    package var breaches: [LawFinding]
    package var doubts: [LawFinding]

    package init(_ verdict: LawVerdict) {
      code = verdict.law.code
      answer = verdict.answer
      checks = verdict.findings.checks
      broken = verdict.findings.breachCount
      unknown = verdict.findings.doubtCount
      breaches = verdict.findings.breaches
      doubts = verdict.findings.doubts
    }
  }

  /// A check of something that the laws do not judge.
  package struct Check: Sendable, Codable, Hashable {
    package let name: String
    package let holds: Bool
    /// What was found.
    package let text: String

    package init(name: String, holds: Bool, text: String) {
      self.name = name
      self.holds = holds
      self.text = text
    }
  }

  /// One campaign.
  package struct Run: Sendable, Codable, Hashable {
    package let seed: UInt64
    package let answer: LawVerdict.Answer
    package let kills: Int
    package let seconds: Double
    /// From the end of the faults until nothing was left to do; `nil` when the limit was reached.
    package let quietAfter: Double?
    /// What was left to do when the limit was reached.
    package var left: [String]?
    package let envelopes: Int
    /// Whether it was interrupted, or ended early because a law was broken.
    package let wasInterrupted: Bool
    /// The failure file.
    package var failure: String?

    package init(
      seed: UInt64, answer: LawVerdict.Answer, kills: Int, seconds: Double, quietAfter: Double?, envelopes: Int,
      wasInterrupted: Bool
    ) {
      self.seed = seed
      self.answer = answer
      self.kills = kills
      self.seconds = seconds
      self.quietAfter = quietAfter
      self.envelopes = envelopes
      self.wasInterrupted = wasInterrupted
    }
  }

  /// The command line that repeats it.
  package var command: String
  package let version: String
  package let machine: MachineFacts
  /// When it began, as `2026-11-25T07:30:00Z`.
  package let date: String
  package private(set) var runs: [Run]
  package private(set) var asked: [FaultKind: Int]
  package private(set) var effective: [FaultKind: Int]
  package private(set) var events: [CampaignEvent]
  package private(set) var work: CampaignWork
  package private(set) var laws: [LawResult]
  package private(set) var checks: [Check]

  package init(
    command: String, version: String, machine: MachineFacts, date: String, run: Run, record: CampaignRecord,
    work: CampaignWork, laws: [LawResult], checks: [Check]
  ) {
    self.command = command
    self.version = version
    self.machine = machine
    self.date = date
    runs = [run]
    asked = record.asked
    effective = record.effective
    events = record.events
    self.work = work
    self.laws = laws
    self.checks = checks
  }

  /// The answer of a campaign: broken when a law or a check is, else unknown when a law is or the end was not quiet.
  ///
  /// - Parameter unknowable: the codes of laws that cannot judge everything after what the campaign did, such as a loss of
  ///   the journal's end. That they are unknown changes no answer.
  package static func answer(
    _ laws: [LawResult], _ checks: [Check], isQuiet: Bool, unknowable: Set<String> = []
  ) -> LawVerdict.Answer {
    let answers = laws.map(\.answer)
    if answers.contains(.broken) || checks.contains(where: { !$0.holds }) { return .broken }
    let isUnknown = laws.contains { $0.answer == .unknown && !unknowable.contains($0.code) }
    return isUnknown || !isQuiet ? .unknown : .holds
  }

  /// The answer of all runs together.
  package var answer: LawVerdict.Answer {
    let answers = runs.map(\.answer)
    return answers.contains(.broken) ? .broken : answers.contains(.unknown) ? .unknown : .holds
  }

  /// Names the failure file of the only run.
  package mutating func setFailure(_ file: String) { runs[0].failure = file }

  package var kills: Int { runs.reduce(0) { $0 + $1.kills } }
  package var seconds: Double { runs.reduce(0) { $0 + $1.seconds } }
  package var killsPerHour: Int { seconds > 0 ? Int(saturating: Double(kills) / seconds * 3600) : 0 }

  /// Kills and recoveries of each victim, in the order of reports.
  package var victims: [VictimFigures] {
    let kills = Dictionary(grouping: events.flatMap(\.kills), by: \.victim)
    return kills.sorted { $0.key < $1.key }.map { VictimFigures($0, $1) }
  }

  /// Adds the report of other runs.
  package mutating func merge(_ other: CampaignReport) {
    runs += other.runs
    asked.merge(other.asked, uniquingKeysWith: +)
    effective.merge(other.effective, uniquingKeysWith: +)
    events += other.events
    work.add(other.work)
    for law in other.laws {
      guard let index = laws.firstIndex(where: { $0.code == law.code }) else {
        laws.append(law)
        continue
      }
      laws[index].add(law)
    }
    checks += other.checks.filter { !$0.holds || !checks.contains($0) }
  }
}

extension CampaignReport.LawResult {
  mutating func add(_ other: Self) {
    answer = [answer, other.answer].contains(.broken) ? .broken : answer == .unknown ? .unknown : other.answer
    checks += other.checks
    broken += other.broken
    unknown += other.unknown
    breaches = Array((breaches + other.breaches).prefix(16))
    doubts = Array((doubts + other.doubts).prefix(16))
  }
}

/// Kills and recoveries of one victim.
package struct VictimFigures: Sendable {
  package let victim: ChaosVictim
  package let kills: Int
  /// The kills by what the process was doing, most first.
  package let states: [(state: String, kills: Int)]
  /// Milliseconds until it was back, ascending.
  package let recoveries: [Double]

  init(_ victim: ChaosVictim, _ all: [CampaignEvent.Kill]) {
    self.victim = victim
    kills = all.count
    states = Dictionary(grouping: all, by: \.state).map { (state: $0, kills: $1.count) }
      .sorted { ($1.kills, $0.state) < ($0.kills, $1.state) }
    recoveries = all.compactMap(\.recovery).sorted()
  }

  /// The percentile by the nearest rank; `nil` without a recovery.
  package func recovery(_ share: Double) -> Double? {
    guard !recoveries.isEmpty else { return nil }
    return recoveries[max(0, Int(saturating: (Double(recoveries.count) * share).rounded(.up)) - 1)]
  }
}

/// What a campaign asked for and what took effect.
package struct CampaignRecord: Sendable, Codable {
  /// The steps, as they can be replayed.
  package private(set) var steps: [CampaignStep] = []
  /// Faults by kind: asked for, and taken effect.
  package private(set) var asked: [FaultKind: Int] = [:]
  package private(set) var effective: [FaultKind: Int] = [:]
  /// One entry for each fault that took effect.
  package private(set) var events: [CampaignEvent] = []

  /// When the first step was about to begin.
  package let began: Timestamp

  package init(began: Timestamp = .now) { self.began = began }

  /// Processes that were killed.
  package var kills: Int { events.reduce(0) { $0 + $1.kills.count } }

  /// A step is about to be performed.
  package mutating func begin(_ step: CampaignStep) {
    steps.append(step)
    if let fault = step.fault { asked[fault.kind, default: 0] += 1 }
  }

  /// A fault took effect.
  package mutating func took(_ event: CampaignEvent) {
    effective[event.kind, default: 0] += 1
    events.append(event)
  }

  /// A process is back after it was killed.
  package mutating func recovered(_ victim: ChaosVictim, step: Int, after milliseconds: Double) {
    guard let index = events.lastIndex(where: { $0.step == step }),
      let kill = events[index].kills.firstIndex(where: { $0.victim == victim })
    else { return }
    events[index].kills[kill].recovery = milliseconds
  }
}

/// A fault that took effect.
package struct CampaignEvent: Sendable, Codable, Hashable {
  /// A process that it killed.
  package struct Kill: Sendable, Codable, Hashable {
    package let victim: ChaosVictim
    /// What the process was doing.
    package let state: String
    /// Milliseconds until it was back; `nil` when it was killed again before, or was not needed any more.
    package var recovery: Double?

    package init(victim: ChaosVictim, state: String, recovery: Double? = nil) {
      self.victim = victim
      self.state = state
      self.recovery = recovery
    }
  }

  package let step: Int
  package let kind: FaultKind
  package let text: String
  /// Seconds since the first step.
  package let time: Double
  package var kills: [Kill]

  package init(step: Int, kind: FaultKind, text: String, time: Double, kills: [Kill]) {
    self.step = step
    self.kind = kind
    self.text = text
    self.time = time
    self.kills = kills
  }
}
