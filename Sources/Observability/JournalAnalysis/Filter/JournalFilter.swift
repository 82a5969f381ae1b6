// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Glibc
package import Journal
package import Messages

/// A filter of envelopes: a range of the journal, kinds, addresses and an expression.
package struct JournalFilter: Sendable {
  /// Globs such as `transfer.*`. An envelope passes when one matches its kind, or the kind that it replies to.
  package var kinds: [String] = []
  /// Globs such as `*/extension/*` or `agent/*`. One must match the sender, the receiver or the process that the
  /// envelope is about.
  package var addresses: [String] = []
  /// The first point of the range; `nil` for the beginning of the journal.
  package var since: Moment?
  /// The last point of the range; `nil` for no end.
  package var until: Moment?
  /// Must match, if present.
  package var expression: FilterExpression?

  /// Creates a filter. Without arguments every envelope passes.
  package init(
    kinds: [String] = [], addresses: [String] = [], since: Moment? = nil, until: Moment? = nil,
    expression: FilterExpression? = nil
  ) {
    self.kinds = kinds
    self.addresses = addresses
    self.since = since
    self.until = until
    self.expression = expression
  }

  /// Whether the envelope is before, in or after the range. A filter with a time relative to now must be fixed first.
  package func place(_ header: EnvelopeHeader) -> Place {
    switch since {
    case .sequence(let first) where header.sequence < first: return .before
    case .time(let first) where header.sentAt < first: return .before
    case .sequence, .time, .ago, .timeOfDay, .none: break
    }
    switch until {
    case .sequence(let last) where header.sequence > last: return .after
    case .time(let last) where header.sentAt > last: return .after
    case .sequence, .time, .ago, .timeOfDay, .none: return .inside
    }
  }

  /// The position of an envelope relative to the range.
  package enum Place: Equatable {
    case before
    case inside
    case after
  }

  /// Whether kind, address and expression match.
  package func passes(_ envelope: Envelope) -> Bool {
    if let expression, !expression.matches(envelope) { return false }
    let header = envelope.header
    if !kinds.isEmpty {
      guard kinds.contains(where: { matches($0, header.kind.name) || matches($0, header.kind.questionKind.name) })
      else {
        return false
      }
    }
    guard !addresses.isEmpty else { return true }
    let parties = [header.source, header.destination, EnvelopeNote(envelope).subject].compactMap(\.self)
    return addresses.contains { glob in
      parties.contains { matches(glob, $0.text) || matches(glob, $0.short) || matches(glob, $0.tailName) }
    }
  }

  private func matches(_ glob: String, _ text: String) -> Bool { fnmatch(glob, text, 0) == 0 }
}

extension JournalFilter {
  /// The position in the journal at which reading starts.
  package var start: JournalPosition {
    switch since {
    case .sequence(let first): .sequence(first)
    case .time(let time): .time(time)
    case .ago, .timeOfDay, nil: .beginning
    }
  }
}

extension JournalFilter {
  /// A point in the journal.
  package enum Moment: Equatable, Sendable {
    case sequence(UInt64)
    /// Seconds before the start of the command.
    case ago(Double)
    /// Seconds after midnight, UTC, of the current day.
    case timeOfDay(Double)
    case time(Timestamp)

    /// All forms, for errors and help texts.
    package static let forms = "5m, 13:05:07 (today, UTC), 2026-11-21T13:05:07Z, @1790000000, seq:4711 or now"

    /// Parses `seq:4711`, `now`, `5m`, `1.5h`, `30s`, `13:05`, `13:05:07.5`, ISO 8601 with or without a time and a
    /// zone, or seconds since 1970 as `@1790000000`; `nil` for anything else.
    package init?(_ text: String) {
      if text.hasPrefix("seq:") {
        guard let sequence = UInt64(text.dropFirst(4)) else { return nil }
        self = .sequence(sequence)
      } else if text.hasPrefix("@") {
        guard let seconds = Double(text.dropFirst()), let time = Timestamp(seconds: seconds) else { return nil }
        self = .time(time)
      } else if text == "now" {
        self = .ago(0)
      } else if let seconds = ISOTime.seconds(ofClock: text) {
        self = .timeOfDay(seconds)
      } else if let seconds = ISOTime.seconds(of: text), let time = Timestamp(seconds: seconds) {
        self = .time(time)
      } else {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let value = Double(text.dropLast()), value >= 0,
          value * unit < 1e10
        else { return nil }
        self = .ago(value * unit)
      }
    }

    /// Replaces a relative time with an absolute one.
    package func fixed(now: Timestamp) -> Moment {
      switch self {
      case .ago(let seconds): .time(Timestamp(microseconds: now.microseconds - Int64(saturating: seconds * 1e6)))
      case .timeOfDay(let seconds):
        .time(
          Timestamp(
            microseconds: now.microseconds - now.microseconds % 86_400_000_000 + Int64(saturating: seconds * 1e6)))
      case .sequence, .time: self
      }
    }
  }
}

