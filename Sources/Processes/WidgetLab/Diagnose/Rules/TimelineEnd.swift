import Conversations
import Foundation

/// When a timeline that was stored wants the next one, seen from the instant at which it was stored.
struct TimelineEnd {
  let owner: Address
  let stored: TimelineStored
  /// Device seconds from then on; negative when it lies in the past.
  let seconds: Double
  /// How old an end may be, device seconds, and count as one that is now.
  let slack: Double

  /// `nil` for a timeline that wants none, and for one entry that is shown for ever.
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
    // What was said a second ago may be hours old where the clock runs fast.
    slack = thresholds.pastSeconds + max(0, record.rate(on: device) - 1)
  }

  var isPast: Bool { seconds < -slack }
}

/// A timeline is over when it comes.
struct TimelineInThePast: DiagnosticRule {
  private let thresholds: DiagnosticThresholds
  init(_ thresholds: DiagnosticThresholds) { self.thresholds = thresholds }

  let description = DiagnosisDescription(
    code: "timeline-in-the-past", severity: .warning, title: "a timeline that ends in the past",
    rule:
      "An entry is shown from its date on. Of a timeline whose dates are all over only the last entry is ever seen, and "
      + "with atEnd, or after a date that has passed, the next one is wanted at once: the budget is spent on nothing.",
    source: "documented: TimelineReloadPolicy, TimelineEntry.date; ours: that a minute is no past (--past)",
    advice:
      "Count the dates from Date(), not from the start of a day, the data's own time or a constant; drop those that are "
      + "over, and look at the time zone.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let end = TimelineEnd(envelope, record, thresholds), end.isPast else { return [] }
    let age = Amount.text(seconds: -end.seconds)
    return [
      Sighting(
        owner: end.owner, subject: record.provider(of: end.stored.widgetKind, in: end.owner),
        what: "a timeline with \(end.stored.policy.words) had ended \(age) before it was stored",
        evidence: [Evidence(envelope)])
    ]
  }
}

/// A timeline wants the next one sooner than a day's budget can pay, day after day.
struct UnpayableInterval: DiagnosticRule {
  private let thresholds: DiagnosticThresholds
  init(_ thresholds: DiagnosticThresholds) { self.thresholds = thresholds }

  let description = DiagnosisDescription(
    code: "interval-that-no-budget-pays", severity: .warning,
    title: "a reload policy that asks for more than a budget pays",
    rule:
      "A widget that is looked at often has 40 to 70 reloads a day: one in 20 to 36 minutes. Who asks for more has them "
      + "late, and none left when there is news. `after` and `atEnd` are wishes.",
    source: "documented: Keeping a widget up to date; ours: that more than 70 a day is too many (--reloads-per-day)",
    advice:
      "Put what is known in advance into one timeline of many entries, let Text(_:style:) count by itself, ask for the next "
      + "timeline when there will be news, and have a push or the app say when it comes unforeseen.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let end = TimelineEnd(envelope, record, thresholds), !end.isPast, end.stored.policy != .never,
      end.seconds < 86_400 / thresholds.reloadsPerDay
    else { return [] }
    let interval = max(0, end.seconds)
    let pace =
      interval < 1
      ? "at once" : "after \(Amount.text(seconds: interval)), \(Int(86_400 / interval)) times a day at this pace"
    return [
      Sighting(
        owner: end.owner, subject: record.provider(of: end.stored.widgetKind, in: end.owner),
        what: "a timeline with \(end.stored.policy.words) wants the next one \(pace)", evidence: [Evidence(envelope)])
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
