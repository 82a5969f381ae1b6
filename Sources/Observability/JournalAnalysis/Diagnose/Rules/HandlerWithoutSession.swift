// SPDX-License-Identifier: Apache-2.0

import Messages

/// An extension has a handler for the events of background sessions, has provided its timeline, is idle, and has never
/// created a session.
struct HandlerWithoutSession: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "handler-without-session", severity: .note, title: "an events handler that is never called",
    rule:
      "The handler is only called when transfers of a background session have ended: not when the widget is shown, "
      + "and not when a reload is due. If the only download is started in the handler, it is never started.",
    source: "documented: onBackgroundURLSessionEvents(matching:_:); ours: reported when the extension is suspended",
    advice:
      "Start the download where the widget needs it, in getTimeline or in the app's own session, and use the "
      + "handler for its end. A widget that has had nothing to download yet is correct.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let state = envelope.reading(ProcessState.self), state.state == "suspended" else { return [] }
    return record.unfedHandlers(of: state.address).map { kind in
      Sighting(
        owner: state.address, subject: record.provider(of: kind, in: state.address),
        what: "the extension has provided its timeline and is suspended, but never created a background session",
        evidence: [Evidence(envelope)])
    }
  }
}
