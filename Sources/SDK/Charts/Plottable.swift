// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
public import SwiftUI

/// Source: `Charts.Plottable`.
public protocol Plottable {
  associatedtype PrimitivePlottable: PrimitivePlottableProtocol = Self
  var primitivePlottable: PrimitivePlottable { get }
  init?(primitivePlottable: PrimitivePlottable)
}

/// Source: `Charts.PrimitivePlottableProtocol`.
public protocol PrimitivePlottableProtocol: Plottable where PrimitivePlottable == Self {}

extension PrimitivePlottableProtocol {
  public var primitivePlottable: Self { self }
  public init?(primitivePlottable: Self) { self = primitivePlottable }
}

extension Plottable where Self: RawRepresentable, RawValue: PrimitivePlottableProtocol {
  public var primitivePlottable: RawValue { rawValue }
  public init?(primitivePlottable: RawValue) { self.init(rawValue: primitivePlottable) }
}

extension String: PrimitivePlottableProtocol {}
extension Date: PrimitivePlottableProtocol {}
extension Double: PrimitivePlottableProtocol {}
extension Float: PrimitivePlottableProtocol {}
extension CGFloat: PrimitivePlottableProtocol {}
extension Decimal: PrimitivePlottableProtocol {}
extension Int: PrimitivePlottableProtocol {}
extension Int8: PrimitivePlottableProtocol {}
extension Int16: PrimitivePlottableProtocol {}
extension Int32: PrimitivePlottableProtocol {}
extension Int64: PrimitivePlottableProtocol {}
extension UInt: PrimitivePlottableProtocol {}
extension UInt8: PrimitivePlottableProtocol {}
extension UInt16: PrimitivePlottableProtocol {}
extension UInt32: PrimitivePlottableProtocol {}
extension UInt64: PrimitivePlottableProtocol {}

extension Plottable {
  /// The value by the rules of charts.
  var chartValue: ChartValue {
    switch primitivePlottable {
    case let text as String: .category(text)
    case let date as Date: .date(date.timeIntervalSince1970)
    case let number as any BinaryFloatingPoint: .number(Double(number))
    case let number as any BinaryInteger: .number(Double(number))
    case let number as Decimal: .number(NSDecimalNumber(decimal: number).doubleValue)
    default: fatalError("\(PrimitivePlottable.self) is not plotted: a chart has numbers, dates and texts")
    }
  }

  /// The value of an axis; `nil` if the type does not have it, such as 2.5 for an integer.
  init?(_ value: ChartValue) {
    let primitive: Any?
    switch value {
    case .category(let name): primitive = name
    case .date(let seconds): primitive = Date(timeIntervalSince1970: seconds)
    case .number(let number):
      switch PrimitivePlottable.self {
      case let type as any BinaryInteger.Type: primitive = type.init(exactly: number)
      case let type as any BinaryFloatingPoint.Type: primitive = type.init(number)
      default: primitive = Decimal(number)
      }
    }
    guard let found = primitive as? PrimitivePlottable else { return nil }
    self.init(primitivePlottable: found)
  }
}

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
    PlottableValue(Text(labelKey).resolved(in: .current), value, bin: bin(value, unit: unit, calendar: calendar))
  }
  @_disfavoredOverload public static func value<S: StringProtocol>(
    _ label: S, _ value: Date, unit: Calendar.Component, calendar: Calendar? = nil
  ) -> PlottableValue<Date> {
    PlottableValue(String(label), value, bin: bin(value, unit: unit, calendar: calendar))
  }
  public static func value(
    _ label: Text, _ value: Date, unit: Calendar.Component, calendar: Calendar? = nil
  ) -> PlottableValue<Date> {
    PlottableValue(label.resolved(in: .current), value, bin: bin(value, unit: unit, calendar: calendar))
  }

  private static func bin(_ date: Date, unit: Calendar.Component, calendar: Calendar?) -> ClosedRange<Double>? {
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
