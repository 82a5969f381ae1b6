// SPDX-License-Identifier: Apache-2.0

import Messages

/// Events arrived, no handler matches the session, and the process has not created it.
struct EventsWithoutHandler: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "events-without-handler", severity: .error, title: "no handler matches the session of the events",
    rule:
      "A widget extension that created a background session is woken for its events through "
      + "onBackgroundURLSessionEvents (an app: handleEventsForBackgroundURLSession). When no handler matches the "
      + "identifier, the events are kept until the code creates the session for another reason.",
    source: "documented: onBackgroundURLSessionEvents(matching:_:); ours: the events are kept",
    advice: "Add the modifier to a widget of the bundle, and compare `matching` with the session's identifier.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let unclaimed = envelope.reading(SessionUnclaimed.self) else { return [] }
    let handling = record.instance(of: unclaimed.owner).handling[unclaimed.session]
    guard handling?.delivery != unclaimed.delivery else { return [] }
    return [
      Sighting(
        owner: unclaimed.owner, subject: "session \(unclaimed.session)",
        what: "the process was woken for the session's events, but none of its handlers matches the identifier",
        evidence: [Evidence(envelope)])
    ]
  }
}
