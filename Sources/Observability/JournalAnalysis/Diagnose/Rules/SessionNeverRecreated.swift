// SPDX-License-Identifier: Apache-2.0

import Messages

/// The handler was called in a process instance that has no session with the identifier and does not create one.
struct SessionNeverRecreated: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "session-never-recreated", severity: .error, title: "the events handler does not recreate the session",
    rule:
      "A process that was launched for a session's events has no session object: its delegate is not called before "
      + "the code creates a URLSession with the same identifier. Until then the events are kept.",
    source: "documented: background(withIdentifier:), Downloading files in the background; ours: the events are kept",
    advice:
      "Create the session in the handler, before it returns: access the object that holds the session, using the "
      + "identifier that the handler receives.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    if let expired = Expiry(envelope, record), !expired.hasSession {
      return [expired.sighting("no session with the identifier was created before the handler's deadline")]
    }
    guard let unclaimed = envelope.reading(SessionUnclaimed.self),
      let handling = record.instance(of: unclaimed.owner).handling[unclaimed.session],
      handling.delivery == unclaimed.delivery
    else { return [] }
    return [
      Sighting(
        owner: unclaimed.owner, subject: "session \(unclaimed.session)",
        what: "the completion handler was called, but no session with the identifier was created: the events are kept",
        evidence: [handling.called] + handling.completions + [Evidence(envelope)])
    ]
  }
}
