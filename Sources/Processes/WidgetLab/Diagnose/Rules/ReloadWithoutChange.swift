import Conversations

/// An author's code asks for one timeline after the other of a placement, and they all show the same.
struct ReloadWithoutChange: DiagnosticRule {
  private struct Place: Hashable {
    let owner: Address
    let kind: String
    let placement: Int
  }

  private struct Run {
    let digest: String
    var evidence: [Evidence]
  }

  private let limit: Int
  init(_ thresholds: DiagnosticThresholds) { limit = max(2, thresholds.equalTimelines) }

  let description = DiagnosisDescription(
    code: "reload-without-change", severity: .warning, title: "placements are reloaded, and show the same as before",
    rule:
      "A reload is paid whether or not it changes anything. A widget that is reloaded whenever its app comes to the front, "
      + "or after each synchronisation, has no budget left when there is news.",
    source: "documented: Keeping a widget up to date (the budget); ours: that 3 in a row are too many (--equal)",
    advice: "Compare what the widget shows with what it showed last, and reload only when it is something else.")

  private var runs: [Place: Run] = [:]

  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let stored = envelope.reading(TimelineStored.self), !stored.digest.isEmpty,
      let owner = envelope.header.owner(of: stored.bundle)
    else { return [] }
    let place = Place(owner: owner, kind: stored.widgetKind, placement: stored.placement)
    let isAuthors = [.app, .extension, .push].contains(stored.because)
    guard let run = runs[place], run.digest == stored.digest else {
      runs[place] = Run(digest: stored.digest, evidence: isAuthors ? [Evidence(envelope)] : [])
      return []
    }
    guard isAuthors else { return [] }
    runs[place]?.evidence.append(Evidence(envelope))
    guard let evidence = runs[place]?.evidence, evidence.count == limit else { return [] }
    // The next ones begin anew.
    runs[place]?.evidence = []
    return [
      Sighting(
        owner: owner, subject: record.provider(of: stored.widgetKind, in: owner),
        what: "\(limit) timelines in a row that the code asked for were the same (placement \(stored.placement))",
        evidence: evidence)
    ]
  }
}
