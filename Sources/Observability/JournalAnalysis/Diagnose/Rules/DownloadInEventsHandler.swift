// SPDX-License-Identifier: Apache-2.0

import Messages

/// A task is created between the call of the handler and its completion handler, and no provider request is open that
/// could have created it.
struct DownloadInEventsHandler: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "download-in-events-handler", severity: .warning, title: "a download is started in the events handler",
    rule:
      "The handler is called when transfers have ended. Starting the next transfer there makes a chain of one task "
      + "per wake, and each wake doubles the delay of tasks that are started in the background. After a few, "
      + "downloads seem to hang.",
    source:
      "documented: Downloading files in the background (the delay); observed: 60 s, 120 s, 240 s … (settings limiterFirst, "
      + "limiterMax)",
    advice:
      "Start all downloads where they are first needed, in getTimeline or in the app, in one session: they end in "
      + "one wake. In the handler, only create the session and handle the results.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let create = envelope.reading(CreateTransfer.self), envelope.header.attempt == 0 else { return [] }
    let owner = envelope.header.source
    let instance = record.instance(of: owner)
    guard instance.asked.isEmpty else { return [] }
    let open = instance.handling.filter { $0.value.outstanding > 0 }.sorted { $0.key < $1.key }
    return open.prefix(1).map { session, handling in
      Sighting(
        owner: owner, subject: "session \(create.session)",
        what: "task \(create.taskIdentifier) was started while the events of session \(session) were handled",
        evidence: [handling.called, Evidence(envelope)])
    }
  }
}
