// SPDX-License-Identifier: Apache-2.0

import Messages

/// A provider's content exceeds a limit of the archive.
struct ArchiveTooLarge: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "archive-too-large", severity: .error, title: "the provider's content exceeds a limit of the archive",
    rule:
      "The views of a timeline's entries are archived. The archive is rejected when one image, or the whole "
      + "archive, is too large: a placeholder stays, and on a device the author gets no error.",
    source: "observed: images over 2,121,055 pixels on some devices; ours: the other limits",
    advice: "Scale images to their displayed size before they reach the view, and provide fewer entries.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    guard header.kind == RequestTimeline.kind.answered(.failed), let cause = header.cause,
      let asked = record.instance(of: header.source).asked[cause],
      let error = try? BodyCoding.decode(BusError.self, from: envelope.body), error.code == .archiveTooLarge
    else { return [] }
    return [
      Sighting(
        owner: header.source, subject: record.provider(of: asked.request.widgetKind, in: header.source),
        what: error.message, evidence: [asked.evidence, Evidence(envelope)])
    ]
  }
}
