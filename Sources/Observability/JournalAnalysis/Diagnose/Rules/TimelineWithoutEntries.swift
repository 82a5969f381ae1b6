// SPDX-License-Identifier: Apache-2.0

import Messages

/// A provider returns a timeline without entries.
struct TimelineWithoutEntries: DiagnosticRule {
  /// The shape of a reply, without its views.
  private struct Answer: Decodable {
    struct Entry: Decodable {}
    let entries: [Entry]
    let omitted: Int
    let file: String?
  }

  let description = DiagnosisDescription(
    code: "timeline-without-entries", severity: .error, title: "a timeline without entries",
    rule: "There is nothing to show: the last timeline stays, or the placeholder if there was none.",
    source: "documented: Timeline, \"one or more\" entries; ours: the last one stays",
    advice: "Provide at least one entry: the last known content, or a text that there is nothing yet.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    guard header.kind == RequestTimeline.kind.answered(.ok), let cause = header.cause,
      let asked = record.instance(of: header.source).asked[cause], asked.request.purpose == .timeline,
      let answer = try? BodyCoding.decode(Answer.self, from: envelope.body), answer.entries.isEmpty,
      answer.file == nil, answer.omitted == 0
    else { return [] }
    return [
      Sighting(
        owner: header.source, subject: record.provider(of: asked.request.widgetKind, in: header.source),
        what: "the provider returned a timeline without entries", evidence: [asked.evidence, Evidence(envelope)])
    ]
  }
}
