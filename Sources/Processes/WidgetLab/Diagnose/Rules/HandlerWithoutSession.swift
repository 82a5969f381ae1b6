import Conversations

/// An extension has a handler for the events of background sessions, has given its timeline, has nothing left to do, and has
/// never made a session.
struct HandlerWithoutSession: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "handler-without-session", severity: .note, title: "an events handler that nothing can ever call",
    rule:
      "The handler is called when transfers of a background session have ended, and for nothing else: neither when the "
      + "widget is seen nor when it is due. Where the only download is begun in the handler, it is never begun.",
    source: "documented: onBackgroundURLSessionEvents(matching:_:); ours: said when the extension is suspended",
    advice:
      "Begin the download where the widget needs it, in getTimeline or in the app's own session, and keep the handler for "
      + "its end. A widget that has had nothing to download yet is right as it is.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let state = envelope.reading(ProcessState.self), state.state == "suspended" else { return [] }
    return record.unfedHandlers(of: state.address).map { kind in
      Sighting(
        owner: state.address, subject: record.provider(of: kind, in: state.address),
        what: "the extension has given its timeline and sleeps, and no background session of it was ever made",
        evidence: [Evidence(envelope)])
    }
  }
}
