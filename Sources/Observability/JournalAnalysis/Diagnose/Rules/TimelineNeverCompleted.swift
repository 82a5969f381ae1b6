// SPDX-License-Identifier: Apache-2.0

import Messages

/// The host gives up on a timeline that its extension, which is still running, has not provided.
struct TimelineNeverCompleted: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "get-timeline-never-completes", severity: .error, title: "getTimeline does not call its completion handler",
    rule:
      "A provider handles one timeline request at a time, until it calls the completion handler. When a code path "
      + "does not call it, the last timeline stays on the screen, and the provider is only called again at the next "
      + "reload.",
    source: "documented: getTimeline(in:completion:); ours: the deadline (setting timelineDeadline)",
    advice:
      "Call the completion handler on every code path of getTimeline, including guard-else and catch: with the last "
      + "content, and a policy that retries after a while.")

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
        what: "the provider was asked for a timeline, but had not called its completion handler at the deadline",
        evidence: [asked.evidence, Evidence(envelope)])
    ]
  }
}
