import Conversations

/// The time for the events of a session ran out, the author has made the session, and no completion was called.
struct CompletionNeverCalled: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "completion-never-called", severity: .error, title: "the completion of the events handler is never called",
    rule:
      "The handler of onBackgroundURLSessionEvents (an app: handleEventsForBackgroundURLSession) is handed a completion. "
      + "Until it is called the system counts the events as not handled: the process is evicted and gets them again.",
    source:
      "documented: onBackgroundURLSessionEvents(matching:_:), urlSessionDidFinishEvents(forBackgroundURLSession:); ours: "
      + "the time (settings completionDeadline, completionGrace)",
    advice:
      "Store the completion before the handler returns, and call it on the main thread in "
      + "urlSessionDidFinishEvents(forBackgroundURLSession:), in whichever order the two are called.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let expired = Expiry(envelope, record), expired.hasSession, expired.handling.completions.isEmpty else {
      return []
    }
    return [
      expired.sighting("the handler was called, and the time to handle the events ran out before its completion was")
    ]
  }
}

/// The handlers of a session's events, whose time ran out while completions were outstanding.
struct Expiry {
  let owner: Address
  let session: String
  let handling: DeviceRecord.Handling
  /// Whether this life of the owner has made the session, or may have before the journal that is read begins.
  let hasSession: Bool
  private let last: Evidence

  init?(_ envelope: Envelope, _ record: DeviceRecord) {
    guard let expired = envelope.reading(ExpireEvents.self) else { return nil }
    owner = envelope.header.destination
    session = expired.session
    let life = record.life(of: owner)
    guard let handling = life.handling[session], handling.outstanding > 0 else { return nil }
    self.handling = handling
    hasSession = life.sessions[session] != nil || !life.isWhole
    last = Evidence(envelope)
  }

  func sighting(_ what: String) -> Sighting {
    Sighting(
      owner: owner, subject: "session \(session)", what: what,
      evidence: [handling.called] + handling.completions + [last])
  }
}
