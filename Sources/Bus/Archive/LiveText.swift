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
    case .date(let date, "relative"): return Self.units(abs(date.timeIntervalSince(appearance.now)), 2)
    case .date(let date, "offset"):
      let distance = date.timeIntervalSince(appearance.now)
      return (distance < 0 ? "-" : "+") + Self.units(abs(distance), 1)
    case .date(let date, _): return Self.clock(abs(date.timeIntervalSince(appearance.now)), showsHours: true)
    case .interval(let from, let to):
      return appearance.format(from, date: .omitted, time: .shortened) + " – "
        + appearance.format(to, date: .omitted, time: .shortened)
    case .timer(let from, let to, let paused, let countsDown, let showsHours):
      let now = min(max(min(appearance.now, paused ?? appearance.now), from), to)
      return Self.clock(countsDown ? to.timeIntervalSince(now) : now.timeIntervalSince(from), showsHours: showsHours)
    }
  }

  /// A duration in its largest consecutive units, such as `2 hr, 5 min`.
  private static func units(_ seconds: TimeInterval, _ count: Int) -> String {
    let units = [("days", 86400), ("hr", 3600), ("min", 60), ("sec", 1)]
    var rest = Int(saturating: seconds.rounded())
    guard let first = units.firstIndex(where: { rest >= $0.1 }) else { return "0 sec" }
    var parts: [String] = []
    for (unit, length) in units[first...].prefix(count) {
      let number = rest / length
      rest -= number * length
      if number > 0 { parts.append(number == 1 && unit == "days" ? "1 day" : "\(number) \(unit)") }
    }
    return parts.joined(separator: ", ")
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
