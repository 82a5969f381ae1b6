import Conversations

/// What a provider gave is over a limit of the archive.
struct ArchiveTooLarge: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "archive-too-large", severity: .error, title: "what the provider gave is over a limit of the archive",
    rule:
      "The views of a timeline's entries are archived, and the archive is refused when one image, or all of it, is too "
      + "large: a placeholder stays, and on a device no word of it reaches the author.",
    source: "observed: images over 2,121,055 pixels on some devices; ours: the other limits",
    advice: "Scale images to the size in which they are shown before they reach the view, and give fewer entries.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    guard header.kind == RequestTimeline.kind.answered(.failed), let cause = header.cause,
      let asked = record.life(of: header.source).asked[cause],
      let error = try? BodyCoding.decode(BusError.self, from: envelope.body), error.code == .archiveTooLarge
    else { return [] }
    return [
      Sighting(
        owner: header.source, subject: record.provider(of: asked.request.widgetKind, in: header.source),
        what: error.message, evidence: [asked.evidence, Evidence(envelope)])
    ]
  }
}
