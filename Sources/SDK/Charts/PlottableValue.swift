// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules
public import Foundation
public import SwiftUI

/// Source: `Charts.PlottableValue`.
public struct PlottableValue<Value: Plottable> {
  let plotted: PlottedValue

  private init(_ label: String, _ value: Value, bin: ClosedRange<Double>? = nil) {
    plotted = PlottedValue(label, value.chartValue, bin: bin)
  }

  public static func value(_ labelKey: LocalizedStringKey, _ value: Value) -> PlottableValue<Value> {
    PlottableValue(Text(labelKey).resolved(in: .current), value)
  }
  @_disfavoredOverload public static func value<S: StringProtocol>(_ label: S, _ value: Value) -> PlottableValue<Value>
  {
    PlottableValue(String(label), value)
  }
  public static func value(_ label: Text, _ value: Value) -> PlottableValue<Value> {
    PlottableValue(label.resolved(in: .current), value)
  }

  /// The value as the archive has it.
  var archived: ArchivedValue { plotted.archived }
}

extension PlottableValue where Value == Date {
  /// The calendar unit that contains the date. `calendar` is that of the environment, if it is `nil`.
  public static func value(
    _ labelKey: LocalizedStringKey, _ value: Date, unit: Calendar.Component, calendar: Calendar? = nil
  ) -> PlottableValue<Date> {
    PlottableValue(Text(labelKey).resolved(in: .current), value, bin: bin(value, unit, calendar))
  }
  @_disfavoredOverload public static func value<S: StringProtocol>(
    _ label: S, _ value: Date, unit: Calendar.Component, calendar: Calendar? = nil
  ) -> PlottableValue<Date> {
    PlottableValue(String(label), value, bin: bin(value, unit, calendar))
  }
  public static func value(
    _ label: Text, _ value: Date, unit: Calendar.Component, calendar: Calendar? = nil
  ) -> PlottableValue<Date> {
    PlottableValue(label.resolved(in: .current), value, bin: bin(value, unit, calendar))
  }

  private static func bin(_ date: Date, _ unit: Calendar.Component, _ calendar: Calendar?) -> ClosedRange<Double>? {
    let interval = (calendar ?? EnvironmentValues.current.chartCalendar).dateInterval(of: unit, for: date)
    return interval.map { $0.start.timeIntervalSince1970...$0.end.timeIntervalSince1970 }
  }
}

extension EnvironmentValues {
  /// The calendar in which dates are plotted.
  var chartCalendar: Calendar {
    var calendar = calendar
    calendar.timeZone = timeZone
    calendar.locale = locale
    return calendar
  }
}
