// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// When a stored timeline wants the next reload, relative to the time at which it was stored.
struct TimelineEnd {
  let owner: Address
  let stored: TimelineStored
  /// Device seconds; negative when it is in the past.
  let seconds: Double
  /// How long ago, in device seconds, an end may be and still count as now.
  let slack: Double

  /// Returns `nil` for a timeline that wants no reload, and for one entry that is shown permanently.
  init?(_ envelope: Envelope, _ record: DeviceRecord, _ thresholds: DiagnosticThresholds) {
    guard let stored = envelope.reading(TimelineStored.self),
      let owner = envelope.header.owner(of: stored.bundle)
    else { return nil }
    let end: Date
    switch stored.policy {
    case .atEnd: end = stored.last
    case .after(let date): end = date
    case .never where stored.entries > 1: end = stored.last
    case .never: return nil
    }
    self.owner = owner
    self.stored = stored
    let device = envelope.header.source.device
    seconds = end.timeIntervalSince(record.date(on: device, at: envelope.header.sentAt))
    // With a fast clock, a message that was sent a second ago may be hours old in device time.
    slack = thresholds.pastSeconds + max(0, record.rate(on: device) - 1)
  }

  var isPast: Bool { seconds < -slack }
}

/// A timeline has already ended when it arrives.
struct TimelineInThePast: DiagnosticRule {
  private let thresholds: DiagnosticThresholds
  init(_ thresholds: DiagnosticThresholds) { self.thresholds = thresholds }

  let description = DiagnosisDescription(
    code: "timeline-in-the-past", severity: .warning, title: "a timeline that ends in the past",
    rule:
      "An entry is shown from its date on. When all dates of a timeline have passed, only the last entry is shown, "
      + "and with atEnd, or after a date in the past, the next reload is wanted at once: the budget is wasted.",
    source: "documented: TimelineReloadPolicy, TimelineEntry.date; ours: the tolerance of one minute (--past)",
    advice:
      "Compute dates from Date(), not from the start of a day, the data's own time or a constant; drop entries that "
      + "have passed, and check the time zone.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let end = TimelineEnd(envelope, record, thresholds), end.isPast else { return [] }
    let age = Amount.text(seconds: -end.seconds)
    return [
      Sighting(
        owner: end.owner, subject: record.provider(of: end.stored.widgetKind, in: end.owner),
        what: "a timeline with \(end.stored.policy.words) ended \(age) before it was stored",
        evidence: [Evidence(envelope)])
    ]
  }
}

/// A timeline's policy repeatedly requests reloads faster than a day's budget can pay for.
struct UnpayableInterval: DiagnosticRule {
  private let thresholds: DiagnosticThresholds
  init(_ thresholds: DiagnosticThresholds) { self.thresholds = thresholds }

  let description = DiagnosisDescription(
    code: "interval-that-no-budget-pays", severity: .warning,
    title: "a reload policy that exceeds the budget",
    rule:
      "A frequently viewed widget has 40 to 70 reloads a day: one per 20 to 36 minutes. More frequent reloads are "
      + "delayed, and none is left when there is new content. `after` and `atEnd` are only requests.",
    source: "documented: Keeping a widget up to date; ours: more than 70 a day are too many (--reloads-per-day)",
    advice:
      "Put all known content into one timeline with many entries, use Text(_:style:) for counters, request the next "
      + "timeline when new content is expected, and use a push or the app for unexpected content.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let end = TimelineEnd(envelope, record, thresholds), !end.isPast, end.stored.policy != .never,
      end.seconds < 86_400 / thresholds.reloadsPerDay
    else { return [] }
    let interval = max(0, end.seconds)
    let pace =
      interval < 1
      ? "at once"
      : "after \(Amount.text(seconds: interval)), \(Int(saturating: 86_400 / interval)) times a day at this rate"
    return [
      Sighting(
        owner: end.owner, subject: record.provider(of: end.stored.widgetKind, in: end.owner),
        what: "a timeline with \(end.stored.policy.words) wants the next \(pace)", evidence: [Evidence(envelope)])
    ]
  }
}

extension ReloadPolicy {
  fileprivate var words: String {
    switch self {
    case .atEnd: "the policy atEnd"
    case .after(let date): "the policy after \(Amount.text(date))"
    case .never: "several entries and the policy never"
    }
  }
}
