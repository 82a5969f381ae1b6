// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
