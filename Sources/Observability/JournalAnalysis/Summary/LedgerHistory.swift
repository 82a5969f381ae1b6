// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

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
  private var asked: [UUID: UInt64] = [:]
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
      if asked.updateValue(header.sequence, forKey: header.id) == nil { askedOrder.append(header.id) }
      if askedOrder.count > Self.askedLimit { asked[askedOrder.removeFirst()] = nil }
    }
    guard let entry = envelope.reading(BudgetDecided.self)?.entry else { return }
    all.append(
      Line(
        number: entry.number, reload: entry.reload, placement: entry.placement, date: entry.date.timeIntervalSince1970,
        because: entry.because.rawValue, verdict: entry.verdict.rawValue, rule: entry.rule, balance: entry.balance,
        text: entry.text, sequence: header.sequence, asked: header.cause.flatMap { asked[$0] },
        until: entry.until?.timeIntervalSince1970))
    if all.count > Self.limit + 500 { all.removeFirst(500) }
  }
}
