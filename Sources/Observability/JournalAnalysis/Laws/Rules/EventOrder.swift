// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// Delegate calls, handlers and completions come in Apple's order.
struct EventOrder: Law {
  let description = LawDescription(
    code: "event-order", title: "events come in order",
    statement: "For each task: the file, then the end, each once, and nothing after it. For each delivery to one "
      + "instance: the handler first when the owner was woken for it, the tasks in the order in which they ended, then "
      + "urlSessionDidFinishEvents; the acknowledgement follows the last completion. The host reports nothing of a "
      + "transfer after its end, except that its file cannot be delivered yet.",
    source: "documented: URLSessionDownloadDelegate, urlSessionDidFinishEvents(forBackgroundURLSession:), "
      + "onBackgroundURLSessionEvents(matching:_:); rules DELIVERY-02, -15, -22, -24",
    check: "each delegate call and acknowledgement of a delivery, each step of a transfer",
    limits:
      "Calls that the author's delegate does not implement. A call whose notice may be lost, because a connection "
      + "ended in between.")

  /// What one instance of the owner did with a delivery.
  private struct Handling: Sendable {
    var handler: Evidence?
    var hasHandlers = false
    var files: [Int: Mark] = [:]
    var ends: [Int: Mark] = [:]
    var last: (task: Int, mark: Mark)?
    var finish: Mark?
    var isCompleted = false
  }

  private struct Receiver: Hashable, Sendable {
    let delivery: UUID
    let generation: UInt32
  }

  var findings = LawFindings()
  private var handlings = Recent<Receiver, Handling>(limit: 1024)

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    let header = seen.header
    switch seen.body {
    case .progress(let progress): judge(progress, at: seen, in: record)
    case .handler(let called):
      guard let receiver = receiver(seen), var handling = handlings[receiver] else { return }
      handling.handler = seen.evidence
      handling.hasHandlers = called.matching > 0
      handling.isCompleted = false
      handlings[receiver] = handling
    case .completion(let called):
      guard let receiver = receiver(seen), called.outstanding == 0 else { return }
      handlings[receiver]?.isCompleted = true
    case .delegate(let called): judge(called, at: seen, in: record)
    case .events:
      // The same instance may get a delivery again, after the host has restarted: it ignores the repetition.
      let receiver = Receiver(delivery: header.id, generation: header.destinationGeneration)
      if handlings[receiver] == nil { handlings[receiver] = Handling() }
    default:
      if header.kind == SessionEvents.kind.answered(.acknowledged) { judgeAcknowledgement(seen, record) }
      // What was refused is handled from the beginning when it is received again.
      if header.kind == SessionEvents.kind.answered(.failed), let receiver = receiver(seen) {
        handlings[receiver] = Handling()
      }
    }
  }

  private func receiver(_ seen: LawEnvelope) -> Receiver? {
    seen.header.cause.map { Receiver(delivery: $0, generation: seen.header.sourceGeneration) }
  }

  // MARK: Transfers

  private mutating func judge(_ progress: TransferProgress, at seen: LawEnvelope, in record: LawRecord) {
    let task = LawTask(owner: progress.owner, session: progress.session, identifier: progress.taskIdentifier)
    guard let entry = record.tasks.entries[task] else { return }
    findings.check(
      entry.ended == nil || progress.step == .retrying,
      LawFinding(
        "\(task) is \(progress.step.rawValue) after its end",
        [entry.ended.map { Evidence($0) }, seen.evidence].compactMap(\.self)))
  }

  // MARK: Delegate calls

  private mutating func judge(_ called: DelegateCalled, at seen: LawEnvelope, in record: LawRecord) {
    // A task that fails in the process itself has no delivery.
    guard let receiver = receiver(seen), let delivery = record.tasks.delivery(receiver.delivery) else { return }
    let who = seen.header.source.tailName
    guard let attempt = delivery.attempts[receiver.generation] else {
      findings.check(
        false,
        LawFinding(
          "\(who) called \(called.method) for events that this instance had not received",
          delivery.attempts.values.map { Evidence($0.envelope) } + [seen.evidence]))
      return
    }
    guard var handling = handlings[receiver] else { return }
    var wrong: (what: String, earlier: Mark?)?
    if attempt.events.wakesHandler, !attempt.events.handlerComesLast, handling.handler == nil,
      !record.mayHaveLost(from: seen.header.source, since: attempt.envelope.header.sequence)
    {
      wrong = ("before the handler that the events wake", nil)
    }
    if let finish = handling.finish {
      wrong = ("after urlSessionDidFinishEvents", finish)
    } else if let task = called.taskIdentifier {
      wrong = wrong ?? order(called.method, task: task, handling: handling, attempt: attempt)
    }
    findings.check(
      wrong == nil,
      LawFinding(
        "\(who) called \(called.method)\(called.taskIdentifier.map { " of task \($0)" } ?? "") \(wrong?.what ?? "")",
        [Evidence(attempt.envelope), wrong?.earlier?.evidence, seen.evidence].compactMap(\.self)))
    note(called, mark: Mark(seen.header), in: &handling)
    handlings[receiver] = handling
  }

  /// What is wrong with the order of a task's call; `nil` for nothing.
  private func order(
    _ method: String, task: Int, handling: Handling, attempt: TaskLedger.Attempt
  ) -> (what: String, earlier: Mark?)? {
    if attempt.members?.contains(task) == false { return ("which is not among the events", nil) }
    if let end = handling.ends[task] { return ("after its didCompleteWithError", end) }
    if method == "didFinishDownloadingTo", let file = handling.files[task] { return ("twice", file) }
    guard attempt.isOrdered, let tasks = attempt.tasks, let last = handling.last, last.task != task,
      let before = tasks.firstIndex(of: last.task), let now = tasks.firstIndex(of: task), now < before
    else { return nil }
    return ("after a task that ended later", last.mark)
  }

  private func note(_ called: DelegateCalled, mark: Mark, in handling: inout Handling) {
    guard let task = called.taskIdentifier else {
      if called.method == "urlSessionDidFinishEvents" { handling.finish = mark }
      return
    }
    switch called.method {
    case "didFinishDownloadingTo": handling.files[task] = mark
    case "didCompleteWithError": handling.ends[task] = mark
    default: break
    }
    handling.last = (task, mark)
  }

  // MARK: The acknowledgement

  private mutating func judgeAcknowledgement(_ seen: LawEnvelope, _ record: LawRecord) {
    guard let receiver = receiver(seen), let delivery = record.tasks.delivery(receiver.delivery),
      let attempt = delivery.attempts[receiver.generation], let handling = handlings[receiver]
    else { return }
    let sentSequence = attempt.envelope.header.sequence
    guard !record.mayHaveLost(from: seen.header.source, since: sentSequence) else { return }
    if attempt.events.wakesHandler {
      findings.check(
        handling.handler != nil,
        LawFinding(
          "\(seen.header.source.tailName) acknowledged events that wake its handler, and did not call it",
          [Evidence(attempt.envelope), seen.evidence]))
    }
    if handling.hasHandlers {
      findings.check(
        handling.isCompleted,
        LawFinding(
          "\(seen.header.source.tailName) acknowledged events before all completion handlers were called",
          [Evidence(attempt.envelope), handling.handler, seen.evidence].compactMap(\.self)))
    }
  }

  mutating func finish(_ record: LawRecord) {}
}