extension Timestamp {
  /// `nil` beyond the year 2286 and before 1653.
  fileprivate init?(seconds: Double) {
    guard seconds.isFinite, abs(seconds) < 1e10 else { return nil }
    self.init(microseconds: Int64(saturating: (seconds * 1e6).rounded()))
  }
}

/// Parses ISO 8601 dates and times.
package enum ISOTime {
  /// The seconds after midnight of `13:05`, `13:05:07` or `13:05:07.25`.
  static func seconds(ofClock text: Substring) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let hours = number(parts[0], 2), hours < 24, let minutes = number(parts[1], 2),
      minutes < 60
    else { return nil }
    guard parts.count == 3 else { return Double(hours * 3600 + minutes * 60) }
    let pieces = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = number(pieces[0], 2), whole < 60 else { return nil }
    var fraction = 0.0
    if pieces.count == 2 {
      guard (1...9).contains(pieces[1].count), let digits = number(pieces[1], pieces[1].count) else { return nil }
      fraction = Double(digits) / pow(10, Double(pieces[1].count))
    }
    return Double(hours * 3600 + minutes * 60 + whole) + fraction
  }

  /// Same, for a string.
  package static func seconds(ofClock text: String) -> Double? { seconds(ofClock: text[...]) }

  /// The seconds since 1970 of `2026-11-21`, optionally followed by `T13:05:07`, and that by `Z` or `+02:00`; UTC by
  /// default.
  package static func seconds(of text: String) -> Double? {
    let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
    let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard date.count == 3, let year = number(date[0], 4), let month = number(date[1], 2), let day = number(date[2], 2),
      let midnight = midnight(year: year, month: month, day: day)
    else { return nil }
    guard parts.count == 2 else { return midnight }
    var clock = parts[1]
    var offset = 0.0
    if clock.hasSuffix("Z") {
      clock = clock.dropLast()
    } else if let sign = clock.lastIndex(where: { $0 == "+" || $0 == "-" }) {
      guard let zone = seconds(ofClock: clock[clock.index(after: sign)...]) else { return nil }
      offset = clock[sign] == "+" ? zone : -zone
      clock = clock[..<sign]
    }
    return seconds(ofClock: clock).map { midnight + $0 - offset }
  }

  /// Returns `nil` for a date that does not exist.
  private static func midnight(year: Int, month: Int, day: Int) -> Double? {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1970...2200).contains(year), (1...12).contains(month), (1...lengths[month - 1]).contains(day) else {
      return nil
    }
    let before = (1970..<year).reduce(0) { $0 + ($1 % 4 == 0 && ($1 % 100 != 0 || $1 % 400 == 0) ? 366 : 365) }
    return Double((before + lengths[..<(month - 1)].reduce(0, +) + day - 1) * 86_400)
  }

  private static func number(_ text: Substring, _ digits: Int) -> Int? {
    text.count == digits && text.allSatisfy { ("0"..."9").contains($0) } ? Int(text) : nil
  }
}
