// SPDX-License-Identifier: Apache-2.0

import ChartRules
public import Foundation

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
