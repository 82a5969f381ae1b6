import Conversations

/// The handler was called in a life that has no session of the identifier, and makes none.
struct SessionNeverRecreated: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "session-never-recreated", severity: .error, title: "the events handler does not create the session again",
    rule:
      "A process that was launched for a session's events has no session object: its delegate is told nothing before the "
      + "code creates a URLSession of the same identifier. Until then the events stay, and what came is not seen.",
    source: "documented: background(withIdentifier:), Downloading files in the background; ours: that the events stay",
    advice:
      "Create the session in the handler, before it returns: touch the object that holds it, with the identifier that the "
      + "handler is given.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    if let expired = Expiry(envelope, record), !expired.hasSession {
      return [expired.sighting("until the time of the handler ran out no session of the identifier was made")]
    }
    guard let unclaimed = envelope.reading(SessionUnclaimed.self),
      let handling = record.life(of: unclaimed.owner).handling[unclaimed.session],
      handling.delivery == unclaimed.delivery
    else { return [] }
    return [
      Sighting(
        owner: unclaimed.owner, subject: "session \(unclaimed.session)",
        what: "the handler called its completion, and no session of the identifier was made: the events stay",
        evidence: [handling.called] + handling.completions + [Evidence(envelope)])
    ]
  }
}
