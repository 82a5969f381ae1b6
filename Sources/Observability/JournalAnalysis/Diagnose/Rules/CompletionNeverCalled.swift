// SPDX-License-Identifier: Apache-2.0

import Messages

/// The deadline for a session's events passed, the author's code has created the session, and no completion handler was
/// called.
struct CompletionNeverCalled: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "completion-never-called", severity: .error, title: "the events' completion handler is never called",
    rule:
      "The handler of onBackgroundURLSessionEvents (in an app: handleEventsForBackgroundURLSession) receives a "
      + "completion handler. Until it is called, the events are not acknowledged: the process is evicted and receives "
      + "them again.",
    source:
      "documented: onBackgroundURLSessionEvents(matching:_:), urlSessionDidFinishEvents(forBackgroundURLSession:); ours: "
      + "the deadline (settings completionDeadline, completionGrace)",
    advice:
      "Store the completion handler before the handler returns, and call it on the main thread in "
      + "urlSessionDidFinishEvents(forBackgroundURLSession:). The two may be called in either order.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let expired = Expiry(envelope, record), expired.hasSession, expired.handling.completions.isEmpty else {
      return []
    }
    return [
      expired.sighting("the handler was called, but its completion handler was not called before the deadline")
    ]
  }
}

/// The deadline of a session's events, with outstanding completion handlers.
struct Expiry {
  let owner: Address
  let session: String
  let handling: DeviceRecord.Handling
  /// Whether this instance of the owner has created the session, or may have created it before the journal begins.
  let hasSession: Bool
  private let last: Evidence

  init?(_ envelope: Envelope, _ record: DeviceRecord) {
    guard let expired = envelope.reading(ExpireEvents.self) else { return nil }
    owner = envelope.header.destination
    session = expired.session
    let instance = record.instance(of: owner)
    guard let handling = instance.handling[session], handling.outstanding > 0 else { return nil }
    self.handling = handling
    hasSession = instance.sessions[session] != nil || !instance.isWhole
    last = Evidence(envelope)
  }

  func sighting(_ what: String) -> Sighting {
    Sighting(
      owner: owner, subject: "session \(session)", what: what,
      evidence: [handling.called] + handling.completions + [last])
  }
}
