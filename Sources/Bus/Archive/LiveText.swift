// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A text that the system updates as time passes. Source: the initialisers of `SwiftUI.Text` with dates.
package enum LiveText: Hashable, Sendable {
  /// A date in a style: `time`, `date`, `relative`, `offset` or `timer`.
  case date(Date, style: String)
  case interval(Date, Date)
  case timer(from: Date, to: Date, paused: Date?, countsDown: Bool, showsHours: Bool)
  /// The distance from a date to the present, in some of the units. `sign` is `automatic`, `never`, `always` or
  /// `alwaysIncludingZero`. Source: `SystemFormatStyle.DateOffset`.
  case offset(to: Date, units: [String], count: Int, sign: String)
  /// A date relative to the present, or by its name. Source: `SystemFormatStyle.DateReference`.
  case reference(to: Date, units: [String], count: Int, threshold: String)
  /// The present, in a `Date.FormatStyle` as JSON.
  case present(format: String)

  /// The live text in a text's arguments, if there is one.
  package init?(_ arguments: ArchivedArguments) {
    if let format = arguments[.format]?.string {
      self.init(format, arguments)
    } else if case .date(let date) = arguments[.date], let style = arguments[.style]?.string {
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

  private init?(_ format: String, _ arguments: ArchivedArguments) {
    if format == "dateTime", let style = arguments[.style]?.string {
      self = .present(format: style)
      return
    }
    guard case .date(let date) = arguments[.date], case .list(let fields) = arguments[.fields],
      let count = arguments[.count]?.number
    else { return nil }
    let (units, number) = (fields.compactMap(\.string), max(1, Int(saturating: count)))
    if format == "offset", let sign = arguments[.sign]?.string {
      self = .offset(to: date, units: units, count: number, sign: sign)
    } else if format == "reference", let threshold = arguments[.thresholdField]?.string {
      self = .reference(to: date, units: units, count: number, threshold: threshold)
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
    case .date, .interval, .offset, .reference, .present: false
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
    case .offset(let date, let units, let count, let sign):
      let seconds = appearance.now.timeIntervalSince(date).rounded()
      let shown =
        switch sign {
        case "never": ""
        case "alwaysIncludingZero": seconds < 0 ? "−" : "+"
        case "always": seconds < 0 ? "−" : seconds > 0 ? "+" : ""
        default: seconds < 0 ? "−" : ""
        }
      let isClock = [["minute", "second"], ["hour", "minute", "second"]].contains { Set($0) == Set(units) }
      return shown
        + (isClock && count >= Set(units).count
          ? Self.clock(abs(seconds), showsHours: units.contains("hour"))
          : Self.distance(to: date, appearance, parts: count, inWords: true, only: units))
    case .reference(let date, let units, let count, let threshold):
      return Self.reference(to: date, appearance, units: units, count: count, threshold: threshold)
    case .present(let format):
      let style = try? JSONDecoder().decode(Date.FormatStyle.self, from: Data(format.utf8))
      return style?.format(appearance.now) ?? appearance.format(appearance.now, date: .numeric, time: .shortened)
    }
  }

  /// The units of distances, the largest first. Foundation has the words of years and months for no language: these are
  /// English, the short form for one and for several, and the word for one.
  private static let units: [(component: Calendar.Component, word: String, form: UnitForm)] = [
    (.year, "year", .english("yr", "yrs")), (.month, "month", .english("mth", "mths")),
    (.weekOfMonth, "week", .localized(.weeks, seconds: 604_800)), (.day, "day", .localized(.days, seconds: 86_400)),
    (.hour, "hour", .localized(.hours, seconds: 3600)), (.minute, "minute", .localized(.minutes, seconds: 60)),
    (.second, "second", .localized(.seconds, seconds: 1)),
  ]

  private enum UnitForm {
    case english(_ one: String, _ several: String)
    case localized(Duration.UnitsFormatStyle.Unit, seconds: Int)
  }

  /// The time between now and a date, before or after it, in its largest consecutive units: `2 hr, 5 min`, or in words
  /// `2 hours`. What is smaller is omitted. Source: *Displaying dynamic dates*; the forms are those of CLDR for the locale.
  private static func distance(
    to date: Date, _ appearance: ScreenAppearance, parts count: Int, inWords: Bool = false, only names: [String] = []
  ) -> String {
    let calendar = appearance.calendar
    let units = names.isEmpty ? units : units.filter { names.contains($0.word) }
    // Another version of the SDK may have other names.
    guard !units.isEmpty else { return "" }
    let end = appearance.withinCalendar(date)
    let found = calendar.dateComponents(
      Set(units.map(\.component)), from: min(appearance.now, end), to: max(appearance.now, end))
    let numbers = units.map { found.value(for: $0.component) ?? 0 }
    let first = numbers.firstIndex { $0 > 0 } ?? units.count - 1
    let shown = zip(units, numbers).dropFirst(first).prefix(count).filter { $1 > 0 || first == units.count - 1 }
    var texts: [String] = []
    var (allowed, length): (Set<Duration.UnitsFormatStyle.Unit>, Int) = ([], 0)
    for (unit, number) in shown {
      switch unit.form {
      case .english(let one, let several):
        texts.append("\(number) \(inWords ? unit.word + (number == 1 ? "" : "s") : number == 1 ? one : several)")
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

  /// `in 5 minutes`, `tomorrow`, `Monday, June 3` or `June 2019`.
  private static func reference(
    to date: Date, _ appearance: ScreenAppearance, units: [String], count: Int, threshold: String
  ) -> String {
    let (calendar, date) = (appearance.calendar, appearance.withinCalendar(date))
    let limits: [String: Calendar.Component] = [
      "month": .year, "week": .month, "day": .month, "hour": .day, "minute": .hour, "second": .minute,
    ]
    let (first, last) = (min(date, appearance.now), max(date, appearance.now))
    guard let limit = limits[threshold],
      calendar.dateComponents([limit], from: first, to: last).value(for: limit) != 0
    else {
      let names = Self.units.map(\.word).drop { $0 != threshold }.filter { units.contains($0) || $0 == threshold }
      guard !names.isEmpty else { return "" }
      let isNow = last.timeIntervalSince(first) < 60 && !names.contains("second")
      let fields: [String: Date.AnchoredRelativeFormatStyle.Field] = [
        "year": .year, "month": .month, "week": .week, "day": .day, "hour": .hour, "minute": .minute, "second": .second,
      ]
      let style = Date.AnchoredRelativeFormatStyle(
        anchor: date, allowedFields: isNow ? [.second] : Set(names.compactMap { fields[$0] }), presentation: .named,
        locale: appearance.locale, calendar: calendar)
      return style.format(isNow ? date : appearance.now)
    }
    // The most significant fields, beginning with the first that differs from the present.
    let all: [Calendar.Component] = [.year, .month, .day, .hour, .minute]
    let shown = all.drop { calendar.component($0, from: date) == calendar.component($0, from: appearance.now) }
      .prefix(count)
    let style = shown.reduce(
      Date.FormatStyle(locale: appearance.locale, calendar: calendar, timeZone: appearance.timeZone)
    ) { style, field in
      switch field {
      case .year: style.year()
      case .month: style.month(.wide)
      case .day: shown.contains(.year) ? style.day() : style.day().weekday(.wide)
      case .hour: style.hour()
      default: style.minute()
      }
    }
    return style.format(date)
  }

  /// A duration such as `1:02:03` or `2:03`.
  private static func clock(_ seconds: TimeInterval, showsHours: Bool) -> String {
    let all = Int(saturating: seconds.rounded(.down))
    let tail = String(format: "%02d", all % 60)
    guard showsHours, all >= 3600 else { return "\(all / 60):\(tail)" }
    return "\(all / 3600):" + String(format: "%02d", all / 60 % 60) + ":\(tail)"
  }
}

extension ScreenAppearance {
  fileprivate var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    return calendar
  }

  /// The date, whole seconds from now. No calendar has dates beyond the distant ones.
  fileprivate func withinCalendar(_ date: Date) -> Date {
    let seconds = date.timeIntervalSince(now).rounded()
    return min(max(now + (seconds.isNaN ? 0 : seconds), .distantPast), .distantFuture)
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
    case .offset(let date, _, _, _): "offset to \(date.formatted(.iso8601))"
    case .reference(let date, _, _, _): "reference to \(date.formatted(.iso8601))"
    case .present: "the current date"
    }
  }
}
