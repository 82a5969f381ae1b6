import Conversations

/// Events came, no handler matches the session, and the process has not made it.
struct EventsWithoutHandler: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "events-without-handler", severity: .error, title: "no handler matches the session whose events came",
    rule:
      "A widget extension that made a background session is woken for its events through onBackgroundURLSessionEvents (an "
      + "app: handleEventsForBackgroundURLSession). Where nothing matches the identifier, the events stay until the code "
      + "makes the session for another reason.",
    source: "documented: onBackgroundURLSessionEvents(matching:_:); ours: that the events stay",
    advice: "Add the modifier to a widget of the bundle, and compare `matching` with the session's identifier.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let unclaimed = envelope.reading(SessionUnclaimed.self) else { return [] }
    let handling = record.life(of: unclaimed.owner).handling[unclaimed.session]
    guard handling?.delivery != unclaimed.delivery else { return [] }
    return [
      Sighting(
        owner: unclaimed.owner, subject: "session \(unclaimed.session)",
        what: "the process was woken for the session's events, and none of its handlers matches the identifier",
        evidence: [Evidence(envelope)])
    ]
  }
}
