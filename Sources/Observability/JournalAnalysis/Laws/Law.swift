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
  mutating func forget(_ address: Address, _ seen: LawEnvelope, _ record: LawRecord)

  /// Judges the end of the journal: work that is not settled is a doubt, or a violation when its time is over.
  mutating func finish(_ record: LawRecord)
}

extension Law {
  mutating func forget(_ address: Address, _ seen: LawEnvelope, _ record: LawRecord) {}
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
      for index in laws.indices { laws[index].forget(seen.header.source, seen, record) }
      record.forget(seen.header.source, isEmpty: store == .empty)
    }
    var news: [News] = []
    for index in laws.indices {
      let known = laws[index].findings.breachCount
      laws[index].see(seen, record)
      let findings = laws[index].findings
      guard findings.breachCount > known else { continue }
      // Beyond the limit a violation is counted and not kept.
      for finding in findings.breaches.dropFirst(known) {
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
