// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// What was acknowledged is not delivered again.
struct NothingAfterAcknowledgement: Law {
  let description = LawDescription(
    code: "nothing-after-acknowledgement", title: "nothing is delivered after its acknowledgement",
    statement: "When the host has deleted the acknowledged events of a session, and when the push server has logged a "
      + "push as delivered, neither is sent, handled, loaded or deleted again.",
    source: "documented: urlSessionDidFinishEvents(forBackgroundURLSession:) follows all events; ours: at-least-once "
      + "delivery until the acknowledgement, and none after it",
    check: "each delivery of events and each push that is sent, each task in it, each deletion",
    limits: "Redeliveries between the owner's acknowledgement and its receipt by the host are permitted: the "
      + "acknowledgement may be lost. An instance that had received the events before may still handle them. The last "
      + "4096 deliveries are remembered.")

  var findings = LawFindings()
  private var delivered = Recent<UUID, Mark>()

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    let (header, tasks) = (seen.header, record.tasks)
    switch seen.body {
    case .events(let events): judge(events, at: seen, in: record)
    case .handler, .delegate:
      guard let cause = header.cause, let discarded = tasks.discarded[cause] else { return }
      findings.check(
        discarded.generations.contains(header.sourceGeneration),
        LawFinding(
          "\(header.source.tailName) handles events that were deleted before it received them",
          [discarded.mark.evidence, seen.evidence]))
    case .discarded(let notice):
      let earlier = tasks.discarded[notice.delivery]
      findings.check(
        earlier == nil,
        LawFinding(
          "the host deleted the events of \(notice.session) twice",
          [earlier?.mark.evidence, seen.evidence].compactMap(\.self)))
    case .progress(let progress):
      let task = LawTask(owner: progress.owner, session: progress.session, identifier: progress.taskIdentifier)
      guard let settled = tasks.settled[task], settled.kind == SessionAcknowledged.kind else { return }
      findings.check(
        false, LawFinding("\(task) is loaded after its events were deleted", [settled.evidence, seen.evidence]))
    case .logged(let logged):
      if logged.step.name == .delivered { delivered[logged.uniqueID] = Mark(header) }
    case .push(let push): judge(push.notification, seen)
    case .fleetPushes(let batch): for notification in batch.notifications { judge(notification, seen) }
    default: break
    }
  }

  private mutating func judge(_ push: PushedNotification, _ seen: LawEnvelope) {
    let earlier = delivered[push.uniqueID]
    findings.check(
      earlier == nil,
      LawFinding(
        "a push was sent to the device after it was logged as delivered",
        [earlier?.evidence, seen.evidence].compactMap(\.self)))
  }

  mutating func forget(_ address: Address, at seen: LawEnvelope, in record: LawRecord) {
    if address.role == .pushServer { delivered = Recent() }
  }

  private mutating func judge(_ events: SessionEvents, at seen: LawEnvelope, in record: LawRecord) {
    let (header, tasks) = (seen.header, record.tasks)
    if let discarded = tasks.discarded[header.id] {
      findings.check(
        false,
        LawFinding(
          "the events of \(events.session) were delivered after the host had deleted them",
          [discarded.mark.evidence, seen.evidence]))
      return
    }
    findings.check(true, LawFinding(""))
    let inline = events.outcomesFile == nil ? events.outcomes.map(\.task.taskIdentifier) : nil
    for identifier in inline ?? events.fileTasks?.identifiers ?? [] {
      let task = LawTask(owner: header.destination, session: events.session, identifier: identifier)
      if let settled = tasks.settled[task] {
        findings.check(
          settled.kind != SessionAcknowledged.kind,
          LawFinding("\(task) was delivered after its events were deleted", [settled.evidence, seen.evidence]))
      } else if tasks.entries[task] != nil {
        findings.check(true, LawFinding(""))
      } else if record.isWhole {
        findings.check(false, LawFinding("\(task) was delivered and never created", [seen.evidence]))
      } else {
        findings.doubt(LawFinding("\(task) was created before the journal begins", [seen.evidence]))
      }
    }
  }

  mutating func finish(_ record: LawRecord) {}
}
