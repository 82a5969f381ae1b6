// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A value with a unit. Source: `HealthKit.HKQuantity`.
public final class HKQuantity: NSObject, Sendable {
  private let unit: HKUnit
  private let value: Double

  public init(unit: HKUnit, doubleValue value: Double) {
    self.unit = unit
    self.value = value
  }

  public func `is`(compatibleWith unit: HKUnit) -> Bool { self.unit.isCompatible(with: unit) }

  /// Ends the process for a unit of something else, as HealthKit does.
  public func doubleValue(for unit: HKUnit) -> Double {
    guard unit.isCompatible(with: self.unit) else {
      fatalError("HKQuantity.doubleValue(for:): \(self.unit) cannot be converted to \(unit)")
    }
    if unit.factor == self.unit.factor, unit.offset == self.unit.offset { return value }
    return (base - unit.offset) / unit.factor
  }

  public func compare(_ quantity: HKQuantity) -> ComparisonResult {
    let other = quantity.doubleValue(for: unit)
    return value < other ? .orderedAscending : value > other ? .orderedDescending : .orderedSame
  }

  /// In base units.
  private var base: Double { value * unit.factor + unit.offset }

  public override var description: String { "\(value.formatted(.number.grouping(.never))) \(unit)" }
  public override var hash: Int { unit.dimensions.hashValue }
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? HKQuantity, other.is(compatibleWith: unit) else { return false }
    return other.doubleValue(for: unit) == value
  }
}
