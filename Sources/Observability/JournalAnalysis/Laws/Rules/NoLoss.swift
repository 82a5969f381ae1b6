// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// The events of each accepted task reach its owner.
struct NoLoss: Law {
  let description = LawDescription(
    code: "no-loss", title: "no accepted task is lost",
    statement: "The host deletes the events of an accepted task only after an instance of its owner has acknowledged "
      + "exactly these events, and until then it lists the task.",
    source: "documented: background transfers continue when the app exits (Downloading files in the background); ours: "
      + "the acknowledgement",
    check: "each task whose events the host deleted; each reply to device.status while accepted tasks are outstanding",
    limits: "What the author's code does with its events.")

  var findings = LawFindings()
  /// The requests for the host's status, with their sequence numbers.
  private var questions = Recent<UUID, UInt64>(limit: 256)

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    if case .discarded(let notice) = seen.body { discarded(notice, at: seen, in: record) }
    if seen.header.kind == DeviceStatus.kind { questions[seen.header.id] = seen.header.sequence }
    if seen.header.kind == DeviceStatus.kind.answered(.ok), let cause = seen.header.cause,
      let asked = questions[cause]
    {
      questions[cause] = nil
      compare(seen, asked: asked, in: record)
    }
  }

  private mutating func discarded(_ notice: SessionAcknowledged, at seen: LawEnvelope, in record: LawRecord) {
    // A second deletion is judged by another law.
    guard record.tasks.discarded[notice.delivery] == nil else { return }
    let what = "the events of \(notice.session) of \(notice.owner.tailName)"
    guard let delivery = record.tasks.delivery(notice.delivery) else {
      if record.isWhole {
        findings.check(false, LawFinding("the host deleted \(what), which were never delivered", [seen.evidence]))
      } else {
        findings.doubt(LawFinding("\(what) were delivered before the journal begins", [seen.evidence]))
      }
      return
    }
    // Evidence is made only for a finding: it decodes the envelope again.
    func sent() -> [Evidence] { delivery.attempts.values.map { Evidence($0.envelope) } }
    guard !delivery.acknowledgements.isEmpty else {
      findings.check(
        false, LawFinding("the host deleted \(what), which no instance had acknowledged", sent() + [seen.evidence]))
      return
    }
    guard let deleted = notice.tasks?.identifiers, let acknowledged = delivery.acknowledged else {
      findings.doubt(LawFinding("the journal does not name the tasks of \(what)", sent() + [seen.evidence]))
      return
    }
    let replies = delivery.acknowledgements.values.map(\.evidence)
    for task in deleted {
      findings.check(
        acknowledged.contains(task),
        LawFinding(
          "the host deleted task \(task) of \(notice.session) of \(notice.owner.tailName), which was not among the "
            + "events that an instance acknowledged", sent() + replies + [seen.evidence]))
    }
  }

  /// The part of the host's status that this law needs.
  private struct Listed: Decodable { let sessions: [SessionStatus] }

  /// Compares the host's list with the tasks that were accepted before the question and are not acknowledged.
  private mutating func compare(_ seen: LawEnvelope, asked askedSequence: UInt64, in record: LawRecord) {
    var missing: [LawSession: [TaskLedger.Entry]] = [:]
    for (task, entry) in record.tasks.entries where task.owner.device == seen.header.source.device {
      guard let accepted = entry.accepted, accepted.header.sequence < askedSequence else { continue }
      missing[LawSession(owner: task.owner, session: task.session), default: []].append(entry)
    }
    guard !missing.isEmpty else { return }
    guard let listed = try? BodyCoding.decode(Listed.self, from: seen.envelope.body) else {
      findings.doubt(LawFinding("the host's status cannot be read", [seen.evidence]))
      return
    }
    for (session, entries) in missing {
      let status = listed.sessions.first { $0.owner == session.owner && $0.session == session.session }
      let count = status.map { $0.running + $0.undelivered } ?? 0
      findings.check(
        count >= entries.count,
        LawFinding(
          "the host lists \(count) of \(entries.count) tasks of \(session) that were accepted and not acknowledged",
          entries.prefix(4).map { Evidence($0.accepted ?? $0.created) } + [seen.evidence]))
    }
  }

  mutating func forget(_ address: Address, at seen: LawEnvelope, in record: LawRecord) {
    let open = record.tasks.entries.filter { $0.key.owner.device == address.device && $0.value.accepted != nil }
    guard address.device != nil, !open.isEmpty else { return }
    findings.doubt(
      LawFinding(
        "the host began with an empty database or an older copy, and \(open.count) accepted tasks were open",
        open.values.prefix(4).map { Evidence($0.accepted ?? $0.created) } + [seen.evidence]))
  }

  mutating func finish(_ record: LawRecord) {
    var open: [LawSession: [TaskLedger.Entry]] = [:]
    for (task, entry) in record.tasks.entries where entry.accepted != nil {
      open[LawSession(owner: task.owner, session: task.session), default: []].append(entry)
    }
    for (session, entries) in open.sorted(by: { $0.key.description < $1.key.description }) {
      let tasks = entries.count == 1 ? "1 task" : "\(entries.count) tasks"
      findings.doubt(
        LawFinding(
          "the journal ends before \(tasks) of \(session) \(entries.count == 1 ? "is" : "are") acknowledged",
          entries.sorted { $0.created.header.sequence < $1.created.header.sequence }.prefix(4)
            .map { Evidence($0.ended ?? $0.accepted ?? $0.created) }))
    }
  }
}
