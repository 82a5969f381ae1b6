// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A text that the system updates as time passes. Source: the initialisers of `SwiftUI.Text` with dates.
package enum LiveText: Hashable, Sendable {
  /// A date in a style: `time`, `date`, `relative`, `offset` or `timer`.
  case date(Date, style: String)
  case interval(Date, Date)
  case timer(from: Date, to: Date, paused: Date?, countsDown: Bool, showsHours: Bool)

  /// The live text in a text's arguments, if there is one.
  package init?(_ arguments: ArchivedArguments) {
    if case .date(let date) = arguments[.date], let style = arguments[.style]?.string {
      self = .date(date, style: style)
    } else if case .list(let bounds) = arguments[.interval], let (from, to) = Self.dates(bounds) {
      self = .interval(from, to)
    } else if case .list(let bounds) = arguments[.timerInterval], let (from, to) = Self.dates(bounds) {
      var paused: Date?
      if case .date(let date) = arguments[.pauseTime] { paused = date }
      self = .timer(
        from: from, to: to, paused: paused, countsDown: arguments[.countsDown] != .bool(false),
        showsHours: arguments[.showsHours] != .bool(false))
    } else {
      return nil
    }
  }

  private static func dates(_ bounds: [ArchivedValue]) -> (Date, Date)? {
    guard bounds.count == 2, case .date(let from) = bounds[0], case .date(let to) = bounds[1] else { return nil }
    return (from, to)
  }

  /// Whether the text counts seconds.
  package var isTimer: Bool {
    switch self {
    case .timer, .date(_, "timer"): true
    case .date, .interval: false
    }
  }

  /// The text at the time of the appearance.
  package func text(_ appearance: ScreenAppearance) -> String {
    switch self {
    case .date(let date, "time"): return appearance.format(date, date: .omitted, time: .shortened)
    case .date(let date, "date"): return appearance.format(date, date: .long, time: .omitted)
    case .date(let date, "relative"): return Self.distance(to: date, appearance, parts: 2)
    case .date(let date, "offset"):
      // A date in the future has the minus sign.
      let sign = date.timeIntervalSince(appearance.now).rounded() > 0 ? "-" : "+"
      return sign + Self.distance(to: date, appearance, parts: 1, inWords: true)
    case .date(let date, _): return Self.clock(abs(date.timeIntervalSince(appearance.now)), showsHours: true)
    case .interval(let from, let to):
      return appearance.format(from, date: .omitted, time: .shortened) + " – "
        + appearance.format(to, date: .omitted, time: .shortened)
    case .timer(let from, let to, let paused, let countsDown, let showsHours):
      let now = min(max(min(appearance.now, paused ?? appearance.now), from), to)
      return Self.clock(countsDown ? to.timeIntervalSince(now) : now.timeIntervalSince(from), showsHours: showsHours)
    }
  }

  /// The units of distances, the largest first. Foundation has the words of years and months for no language: these are
  /// English, the short form for one and for several, and the word for one.
  private static let units: [(component: Calendar.Component, words: UnitWords)] = [
    (.year, .english("yr", "yrs", "year")), (.month, .english("mth", "mths", "month")),
    (.weekOfMonth, .localized(.weeks, seconds: 604_800)), (.day, .localized(.days, seconds: 86_400)),
    (.hour, .localized(.hours, seconds: 3600)), (.minute, .localized(.minutes, seconds: 60)),
    (.second, .localized(.seconds, seconds: 1)),
  ]

  private enum UnitWords {
    case english(_ one: String, _ several: String, _ word: String)
    case localized(Duration.UnitsFormatStyle.Unit, seconds: Int)
  }

  /// The time between now and a date, before or after it, in its largest consecutive units: `2 hr, 5 min`, or in words
  /// `2 hours`. What is smaller is omitted. Source: *Displaying dynamic dates*; the forms are those of CLDR for the locale.
  private static func distance(
    to date: Date, _ appearance: ScreenAppearance, parts count: Int, inWords: Bool = false
  ) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = appearance.timeZone
    let seconds = date.timeIntervalSince(appearance.now).rounded()
    // No calendar has dates beyond these.
    let end = min(max(appearance.now + (seconds.isNaN ? 0 : seconds), .distantPast), .distantFuture)
    let found = calendar.dateComponents(
      Set(units.map(\.component)), from: min(appearance.now, end), to: max(appearance.now, end))
    let numbers = units.map { found.value(for: $0.component) ?? 0 }
    let first = numbers.firstIndex { $0 > 0 } ?? units.count - 1
    let shown = zip(units, numbers).dropFirst(first).prefix(count).filter { $1 > 0 || first == units.count - 1 }
    var texts: [String] = []
    var (allowed, length): (Set<Duration.UnitsFormatStyle.Unit>, Int) = ([], 0)
    for (unit, number) in shown {
      switch unit.words {
      case .english(let one, let several, let word):
        texts.append("\(number) \(inWords ? word + (number == 1 ? "" : "s") : number == 1 ? one : several)")
      case .localized(let unit, let seconds):
        allowed.insert(unit)
        length += number * seconds
      }
    }
    if !allowed.isEmpty {
      // Together: the locale has its word or sign between two of them.
      let style = Duration.UnitsFormatStyle(
        allowedUnits: allowed, width: inWords ? .wide : .abbreviated, zeroValueUnits: .show(length: 1))
      texts.append(Duration.seconds(length).formatted(style.locale(appearance.locale)))
    }
    return texts.joined(separator: ", ")
  }

  /// A duration such as `1:02:03` or `2:03`.
  private static func clock(_ seconds: TimeInterval, showsHours: Bool) -> String {
    let all = Int(saturating: seconds.rounded(.down))
    let tail = String(format: "%02d", all % 60)
    guard showsHours, all >= 3600 else { return "\(all / 60):\(tail)" }
    return "\(all / 3600):" + String(format: "%02d", all / 60 % 60) + ":\(tail)"
  }
}

extension LiveText: CustomStringConvertible {
  /// Describes the text where no time is given.
  package var description: String {
    switch self {
    case .date(let date, let style): "\(date.formatted(.iso8601)) as \(style)"
    case .interval(let from, let to): "\(from.formatted(.iso8601)) to \(to.formatted(.iso8601))"
    case .timer(let from, let to, _, let countsDown, _):
      "timer \(countsDown ? "down" : "up") from \(from.formatted(.iso8601)) to \(to.formatted(.iso8601))"
    }
  }
}
