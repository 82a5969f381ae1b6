import Conversations

/// Of several handlers that match a session some have called their completion when the time ran out.
struct CompletionOfOneHandlerMissing: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "completion-of-one-handler-missing", severity: .error,
    title: "of several handlers that match, one never calls its completion",
    rule:
      "Every widget whose matching fits the session is called with a completion of its own, and the events count as "
      + "handled when all of them were called.",
    source: "ours: that all are needed (setting firstCompletionCounts); nobody says",
    advice:
      "Keep the completions in an array and call all of them, or give matching to one widget of the bundle alone.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let expired = Expiry(envelope, record), !expired.handling.completions.isEmpty else { return [] }
    let (outstanding, matching) = (expired.handling.outstanding, expired.handling.matching)
    return [expired.sighting("\(matching) handlers were called, and \(outstanding) of their completions was not")]
  }
}
