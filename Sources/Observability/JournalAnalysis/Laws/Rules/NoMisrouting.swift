// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// Nothing of one bundle reaches another.
struct NoMisrouting: Law {
  let description = LawDescription(
    code: "no-misrouting", title: "everything goes to its owner",
    statement: "The messages about a background session go only to and from the process that created it. A push goes "
      + "to the device of its token, a request for a timeline to the extension of the placement, and a reply from the "
      + "receiver of the request to its sender.",
    source: "documented: the events of a widget's session go to the extension (Making network requests in a widget "
      + "extension); ours: addresses",
    check: "each message about a session, push, timeline request and reply",
    limits: "A timeline request for a placement that was placed before the journal begins.")

  /// A request or an event. The id alone is not enough: the request to an app about a push has the push's id.
  private struct QuestionKey: Hashable, Sendable {
    let id: UUID
    let kind: Kind
  }

  /// What a reply must match.
  private struct Question: Sendable {
    let mark: Mark
    let destination: Address
  }

  var findings = LawFindings()
  private var questions = Recent<QuestionKey, Question>()
  /// The correlation ids of sessions, with their owners.
  private var owners = Recent<UUID, LawSession>()
  /// The bundles of placements, by device.
  private var placements: [Address: [Int: String]] = [:]

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    judge(seen)
    let header = seen.header
    if header.kind.answer != nil {
      judgeReply(seen)
    } else if let style = MessageTable[header.kind]?.style, style != .notice {
      questions[QuestionKey(id: header.id, kind: header.kind)] = Question(
        mark: Mark(header), destination: header.destination)
    }
  }

  private mutating func judge(_ seen: LawEnvelope) {
    let header = seen.header
    switch seen.body {
    case .create(let create): judge(create.session, of: header.source, seen)
    case .opened(let opened):
      owners[Self.id(opened.identifier, header.source)] = LawSession(
        owner: header.source, session: opened.identifier)
    case .handler(let called): judge(called.session, of: header.source, seen)
    case .delegate(let called): judge(called.session, of: header.source, seen)
    case .completion(let called): judge(called.session, of: header.source, seen)
    case .events(let events): judge(events.session, of: header.destination, seen)
    case .push(let push):
      findings.check(
        header.destination == .host(push.notification.subject.device),
        LawFinding("a push for \(push.notification.subject.device) was sent to another device", [seen.evidence]))
    default: judgeStranger(seen)
    }
    if header.kind == RequestTimeline.kind || header.kind == PlacementChanged.kind { judgeBundle(seen) }
  }

  private static func id(_ session: String, _ owner: Address) -> UUID {
    MessageContext.correlation(ofSession: session, of: owner)
  }

  /// The correlation id is derived from the owner and the session, so that it shows whether an address is the owner.
  private mutating func judge(_ session: String, of owner: Address, _ seen: LawEnvelope) {
    let ownID = Self.id(session, owner)
    if case .create = seen.body { owners[ownID] = LawSession(owner: owner, session: session) }
    guard let correlation = seen.header.correlation else {
      findings.doubt(LawFinding("a message about the session \(session) has no correlation id", [seen.evidence]))
      return
    }
    let known = owners[correlation]
    findings.check(
      correlation == ownID,
      LawFinding(
        "a message about \(known?.description ?? "the session \(session) of another process") is addressed to or "
          + "from \(owner.tailName)", [seen.evidence]))
  }

  /// Any other message about a session. A message that only follows from one, such as the request for a timeline after
  /// the app's delegate has reloaded a widget, has the same correlation id and may go to another process.
  private mutating func judgeStranger(_ seen: LawEnvelope) {
    let header = seen.header
    guard header.kind.name.hasPrefix("session.") || header.kind.name.hasPrefix("transfer.") else { return }
    let authors = [header.source, header.destination].filter { $0.bundleIdentifier != nil }
    guard !authors.isEmpty, let session = header.correlation.flatMap({ owners[$0] }) else { return }
    findings.check(
      authors.allSatisfy { $0 == session.owner },
      LawFinding("a message about \(session) is addressed to or from another process", [seen.evidence]))
  }

  private mutating func judgeBundle(_ seen: LawEnvelope) {
    let header = seen.header
    if let change = seen.envelope.reading(PlacementChanged.self) {
      // Numbers are never reused.
      placements[header.source, default: [:]][change.placement.id] =
        change.change == .removed ? nil : change.placement.bundle
    } else if let request = seen.envelope.reading(RequestTimeline.self), let placement = request.placement,
      let bundle = placements[header.source]?[placement]
    {
      findings.check(
        header.destination.bundleIdentifier == bundle
          && header.destination.device == header.source.device,
        LawFinding(
          "the timeline of placement \(placement) of \(bundle) was requested of another process", [seen.evidence]))
    }
  }

  private mutating func judgeReply(_ seen: LawEnvelope) {
    let header = seen.header
    guard let cause = header.cause, let question = questions[QuestionKey(id: cause, kind: header.kind.questionKind)]
    else {
      return
    }
    let isRight =
      isServed(question.destination, by: header.source) && isServed(question.mark.source, by: header.destination)
    findings.check(
      isRight,
      LawFinding(
        "a reply does not come from the receiver of its request, or does not go to its sender",
        [question.mark.evidence, seen.evidence]))
  }

  /// What is sent to `push-server` goes to one of the replicas.
  private func isServed(_ address: Address, by other: Address) -> Bool {
    other == address || (address == .pushServer && other.isReplica)
  }

  /// The numbers of placements begin again.
  mutating func forget(_ address: Address, at seen: LawEnvelope, in record: LawRecord) { placements[address] = nil }

  mutating func finish(_ record: LawRecord) {}
}
