// SPDX-License-Identifier: Apache-2.0

import Messages

/// Several handlers match a session, and only some had called their completion handler at the deadline.
struct CompletionOfOneHandlerMissing: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "completion-of-one-handler-missing", severity: .error,
    title: "one of several matching handlers never calls its completion handler",
    rule:
      "Every widget whose matching fits the session is called with its own completion handler. The events are "
      + "acknowledged when all of them were called.",
    source: "ours: all are required (setting firstCompletionCounts); undocumented",
    advice:
      "Store all completion handlers in an array and call each, or use matching in only one widget of the bundle.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let expired = Expiry(envelope, record), !expired.handling.completions.isEmpty else { return [] }
    let (outstanding, matching) = (expired.handling.outstanding, expired.handling.matching)
    return [expired.sighting("\(matching) handlers were called, but \(outstanding) of their completion handlers not")]
  }
}
