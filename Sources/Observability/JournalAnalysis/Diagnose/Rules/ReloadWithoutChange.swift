// SPDX-License-Identifier: Apache-2.0

import Messages

/// An author's code requests several consecutive timelines of a placement that all show the same.
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
    code: "reload-without-change", severity: .warning, title: "reloads that change nothing",
    rule:
      "A reload is paid for even when it changes nothing. A widget that is reloaded whenever its app comes to the "
      + "foreground, or after each synchronisation, has no budget left when there is new content.",
    source: "documented: Keeping a widget up to date (the budget); ours: 3 in a row are too many (--equal)",
    advice: "Compare the new content with the content that the widget shows, and reload only when it differs.")

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
    // Counting restarts.
    runs[place]?.evidence = []
    return [
      Sighting(
        owner: owner, subject: record.provider(of: stored.widgetKind, in: owner),
        what: "\(limit) consecutive timelines that the code requested were the same (placement \(stored.placement))",
        evidence: evidence)
    ]
  }
}
