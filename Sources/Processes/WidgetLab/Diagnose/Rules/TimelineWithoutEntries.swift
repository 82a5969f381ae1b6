import Conversations

/// A provider answers with a timeline of no entries.
struct TimelineWithoutEntries: DiagnosticRule {
  /// The shape of an answer, without the views in it.
  private struct Answer: Decodable {
    struct Entry: Decodable {}
    let entries: [Entry]
    let omitted: Int
    let file: String?
  }

  let description = DiagnosisDescription(
    code: "timeline-without-entries", severity: .error, title: "a timeline without entries",
    rule: "There is nothing to show in it: the last timeline stays, or the placeholder where there was none.",
    source: "documented: Timeline, \"one or more\" entries; ours: that the last one stays",
    advice: "Give at least one entry: the last content that is known, or one that says that there is nothing yet.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    guard header.kind == RequestTimeline.kind.answered(.ok), let cause = header.cause,
      let asked = record.life(of: header.source).asked[cause], asked.request.purpose == .timeline,
      let answer = try? BodyCoding.decode(Answer.self, from: envelope.body), answer.entries.isEmpty,
      answer.file == nil, answer.omitted == 0
    else { return [] }
    return [
      Sighting(
        owner: header.source, subject: record.provider(of: asked.request.widgetKind, in: header.source),
        what: "the provider gave a timeline without entries", evidence: [asked.evidence, Evidence(envelope)])
    ]
  }
}
