import Conversations

/// A task is begun between the call of the handler and its completion, and no provider is being asked meanwhile, whose own
/// it might be.
struct DownloadInEventsHandler: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "download-in-events-handler", severity: .warning, title: "a download is begun inside the events handler",
    rule:
      "The handler is called when transfers have ended. One that begins the next there is a chain of a task for each wake, "
      + "and each wake doubles the time that a task begun in the background waits: it looks dead after a few.",
    source:
      "documented: Downloading files in the background (the delay); observed: 60 s, 120 s, 240 s … (settings limiterFirst, "
      + "limiterMax)",
    advice:
      "Begin all downloads where they are first needed, in getTimeline or in the app, in one session: they come in one "
      + "wake. In the handler create the session and take what has come.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let create = envelope.reading(CreateTransfer.self), envelope.header.attempt == 0 else { return [] }
    let owner = envelope.header.source
    let life = record.life(of: owner)
    guard life.asked.isEmpty else { return [] }
    let open = life.handling.filter { $0.value.outstanding > 0 }.sorted { $0.key < $1.key }
    return open.prefix(1).map { session, handling in
      Sighting(
        owner: owner, subject: "session \(create.session)",
        what: "task \(create.taskIdentifier) was begun while the events of session \(session) were handled",
        evidence: [handling.called, Evidence(envelope)])
    }
  }
}
