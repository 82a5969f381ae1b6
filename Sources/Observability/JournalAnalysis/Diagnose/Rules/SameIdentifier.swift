// SPDX-License-Identifier: Apache-2.0

import Messages

/// The host rejects a session that another running process of the app has open.
struct SameIdentifier: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "same-identifier", severity: .error, title: "app and extension use the same session identifier",
    rule:
      "Only one process at a time can be connected to a background session. The second session is invalid with -996 "
      + "(backgroundSessionInUseByAnotherProcess), and its tasks fail.",
    source: "documented: Performing network tasks in a short-lived extension",
    advice: "Derive the identifier from Bundle.main.bundleIdentifier, which differs between app and extension.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    if let taken = envelope.reading(SessionTaken.self), header.attempt == 0 {
      return [
        Sighting(
          owner: header.destination, subject: "session \(taken.session)",
          what: "the session became invalid: \(taken.holder.short) opened it while the process was suspended",
          evidence: [Evidence(envelope)])
      ]
    }
    guard header.kind == OpenSession.kind.answered(.failed),
      let error = try? BodyCoding.decode(BusError.self, from: envelope.body), error.code == .sessionInUse,
      let opening = record.opening(answeredBy: header)
    else { return [] }
    let holder = record.holder(of: opening.identifier, except: header.destination)
    let other = holder.map { "\($0.owner.short) has it open" } ?? "another process has it open"
    return [
      Sighting(
        owner: header.destination, subject: "session \(opening.identifier)", what: "the session was rejected: \(other)",
        evidence: [holder?.opened].compactMap(\.self) + [opening.evidence, Evidence(envelope)])
    ]
  }
}
