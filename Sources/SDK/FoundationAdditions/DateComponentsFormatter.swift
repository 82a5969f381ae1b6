// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Formats durations. Source: `Foundation.DateComponentsFormatter`, which is unavailable on Linux. The names of units
/// are those of the locale; years and months have English ones.
open class DateComponentsFormatter: Formatter {
  /// Source: `DateComponentsFormatter.UnitsStyle`.
  public enum UnitsStyle: Int, Sendable {
    case positional, abbreviated, short, full, spellOut, brief
  }

  /// Source: `DateComponentsFormatter.ZeroFormattingBehavior`.
  public struct ZeroFormattingBehavior: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let `default` = ZeroFormattingBehavior(rawValue: 1)
    public static let dropLeading = ZeroFormattingBehavior(rawValue: 2)
    public static let dropMiddle = ZeroFormattingBehavior(rawValue: 4)
    public static let dropTrailing = ZeroFormattingBehavior(rawValue: 8)
    public static let dropAll: ZeroFormattingBehavior = [.dropLeading, .dropMiddle, .dropTrailing]
    public static let pad = ZeroFormattingBehavior(rawValue: 1 << 16)
  }

  open var unitsStyle = UnitsStyle.positional
  /// Empty for all.
  open var allowedUnits: NSCalendar.Unit = []
  open var zeroFormattingBehavior = ZeroFormattingBehavior.default
  open var calendar: Calendar? = Calendar.current
  open var referenceDate: Date?
  /// 0 for no limit.
  open var maximumUnitCount = 0
  open var collapsesLargestUnit = false
  open var includesApproximationPhrase = false
  open var includesTimeRemainingPhrase = false
  open var allowsFractionalUnits = false

  private static let units: [(flag: NSCalendar.Unit, component: Calendar.Component)] = [
    (.year, .year), (.month, .month), (.weekOfMonth, .weekOfMonth), (.day, .day), (.hour, .hour), (.minute, .minute),
    (.second, .second),
  ]

  public override init() { super.init() }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  /// The units that are shown, from the largest.
  private var shown: [Calendar.Component] {
    let all: NSCalendar.Unit = [.year, .month, .weekOfMonth, .day, .hour, .minute, .second]
    return Self.units.filter { (allowedUnits.isEmpty ? all : allowedUnits).contains($0.flag) }.map(\.component)
  }

  open func string(from ti: TimeInterval) -> String? {
    let start = referenceDate ?? Date(timeIntervalSinceReferenceDate: 0)
    return string(from: start, to: start + ti)
  }
  open func string(from startDate: Date, to endDate: Date) -> String? {
    var calendar = calendar ?? Calendar.current
    if referenceDate == nil, !shown.contains(.year), !shown.contains(.month) { calendar.timeZone = .gmt }
    // The end is rounded to a second, as the display has no fractions.
    let seconds = endDate.timeIntervalSince(startDate).rounded()
    return string(from: calendar.dateComponents(Set(shown), from: startDate, to: startDate + seconds))
  }
  open func string(from components: DateComponents) -> String? {
    text(shown.compactMap { unit in components.value(for: unit).map { (unit, $0) } })
  }
  open class func localizedString(from components: DateComponents, unitsStyle: UnitsStyle) -> String? {
    let formatter = DateComponentsFormatter()
    formatter.unitsStyle = unitsStyle
    return formatter.string(from: components)
  }
  open override func string(for obj: Any?) -> String? {
    switch obj {
    case let components as DateComponents: string(from: components)
    case let interval as TimeInterval: string(from: interval)
    default: nil
    }
  }

  private func text(_ values: [(unit: Calendar.Component, value: Int)]) -> String? {
    guard !values.isEmpty else { return nil }
    var keptValues = withoutZeros(values)
    if collapsesLargestUnit, keptValues.count > 1, keptValues[0].value == 1,
      let seconds = Self.factor(keptValues[0].unit, keptValues[1].unit)
    {
      keptValues[1].value += seconds
      keptValues.removeFirst()
    }
    if maximumUnitCount > 0 { keptValues = Array(keptValues.prefix(maximumUnitCount)) }
    let isNegative = keptValues.contains { $0.value < 0 }
    let sign = isNegative ? "-" : ""
    keptValues = keptValues.map { ($0.unit, abs($0.value)) }
    var text = sign + (unitsStyle == .positional ? positional(keptValues) : named(keptValues))
    if includesApproximationPhrase { text = "About \(text)" }
    if includesTimeRemainingPhrase { text += " remaining" }
    return text
  }

  private func withoutZeros(_ values: [(unit: Calendar.Component, value: Int)]) -> [(
    unit: Calendar.Component, value: Int
  )] {
    var rule = zeroFormattingBehavior
    if rule.contains(.pad) { return values }
    if rule.contains(.default) { rule = unitsStyle == .positional ? .dropLeading : .dropAll }
    var keptValues = values
    if rule.contains(.dropLeading) {
      keptValues = Array(keptValues.drop { $0.value == 0 })
    }
    if rule.contains(.dropTrailing) {
      while let last = keptValues.last, last.value == 0 { keptValues.removeLast() }
    }
    if rule.contains(.dropMiddle), keptValues.count > 2 {
      keptValues =
        [keptValues[0]] + keptValues[1..<(keptValues.count - 1)].filter { $0.value != 0 } + [
          keptValues[keptValues.count - 1]
        ]
    }
    return keptValues.isEmpty ? values.suffix(1) : keptValues
  }

  private static func factor(_ unit: Calendar.Component, _ next: Calendar.Component) -> Int? {
    switch (unit, next) {
    case (.hour, .minute), (.minute, .second): 60
    case (.day, .hour): 24
    case (.year, .month): 12
    case (.weekOfMonth, .day): 7
    default: nil
    }
  }

  private func positional(_ values: [(unit: Calendar.Component, value: Int)]) -> String {
    values.enumerated().map { index, item in
      let isPadded = index > 0 || zeroFormattingBehavior.contains(.pad) && values.count > 1
      return isPadded && item.value < 10 ? "0\(item.value)" : "\(item.value)"
    }.joined(separator: ":")
  }

  private func named(_ values: [(unit: Calendar.Component, value: Int)]) -> String {
    let separator = unitsStyle == .abbreviated || unitsStyle == .brief ? " " : ", "
    return values.map { name($0.unit, $0.value) }.joined(separator: separator)
  }

  private func name(_ unit: Calendar.Component, _ value: Int) -> String {
    let lengths: [Calendar.Component: (unit: Duration.UnitsFormatStyle.Unit, seconds: Int)] = [
      .weekOfMonth: (.weeks, 604_800), .day: (.days, 86400), .hour: (.hours, 3600), .minute: (.minutes, 60),
      .second: (.seconds, 1),
    ]
    guard let length = lengths[unit] else { return englishName(unit, value) }
    let width: Duration.UnitsFormatStyle.UnitWidth
    switch unitsStyle {
    case .abbreviated, .positional: width = .narrow
    case .short: width = .abbreviated
    case .brief: width = .condensedAbbreviated
    case .full, .spellOut: width = .wide
    }
    let text = Duration.seconds(value * length.seconds).formatted(
      .units(allowed: [length.unit], width: width, zeroValueUnits: .show(length: 1))
        .locale(calendar?.locale ?? .current))
    return unitsStyle == .spellOut ? spelledOut(text, value) : text
  }

  private func englishName(_ unit: Calendar.Component, _ value: Int) -> String {
    let (long, short, narrow) = unit == .year ? ("year", "yr", "y") : ("month", "mo", "mo")
    let text: String
    switch unitsStyle {
    case .abbreviated, .positional: text = "\(value)\(narrow)"
    case .short: text = "\(value) \(short)\(value == 1 || short == "mo" ? "" : "s")"
    case .brief: text = "\(value)\(short)"
    case .full, .spellOut: text = "\(value) \(long)\(value == 1 ? "" : "s")"
    }
    return unitsStyle == .spellOut ? spelledOut(text, value) : text
  }

  private func spelledOut(_ text: String, _ value: Int) -> String {
    let formatter = NumberFormatter()
    formatter.numberStyle = .spellOut
    formatter.locale = calendar?.locale ?? .current
    guard let words = formatter.string(from: NSNumber(value: value)) else { return text }
    return text.replacingOccurrences(of: "\(value)", with: words)
  }
}

