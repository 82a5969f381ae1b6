// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// Values of which a text shows the newest. Only the current date exists. Source: `SwiftUI.TimeDataSource`.
public struct TimeDataSource<Value>: Sendable {}

extension TimeDataSource where Value == Date {
  /// The present.
  public static var currentDate: TimeDataSource<Date> { TimeDataSource() }
}

/// Formats of the current date in a text that the system updates. `Stopwatch` and `Timer` do not exist. Source:
/// `SwiftUI.SystemFormatStyle`.
public enum SystemFormatStyle: Sendable {
  /// The distance from a date to the present, such as `3 minutes, 42 seconds`.
  public struct DateOffset: Hashable, Sendable {
    let anchor: Date
    let allowedFields: Set<Date.ComponentsFormatStyle.Field>
    let maxFieldCount: Int
    let sign: NumberFormatStyleConfiguration.SignDisplayStrategy

    public init(
      to anchor: Date,
      allowedFields: Set<Date.ComponentsFormatStyle.Field> = [.year, .month, .week, .day, .hour, .minute, .second],
      maxFieldCount: Int = 2, sign: NumberFormatStyleConfiguration.SignDisplayStrategy = .automatic
    ) {
      self.anchor = anchor
      self.allowedFields = allowedFields
      self.maxFieldCount = maxFieldCount
      self.sign = sign
    }

    /// Source: `FormatStyle.offset(to:allowedFields:maxFieldCount:sign:)`. Its default has no weeks.
    public static func offset(
      to anchor: Date,
      allowedFields: Set<Date.ComponentsFormatStyle.Field> = [.year, .month, .day, .hour, .minute, .second],
      maxFieldCount: Int = 2, sign: NumberFormatStyleConfiguration.SignDisplayStrategy = .automatic
    ) -> DateOffset {
      DateOffset(to: anchor, allowedFields: allowedFields, maxFieldCount: maxFieldCount, sign: sign)
    }

    fileprivate var archivedSign: ArchivedValue {
      switch sign {
      case .never: "never"
      case .always(includingZero: true): "alwaysIncludingZero"
      case .always(includingZero: false): "always"
      default: "automatic"
      }
    }
  }

  /// A date relative to the present or by its name, such as `tomorrow`.
  public struct DateReference: Hashable, Sendable {
    let date: Date
    let allowedFields: Set<Date.RelativeFormatStyle.Field>
    let maxFieldCount: Int
    let thresholdField: Date.RelativeFormatStyle.Field

    public init(
      to date: Date, allowedFields: Set<Date.RelativeFormatStyle.Field> = [.year, .month, .day, .hour, .minute],
      maxFieldCount: Int = 2, thresholdField: Date.RelativeFormatStyle.Field = .day
    ) {
      self.date = date
      self.allowedFields = allowedFields
      self.maxFieldCount = maxFieldCount
      self.thresholdField = thresholdField
    }

    /// Source: `FormatStyle.reference(to:allowedFields:maxFieldCount:thresholdField:)`.
    public static func reference(
      to date: Date, allowedFields: Set<Date.RelativeFormatStyle.Field> = [.year, .month, .day, .hour, .minute],
      maxFieldCount: Int = 2, thresholdField: Date.RelativeFormatStyle.Field = .day
    ) -> DateReference {
      DateReference(
        to: date, allowedFields: allowedFields, maxFieldCount: maxFieldCount, thresholdField: thresholdField)
    }
  }
}

extension Date.ComponentsFormatStyle.Field {
  /// In the order of their size.
  private static let names: [(Self, ArchivedValue)] = [
    (.year, "year"), (.month, "month"), (.week, "week"), (.day, "day"), (.hour, "hour"), (.minute, "minute"),
    (.second, "second"),
  ]

  fileprivate static func archived(_ fields: Set<Self>) -> [ArchivedValue] {
    names.filter { fields.contains($0.0) }.map(\.1)
  }
}

// Source of all: `SwiftUI` of the iOS 18 SDK, where they are one generic function.
extension Text {
  /// The distance from a date to the present.
  public init(_ source: TimeDataSource<Date>, format: SystemFormatStyle.DateOffset) {
    content = .live([
      .format: "offset", .date: format.anchor.archived,
      .fields: .list(Date.ComponentsFormatStyle.Field.archived(format.allowedFields)),
      .count: format.maxFieldCount.archived, .sign: format.archivedSign,
    ])
  }

  /// A date relative to the present, or by its name.
  public init(_ source: TimeDataSource<Date>, format: SystemFormatStyle.DateReference) {
    content = .live([
      .format: "reference", .date: format.date.archived,
      .fields: .list(Date.ComponentsFormatStyle.Field.archived(format.allowedFields)),
      .count: format.maxFieldCount.archived,
      .thresholdField: Date.ComponentsFormatStyle.Field.archived([format.thresholdField])[0],
    ])
  }

  /// The present. Locale, time zone and calendar are those that this process has now, or those that the author chose.
  public init(_ source: TimeDataSource<Date>, format: Date.FormatStyle) {
    var format = format
    format.locale = Locale(identifier: format.locale.identifier)
    format.timeZone = TimeZone(identifier: format.timeZone.identifier) ?? format.timeZone
    format.calendar = Calendar(identifier: format.calendar.identifier)
    let style = (try? JSONEncoder().encode(format)).map { String(decoding: $0, as: UTF8.self) }
    content = .live([.format: "dateTime", .style: (style ?? "").archived])
  }
}
