// SPDX-License-Identifier: Apache-2.0

package import Messages

/// One law. A value that receives each envelope once, in order, before the record does. It forgets work that is settled,
/// so that its memory does not grow with the journal.
protocol Law: Sendable {
  /// The description of the law.
  var description: LawDescription { get }
  /// What it has found so far.
  var findings: LawFindings { get set }

  /// Judges an envelope.
  ///
  /// - Parameter record: the state before this envelope.
  mutating func see(_ seen: LawEnvelope, _ record: LawRecord)

  /// The process at an address began with an empty database or with an older copy: what it did before is no longer known
  /// to it.
  mutating func forget(_ address: Address, at seen: LawEnvelope, in record: LawRecord)

  /// Judges the end of the journal: work that is not settled is a doubt, or a violation when its time is over.
  mutating func finish(_ record: LawRecord)
}

extension Law {
  mutating func forget(_ address: Address, at seen: LawEnvelope, in record: LawRecord) {}
}

/// Figures of the laws. All are ours.
package struct LawLimits: Sendable, Equatable {
  /// Seconds after the last disturbance within which all work that the journal shows must be settled.
  package var settle: Double
  /// Seconds after the last disturbance within which an accepted task must have ended; `nil`: a transfer may take any
  /// time.
  package var transfer: Double?

  /// Creates limits.
  package init(settle: Double = 60, transfer: Double? = nil) {
    self.settle = settle
    self.transfer = transfer
  }
}

/// All laws.
package enum LawTable {
  /// Returns new instances of the laws, in list order. Laws have state.
  static func laws() -> [any Law] {
    [
      NoLoss(), NoMisrouting(), EventOrder(), NothingAfterAcknowledgement(), FilesIntact(), PushesSettled(),
      BudgetKept(),
      NoOrphan(), Liveness(),
    ]
  }

  /// The descriptions of all laws, in list order.
  package static var descriptions: [LawDescription] { laws().map(\.description) }
}

/// Applies the laws to a journal. One value, which receives each envelope in order and can answer at any time. The
/// answer depends only on the envelopes, the limits, and the faults that the caller adds.
package struct LawChecker: Sendable {
  /// A violation that was just found.
  package struct News: Sendable {
    /// The law.
    package let law: LawDescription
    /// The violation.
    package let finding: LawFinding
  }

  private let limits: LawLimits
  private let codes: Set<String>?
  private var laws: [any Law]
  /// What the laws found before the last gap in the journal.
  private var before: [LawFindings]
  private var record: LawRecord
  /// The number of envelopes received.
  package private(set) var envelopes = 0
  /// The sequence numbers of the first and the last envelope; `nil` before the first.
  package private(set) var range: ClosedRange<UInt64>?

  /// Creates an instance that has received no envelope.
  ///
  /// - Parameter codes: the laws to apply; all when `nil`.
  package init(_ limits: LawLimits = LawLimits(), codes: Set<String>? = nil) {
    self.limits = limits
    self.codes = codes
    laws = LawTable.laws().filter { codes?.contains($0.description.code) ?? true }
    before = laws.map { _ in LawFindings() }
    record = LawRecord(limits)
  }

  /// Processes the next envelope of the journal.
  ///
  /// - Returns: the violations that it shows.
  package mutating func handle(_ envelope: Envelope) -> [News] {
    let sequence = envelope.header.sequence
    if let last = range?.upperBound, sequence != last + 1 {
      restart("the envelopes \(last + 1) to \(sequence - 1) are missing", at: envelope)
    }
    envelopes += 1
    range = (range?.lowerBound ?? sequence)...sequence
    let seen = LawEnvelope(envelope)
    if let problem = seen.problem {
      let finding = LawFinding("the body of an envelope cannot be read: \(problem)", [Evidence(envelope)])
      for index in laws.indices { laws[index].findings.doubt(finding) }
    }
    if record.isEmptyBroker(seen) { restart("the broker began with an empty folder", at: envelope) }
    record.begin(seen)
    if let store = record.replacement(seen) {
      for index in laws.indices { laws[index].forget(seen.header.source, at: seen, in: record) }
      record.forget(seen.header.source, isEmpty: store == .empty)
    }
    var news: [News] = []
    for index in laws.indices {
      let knownBreaches = laws[index].findings.breachCount
      laws[index].see(seen, record)
      let findings = laws[index].findings
      guard findings.breachCount > knownBreaches else { continue }
      // Beyond the limit a violation is counted and not kept.
      for finding in findings.breaches.dropFirst(knownBreaches) {
        news.append(News(law: laws[index].description, finding: finding))
      }
    }
    record.handle(seen)
    return news
  }

  /// The caller caused a fault that the journal does not show, such as SIGSTOP to a standing process, or ended one: the
  /// time within which work must be settled begins again.
  package mutating func disturbed(at time: Timestamp) { record.disturb(at: time) }

  /// The journal cannot be read further, such as after damage: no law can hold.
  package mutating func lostTrack(_ why: String) {
    for index in laws.indices { laws[index].findings.doubt(LawFinding(why)) }
  }

  /// The verdicts if the journal ended here. May be called at any time; it changes nothing.
  ///
  /// - Parameter end: the time until which the journal is known to be complete; `nil`: that of its last envelope.
  package func verdicts(until end: Timestamp? = nil) -> [LawVerdict] {
    var record = record
    if let end { record.reach(end) }
    return zip(laws, before).map { law, before in
      var (law, findings) = (law, before)
      law.finish(record)
      findings.add(law.findings)
      return LawVerdict(law: law.description, findings: findings)
    }
  }

  /// What the laws know about open work is worth nothing from here on.
  private mutating func restart(_ why: String, at envelope: Envelope) {
    let gap = LawFinding(why, [Evidence(envelope)])
    for index in laws.indices {
      before[index].add(laws[index].findings)
      before[index].doubt(gap)
    }
    laws = LawTable.laws().filter { codes?.contains($0.description.code) ?? true }
    record = LawRecord(limits)
  }
}