/// Formats a date relative to another. Source: `Foundation.RelativeDateTimeFormatter`, which does not exist on Linux.
open class RelativeDateTimeFormatter: Formatter {
  /// Source: `RelativeDateTimeFormatter.DateTimeStyle`.
  public enum DateTimeStyle: Int, Sendable {
    case numeric, named
  }

  /// Source: `RelativeDateTimeFormatter.UnitsStyle`.
  public enum UnitsStyle: Int, Sendable {
    case full, spellOut, short, abbreviated
  }

  open var dateTimeStyle = DateTimeStyle.numeric
  open var unitsStyle = UnitsStyle.full
  open var formattingContext = Formatter.Context.unknown
  open var calendar: Calendar! = Calendar.current
  open var locale: Locale! = Locale.current

  public override init() { super.init() }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  open func localizedString(for date: Date, relativeTo referenceDate: Date) -> String {
    let units: Date.RelativeFormatStyle.UnitsStyle
    switch unitsStyle {
    case .full: units = .wide
    case .spellOut: units = .spellOut
    case .short: units = .abbreviated
    case .abbreviated: units = .narrow
    }
    return Date.AnchoredRelativeFormatStyle(
      anchor: date, presentation: dateTimeStyle == .named ? .named : .numeric, unitsStyle: units, locale: locale,
      calendar: calendar
    ).format(referenceDate)
  }
  open func localizedString(fromTimeInterval timeInterval: TimeInterval) -> String {
    let now = Date()
    return localizedString(for: now + timeInterval, relativeTo: now)
  }
  open func localizedString(from dateComponents: DateComponents) -> String {
    let now = Date()
    return localizedString(for: calendar.date(byAdding: dateComponents, to: now) ?? now, relativeTo: now)
  }
  open override func string(for obj: Any?) -> String? {
    (obj as? Date).map { localizedString(for: $0, relativeTo: Date()) }
  }
}

/// Joins texts. Source: `Foundation.ListFormatter`, which does not exist on Linux.
open class ListFormatter: Formatter {
  open var locale: Locale! = Locale.current
  open var itemFormatter: Formatter?

  public override init() { super.init() }
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  open func string(from items: [Any]) -> String? {
    let texts = items.map { itemFormatter?.string(for: $0) ?? "\($0)" }
    return texts.formatted(.list(type: .and).locale(locale))
  }
  open override func string(for obj: Any?) -> String? { (obj as? [Any]).flatMap { string(from: $0) } }
  open class func localizedString(byJoining strings: [String]) -> String { strings.formatted(.list(type: .and)) }
}
