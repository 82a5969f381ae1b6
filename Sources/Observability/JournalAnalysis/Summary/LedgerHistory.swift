// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// The decisions of the budget, from the journal.
package struct LedgerHistory: Sendable {
  /// One decision with its message.
  package struct Line: Encodable, Sendable {
    package let number: Int
    package let reload: Int
    package let placement: Int
    /// The device's time, in seconds since 1970.
    package let date: Double
    package let because: String
    package let verdict: String
    package let rule: String
    package let balance: Double
    package let text: String
    package let sequence: UInt64
    /// The message that requested the reload, if it is known.
    package let asked: UInt64?
    package let until: Double?

    private enum CodingKeys: String, CodingKey {
      case number, reload, placement, date, because, verdict, rule, balance, text, sequence
    }
  }

  private static let limit = 5000
  private static let days = 7.0
  private static let askedLimit = 4096

  private var all: [Line] = []
  private var askedSequences: [UUID: UInt64] = [:]
  private var askedOrder: [UUID] = []

  init() {}

  /// The decisions of the last seven days, oldest first.
  package var lines: [Line] {
    guard let newest = all.map(\.date).max() else { return [] }
    let oldest = newest - Self.days * 86_400
    return all.filter { $0.date >= oldest }
  }

  /// The decisions on one reload.
  package func lines(ofReload reload: Int) -> [Line] { all.filter { $0.reload == reload } }

  /// The last decision on a placement.
  package func last(ofPlacement placement: Int) -> Line? { all.last { $0.placement == placement } }

  mutating func handle(_ envelope: Envelope) {
    let header = envelope.header
    if header.kind == ReloadTimelines.kind {
      if askedSequences.updateValue(header.sequence, forKey: header.id) == nil { askedOrder.append(header.id) }
      if askedOrder.count > Self.askedLimit { askedSequences[askedOrder.removeFirst()] = nil }
    }
    guard let entry = envelope.reading(BudgetDecided.self)?.entry else { return }
    all.append(
      Line(
        number: entry.number, reload: entry.reload, placement: entry.placement, date: entry.date.timeIntervalSince1970,
        because: entry.because.rawValue, verdict: entry.verdict.rawValue, rule: entry.rule, balance: entry.balance,
        text: entry.text, sequence: header.sequence, asked: header.cause.flatMap { askedSequences[$0] },
        until: entry.until?.timeIntervalSince1970))
    if all.count > Self.limit + 500 { all.removeFirst(500) }
  }
}

/// One reload, from the journal.
package struct ReloadHistory: Encodable, Sendable {
  let reload: Int
  let placement: Int
  let widgetKind: String
  let because: ReloadCause
  /// The address of the process that requested it, if any.
  var asker: String?
  /// The budget's decisions, in order.
  var lines: [LedgerEntry]
  /// The result, as text.
  var outcome: String

  /// Returns `nil` when the journal does not contain it.
  package init?<Envelopes: Sequence<Envelope>>(_ reload: Int, in envelopes: Envelopes) {
    var lines: [LedgerEntry] = []
    var askedAddresses: [UUID: Address] = [:]
    var asker: Address?
    var isAllowed = false
    var isAsking = false
    var outcome: String?
    for envelope in envelopes {
      switch envelope.header.kind {
      case ReloadTimelines.kind: askedAddresses[envelope.header.id] = envelope.header.source
      case BudgetDecided.kind:
        guard let line = envelope.reading(BudgetDecided.self)?.entry, line.reload == reload else { continue }
        lines.append(line)
        asker = asker ?? envelope.header.cause.flatMap { askedAddresses[$0] }
        isAllowed = line.verdict == .granted || line.verdict == .free
        (isAsking, outcome) = (false, nil)
      case RequestTimeline.kind where isAllowed:
        let request = envelope.reading(RequestTimeline.self)
        if request?.placement == lines.last?.placement, request?.purpose == .timeline { isAsking = true }
      case TimelineStored.kind where isAsking && outcome == nil:
        guard let storedTimeline = envelope.reading(TimelineStored.self),
          storedTimeline.placement == lines.last?.placement
        else {
          continue
        }
        let entries = "\(storedTimeline.entries) \(storedTimeline.entries == 1 ? "entry" : "entries")"
        outcome = "a timeline of \(entries), \(storedTimeline.bytes) bytes"
      case ReloadFailed.kind where isAsking && outcome == nil:
        guard let failed = envelope.reading(ReloadFailed.self), failed.placement == lines.last?.placement else {
          continue
        }
        let next = failed.nextTry.map { ", retry at \(Amount.text($0))" } ?? ""
        outcome = "failed: \(failed.reason)\(next)"
      default: continue
      }
    }
    guard let last = lines.last else { return nil }
    self.reload = reload
    placement = last.placement
    widgetKind = last.widgetKind
    because = last.because
    self.asker = asker?.short
    self.lines = lines
    self.outcome = outcome ?? Self.pending(last, isAsking: isAsking)
  }

  private static func pending(_ last: LedgerEntry, isAsking: Bool) -> String {
    switch last.verdict {
    case .granted, .free:
      isAsking ? "pending: waiting for the provider" : "pending: waiting for the extension"
    case .delayed where Withholding(rawValue: last.rule) != nil: "pending: waiting until the device is unlocked"
    case .delayed: "pending: waiting until \(last.until.map(Amount.text) ?? "it can be paid for")"
    case .merged: "merged with a newer reload of the placement"
    case .refused: "refused"
    }
  }

  /// The report of `widgetlab why`, line by line.
  package var text: [String] {
    var table = TextTable(headings: ["WHEN", "DECIDED"])
    table.rows = lines.map { [Amount.text($0.date), $0.text] }
    let who = asker.map { ", requested by \($0)" } ?? ""
    return ["reload \(reload) of placement \(placement) (\(widgetKind)): because of \(because.rawValue)\(who)"]
      + table.lines + ["outcome: \(outcome)"]
  }
}
