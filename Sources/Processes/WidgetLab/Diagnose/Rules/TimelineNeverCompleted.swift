import Conversations

/// The host gives a timeline up that its extension, which still lives, has not answered for.
struct TimelineNeverCompleted: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "get-timeline-never-completes", severity: .error, title: "getTimeline does not call its completion",
    rule:
      "A provider is asked for one timeline at a time, and has answered when it calls the completion. One that does not, on "
      + "any of its ways, keeps the last timeline on the screen, and is not asked again before something asks for it.",
    source: "documented: getTimeline(in:completion:); ours: the time (setting timelineDeadline)",
    advice:
      "Call the completion on every way out of getTimeline, the guard's else and the catch included: with the last content, "
      + "and a policy that asks again in a while.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let failed = envelope.reading(ReloadFailed.self), [.overran, .failed].contains(failed.failure),
      let owner = envelope.header.owner(of: failed.bundle),
      let asked = record.unanswered(failed, by: owner).map(\.asked).min(by: {
        $0.evidence.sequence < $1.evidence.sequence
      })
    else { return [] }
    return [
      Sighting(
        owner: owner, subject: record.provider(of: failed.widgetKind, in: owner),
        what: "the provider was asked for a timeline, and had called no completion when the host gave it up",
        evidence: [asked.evidence, Evidence(envelope)])
    ]
  }
}
