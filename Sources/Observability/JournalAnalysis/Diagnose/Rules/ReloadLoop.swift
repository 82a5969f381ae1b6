// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// A process requests reloads of one kind repeatedly within a short time.
struct ReloadLoop: DiagnosticRule {
  /// A process and the kind that it reloads.
  private struct Caller: Hashable {
    let source: Address
    let kind: String?
  }

  private let thresholds: DiagnosticThresholds
  init(_ thresholds: DiagnosticThresholds) { self.thresholds = thresholds }

  let description = DiagnosisDescription(
    code: "reload-loop", severity: .warning, title: "reloads in a loop",
    rule:
      "Each reload that is not exempt is paid for from the widget's budget, also for an app in the background. Several "
      + "reloads in a row show what a single one would have shown.",
    source: "documented: Keeping a widget up to date; ours: 6 within a minute are a loop (--loop)",
    advice: "Reload once, after all changes have been written, and only the kinds that show them.")

  private var recent: [Caller: [Evidence]] = [:]
  private var times: [Caller: [Timestamp]] = [:]

  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    guard [.app, .widgetExtension].contains(header.source.role), header.attempt == 0,
      let reload = envelope.reading(ReloadTimelines.self)
    else { return [] }
    let caller = Caller(source: header.source, kind: reload.widgetKind)
    let limit = max(1, thresholds.loopCount)
    recent[caller] = (recent[caller] ?? []).suffix(limit - 1) + [Evidence(envelope)]
    times[caller] = (times[caller] ?? []).suffix(limit - 1) + [header.sentAt]
    guard let evidence = recent[caller], evidence.count == limit, let first = times[caller]?.first else { return [] }
    let seconds = abs(header.sentAt.date.timeIntervalSince(first.date))
    guard seconds <= thresholds.loopSeconds else { return [] }
    // The next loop starts from zero.
    (recent[caller], times[caller]) = (nil, nil)
    return [
      Sighting(
        owner: header.source, subject: reload.widgetKind.map { "kind \($0)" } ?? "all kinds",
        what: "\(limit) reloads were requested within \(Amount.text(seconds: seconds))", evidence: evidence)
    ]
  }
}
