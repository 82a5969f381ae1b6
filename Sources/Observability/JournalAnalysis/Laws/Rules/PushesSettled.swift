// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// Each accepted push has one result, and the journal names it.
struct PushesSettled: Law {
  let description = LawDescription(
    code: "pushes-settled", title: "each accepted push has a result",
    statement: "A push that was answered with 200 is delivered to the device, or it has expired, was collapsed, "
      + "superseded or not stored, or its token is no longer active; the journal states which, once, and nothing "
      + "follows that. A push is delivered only when the device has acknowledged it, and one that was answered with "
      + "another status is never sent. The push server's log has each push without a result.",
    source: "documented: apns-expiration, apns-collapse-id and the storing of one notification (Sending notification "
      + "requests to APNs); ours: the delivery log",
    check: "each result, each push that is sent, each step on the device, each reply to push.log about one push",
    limits:
      "A result whose notice was lost with a connection, until a reply to push.log states it. A push for one attempt "
      + "(apns-expiration 0), which a push server that ends forgets. Steps that the push server's limit per second keeps "
      + "from the journal; then open pushes are unknown.")

  /// A push without a result.
  private struct Open: Sendable {
    var first: Evidence
    var last: PushStep.Name
    var lastMark: Mark
    /// It is for one attempt: a push server that ends forgets it.
    var isForOnce = false
  }

  private struct Settled: Sendable {
    let mark: Mark
    /// The push server that logged it.
    var source: Address { mark.source }
    let name: PushStep.Name
    /// A reply to `push.log` stated the result. These are its steps whose notices may follow.
    var unnoticedSteps: [PushStep.Name] = []
  }

