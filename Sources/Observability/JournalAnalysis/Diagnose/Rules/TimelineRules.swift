// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// When a stored timeline wants the next reload, relative to the time at which it was stored.
struct TimelineEnd {
  let owner: Address
  let storedTimeline: TimelineStored
  /// Device seconds; negative when it is in the past.
  let seconds: Double
  /// How long ago, in device seconds, an end may be and still count as now.
  let slack: Double

  /// Returns `nil` for a timeline that wants no reload, and for one entry that is shown permanently.
  init?(_ envelope: Envelope, record: DeviceRecord, thresholds: DiagnosticThresholds) {
    guard let storedTimeline = envelope.reading(TimelineStored.self),
      let owner = envelope.header.owner(of: storedTimeline.bundle)
    else { return nil }
    let end: Date
    switch storedTimeline.policy {
    case .atEnd: end = storedTimeline.last
    case .after(let date): end = date
    case .never where storedTimeline.entries > 1: end = storedTimeline.last
    case .never: return nil
    }
    self.owner = owner
    self.storedTimeline = storedTimeline
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
    guard let end = TimelineEnd(envelope, record: record, thresholds: thresholds), end.isPast else { return [] }
    let age = Amount.text(seconds: -end.seconds)
    return [
      Sighting(
        owner: end.owner, subject: record.provider(of: end.storedTimeline.widgetKind, in: end.owner),
        what: "a timeline with \(end.storedTimeline.policy.words) ended \(age) before it was stored",
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
    guard let end = TimelineEnd(envelope, record: record, thresholds: thresholds), !end.isPast,
      end.storedTimeline.policy != .never,
      end.seconds < 86_400 / thresholds.reloadsPerDay
    else { return [] }
    let interval = max(0, end.seconds)
    let pace =
      interval < 1
      ? "at once"
      : "after \(Amount.text(seconds: interval)), \(Int(saturating: 86_400 / interval)) times a day at this rate"
    return [
      Sighting(
        owner: end.owner, subject: record.provider(of: end.storedTimeline.widgetKind, in: end.owner),
        what: "a timeline with \(end.storedTimeline.policy.words) wants the next \(pace)",
        evidence: [Evidence(envelope)])
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

/// The host gives up on a timeline that its extension, which is still running, has not provided.
struct TimelineNeverCompleted: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "get-timeline-never-completes", severity: .error, title: "getTimeline does not call its completion handler",
    rule:
      "A provider handles one timeline request at a time, until it calls the completion handler. When a code path "
      + "does not call it, the last timeline stays on the screen, and the provider is only called again at the next "
      + "reload.",
    source: "documented: getTimeline(in:completion:); ours: the deadline (setting timelineDeadline)",
    advice:
      "Call the completion handler on every code path of getTimeline, including guard-else and catch: with the last "
      + "content, and a policy that retries after a while.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let failed = envelope.reading(ReloadFailed.self), [.overran, .failed].contains(failed.failure),
      let owner = envelope.header.owner(of: failed.bundle),
      let askedRequest = record.unanswered(failed, by: owner).map(\.asked).min(by: {
        $0.evidence.sequence < $1.evidence.sequence
      })
    else { return [] }
    return [
      Sighting(
        owner: owner, subject: record.provider(of: failed.widgetKind, in: owner),
        what: "the provider was asked for a timeline, but had not called its completion handler at the deadline",
        evidence: [askedRequest.evidence, Evidence(envelope)])
    ]
  }
}

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
      let askedRequest = record.instance(of: header.source).askedRequests[cause],
      askedRequest.request.purpose == .timeline,
      let answer = try? BodyCoding.decode(Answer.self, from: envelope.body), answer.entries.isEmpty,
      answer.file == nil, answer.omitted == 0
    else { return [] }
    return [
      Sighting(
        owner: header.source, subject: record.provider(of: askedRequest.request.widgetKind, in: header.source),
        what: "the provider returned a timeline without entries", evidence: [askedRequest.evidence, Evidence(envelope)])
    ]
  }
}

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
      let askedRequest = record.instance(of: header.source).askedRequests[cause],
      let error = try? BodyCoding.decode(BusError.self, from: envelope.body), error.code == .archiveTooLarge
    else { return [] }
    return [
      Sighting(
        owner: header.source, subject: record.provider(of: askedRequest.request.widgetKind, in: header.source),
        what: error.message, evidence: [askedRequest.evidence, Evidence(envelope)])
    ]
  }
}