/// The description of a law, which `check --list --json` prints.
package struct LawDescription: Sendable, Equatable, Encodable {
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

/// A situation that looks like a broken law, and is none. A law that is wrong once is not believed again, so each of these
/// has a test.
package enum LawSituation: String, Sendable, CaseIterable {
  case killed, awayLong, absent, suspended, clockForward, clockBack, clockOfOne, deviceClock, asleep, trimmed, lostEnd
  case emptyHost, olderHost, emptyPushServer, emptyBroker, replicas, fleets, lostResult, operators, keys, update
  case forceQuit, offline

  /// The situation.
  package var what: String {
    switch self {
    case .killed: "the owner is killed while it handles its events, and gets them again"
    case .awayLong: "a destination is away for longer than the limit, and is back"
    case .absent: "a process is killed before its hello, again and again"
    case .suspended: "a destination is stopped for longer than the limit, and its connection ends"
    case .clockForward: "the machine's clock is set forward by an hour, a day or 400 days"
    case .clockBack: "the machine's clock is set back by an hour or a day"
    case .clockOfOne: "one process has another clock than the others"
    case .deviceClock: "the device's clock is set back, and gets to the same time again"
    case .asleep: "the machine sleeps for an hour while work is open"
    case .trimmed: "the journal has lost its beginning (journalLimit)"
    case .lostEnd: "the journal has lost its end"
    case .emptyHost: "the folder of the host was removed: task and placement numbers begin again"
    case .olderHost: "an older copy of the host's folder was restored"
    case .emptyPushServer: "the database of the push server was removed"
    case .emptyBroker: "the folder of the bus was removed: generations begin again"
    case .replicas: "a replica answers what was sent to the push server, and notices of two replicas overtake"
    case .fleets: "a push is delivered to a device of a fleet"
    case .lostResult: "push server and bus end together, and the notice of a result is lost"
    case .operators: "a command ends before its reply"
    case .keys: "keys are rotated: each process connects again"
    case .update: "the app is updated: its processes are replaced"
    case .forceQuit: "the user force-quits the app: its events wait"
    case .offline: "the device is offline: its events and pushes wait"
    }
  }

  /// The laws that could take it for a breach; every law when empty.
  private var candidates: [String] {
    switch self {
    case .killed, .update: ["no-loss", "event-order", "nothing-after-acknowledgement", "files-intact", "no-orphan"]
    case .awayLong, .absent, .suspended, .asleep, .operators, .keys, .forceQuit: ["liveness"]
    case .clockForward, .clockBack, .clockOfOne: ["liveness", "no-orphan"]
    case .deviceClock: ["budget-kept"]
    case .trimmed, .lostEnd: []
    case .emptyHost, .olderHost:
      ["no-loss", "no-misrouting", "nothing-after-acknowledgement", "files-intact", "budget-kept", "liveness"]
    case .emptyPushServer: ["nothing-after-acknowledgement", "pushes-settled"]
    case .emptyBroker: ["no-orphan"]
    case .replicas: ["no-misrouting", "pushes-settled", "liveness"]
    case .fleets: ["pushes-settled"]
    case .lostResult: ["pushes-settled"]
    case .offline: ["liveness", "pushes-settled"]
    }
  }

  /// The worst answer that a law may give.
  package var worst: LawVerdict.Answer {
    switch self {
    case .trimmed, .lostEnd, .olderHost, .emptyPushServer, .emptyBroker, .lostResult, .offline: .unknown
    default: .holds
    }
  }

  /// The situations that a law could take for a breach.
  package static func of(_ law: LawDescription) -> [LawSituation] {
    allCases.filter { $0.candidates.isEmpty || $0.candidates.contains(law.code) }
  }
}