  var findings = LawFindings()
  private var open: [UUID: Open] = [:]
  private var settled = Recent<UUID, Settled>(limit: 65_536)
  /// Pushes that were sent to the device.
  private var sentPushes = Recent<UUID, Mark>(limit: 65_536)
  /// Pushes that the device has acknowledged, and when.
  private var acknowledged = Recent<UUID, (mark: Mark, at: Timestamp)>(limit: 65_536)
  /// The pushes of batches that were sent to fleets.
  private var batches = Recent<UUID, [UUID]>(limit: 1024)
  private var hasOmitted = false
  /// The push that a request for the log is about, if it has no result.
  private var questions = Recent<UUID, UUID>(limit: 256)
  /// Requests for one attempt (`apns-expiration: 0`). The push server replies before such a push is on a disk, and a push
  /// server that ends at that moment forgets it.
  private var requestsForOnce = Recent<UUID, Bool>(limit: 256)

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    let header = seen.header
    switch seen.body {
    case .sent(let reply):
      if reply.status == 200, settled[reply.uniqueID] == nil, open[reply.uniqueID] == nil {
        open[reply.uniqueID] = Open(
          first: seen.evidence, last: .accepted, lastMark: Mark(header),
          isForOnce: header.cause.flatMap { requestsForOnce[$0] } ?? false)
      }
    case .logged(let logged): judge(logged, at: seen, in: record)
    case .push(let push):
      judge(push.notification.uniqueID, seen)
      if push.notification.expiration?.timeIntervalSince1970 == 0 { open[push.notification.uniqueID]?.isForOnce = true }
    case .fleetPushes(let batch):
      batches[header.id] = batch.notifications.map(\.uniqueID)
      for notification in batch.notifications { judge(notification.uniqueID, seen) }
    case .fleetTook(let reply):
      guard let ids = header.cause.flatMap({ batches[$0] }) else { return }
      let refused = Set(reply.refused.map(\.index))
      for (index, id) in ids.enumerated() where !refused.contains(index) {
        acknowledged[id] = (Mark(header), record.at)
      }
    case .pushStep(let step):
      let isSent = sentPushes[step.uniqueID] != nil
      guard isSent || record.isWhole else { return }
      findings.check(
        isSent,
        LawFinding("the device reports \(step.step.name.rawValue) of a push that was never sent to it", [seen.evidence])
      )
    default:
      if header.kind == DeliverPush.kind.answered(.acknowledged), let id = header.cause {
        acknowledged[id] = (Mark(header), record.at)
      }
      judgeLog(seen, record)
    }
  }

  /// A push is sent to a device.
  private mutating func judge(_ id: UUID, _ seen: LawEnvelope) {
    let earlier = settled[id]
    // A push may be sent again until its result is logged.
    findings.check(
      earlier == nil || earlier?.name == .delivered,
      LawFinding(
        "a push was sent to the device although it is \(earlier?.name.rawValue ?? "")",
        [earlier?.mark.evidence, seen.evidence].compactMap(\.self)))
    sentPushes[id] = Mark(seen.header)
  }

  mutating func forget(_ address: Address, at seen: LawEnvelope, in record: LawRecord) {
    guard address.role == .pushServer else { return }
    if let first = open.values.map(\.first).min(by: { $0.sequence < $1.sequence }) {
      findings.doubt(
        LawFinding(
          "the push server began with an empty database or an older copy, and \(open.count) pushes had no result",
          [first, seen.evidence]))
    }
    open = [:]
    settled = Recent(limit: 65_536)
  }

  /// A push that was answered with 200 is on a disk, and its log is kept at least until it has a result. The log also has
  /// results whose notices were lost. Whether the device acknowledged a push is judged by the journal alone.
  private mutating func judgeLog(_ seen: LawEnvelope, _ record: LawRecord) {
    let header = seen.header
    if header.kind == SendPush.kind,
      seen.envelope.reading(SendPush.self)?.headers.contains(where: {
        $0.key.lowercased() == "apns-expiration" && $0.value == "0"
      }) == true
    {
      requestsForOnce[header.id] = true
    }
    if header.kind == ListPushes.kind {
      guard let id = seen.envelope.reading(ListPushes.self)?.uniqueID, open[id] != nil else { return }
      questions[header.id] = id
    }
    guard header.kind == ListPushes.kind.answered(.ok),
      let reply = try? BodyCoding.decode(ListPushes.Reply.self, from: seen.envelope.body)
    else { return }
    for push in reply.pushes {
      guard let known = open[push.uniqueID] else { continue }
      guard let result = push.steps.first(where: { $0.name.isResult && $0.name != .delivered }) else { continue }
      // The notice of the result was lost with a connection, or follows.
      findings.check(true, LawFinding(""))
      open[push.uniqueID] = nil
      let steps = push.steps.map(\.name)
      let noticed = steps.lastIndex(of: known.last).map { $0 + 1 } ?? 0
      settled[push.uniqueID] = Settled(
        mark: Mark(header), name: result.name, unnoticedSteps: Array(steps[noticed...]))
    }
    guard let cause = header.cause, let id = questions[cause], let push = open[id] else { return }
    if reply.pushes.isEmpty, push.isForOnce, record.mayHaveLost(from: header.source, since: push.lastMark.sequence) {
      open[id] = nil
      return
    }
    findings.check(
      !reply.pushes.isEmpty,
      LawFinding("the push server does not know a push that it answered with 200", [push.first, seen.evidence]))
  }

  private mutating func judge(_ logged: PushLogged, at seen: LawEnvelope, in record: LawRecord) {
    if logged.omitted != nil { hasOmitted = true }
    let (id, name) = (logged.uniqueID, logged.step.name)
    if let earlier = settled[id] {
      if earlier.source == seen.header.source, let index = earlier.unnoticedSteps.firstIndex(of: name) {
        settled[id]?.unnoticedSteps.remove(at: index)
        return
      }
      // The notices of two replicas have no order: the one that accepted a push may be slower than the one that sent it.
      if !name.isResult, earlier.source != seen.header.source { return }
      findings.check(
        false,
        LawFinding(
          "a push is \(name.rawValue) after it was \(earlier.name.rawValue)", [earlier.mark.evidence, seen.evidence]))
      return
    }
    if name == .delivered, record.isWhole {
      findings.check(
        acknowledged[id] != nil,
        LawFinding(
          "a push was logged as delivered, and the device did not acknowledge it",
          [open[id]?.first, seen.evidence].compactMap(\.self)))
    } else if name.isResult {
      findings.check(true, LawFinding(""))
    }
    guard name.isResult else {
      var entry = open[id] ?? Open(first: seen.evidence, last: name, lastMark: Mark(seen.header))
      entry.last = name
      entry.lastMark = Mark(seen.header)
      open[id] = entry
      return
    }
    open[id] = nil
    settled[id] = Settled(mark: Mark(seen.header), name: name)
  }

  mutating func finish(_ record: LawRecord) {
    for (id, push) in open.sorted(by: { $0.value.lastMark.sequence < $1.value.lastMark.sequence }) {
      if push.isForOnce, acknowledged[id] == nil, record.mayHaveLost(from: .pushServer, since: push.lastMark.sequence) {
        continue
      }
      if let reply = acknowledged[id] {
        // The device has it. The notice of that may be lost with a connection, or omitted.
        if hasOmitted || record.mayHaveLost(from: .pushServer, since: reply.mark.sequence) { continue }
        let finding = LawFinding(
          "the device acknowledged a push, and the journal does not state that it was delivered",
          [push.first, reply.mark.evidence])
        if record.isOver(reply.at, within: record.limits.settle) {
          findings.breach(finding)
        } else {
          findings.doubt(finding)
        }
      } else {
        findings.doubt(
          LawFinding(
            hasOmitted
              ? "the journal omits steps of pushes, and has no result of one"
              : "the journal ends before a push has a result; its last step is \(push.last.rawValue). If a notice was lost "
                + "when the push server and the bus ended, `widgetlab push log \(id.upperCaseText)` adds the result",
            [push.first, push.lastMark.evidence]))
      }
    }
  }
}

extension PushStep.Name {
  /// Whether the push server does nothing more with the push.
  var isResult: Bool {
    switch self {
    case .refused, .superseded, .collapsed, .expired, .notStored, .tokenUnregistered, .delivered: true
    case .accepted, .storedOffline, .storedPower, .sent: false
    // On the device.
    case .noContentChanged, .noWidget, .reloading, .budget, .reloaded, .reloadFailed, .supersededOnDevice, .handled,
      .discarded:
      false
    }
  }
}
