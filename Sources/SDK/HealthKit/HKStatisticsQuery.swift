// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `HealthKit.HKStatisticsOptions`.
public struct HKStatisticsOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let separateBySource = HKStatisticsOptions(rawValue: 1)
  public static let discreteAverage = HKStatisticsOptions(rawValue: 2)
  public static let discreteMin = HKStatisticsOptions(rawValue: 4)
  public static let discreteMax = HKStatisticsOptions(rawValue: 8)
  public static let cumulativeSum = HKStatisticsOptions(rawValue: 16)
  public static let mostRecent = HKStatisticsOptions(rawValue: 32)
  public static let duration = HKStatisticsOptions(rawValue: 64)
}

/// Sums and averages of samples. Source: `HealthKit.HKStatistics`. A device here has no samples, so that none exists.
open class HKStatistics: NSObject {
  public let quantityType: HKQuantityType
  public let startDate: Date
  public let endDate: Date

  init(_ type: HKQuantityType, _ start: Date, _ end: Date) {
    quantityType = type
    startDate = start
    endDate = end
  }

  open var sources: [HKSource]? { nil }
  open func sumQuantity() -> HKQuantity? { nil }
  open func averageQuantity() -> HKQuantity? { nil }
  open func minimumQuantity() -> HKQuantity? { nil }
  open func maximumQuantity() -> HKQuantity? { nil }
  open func mostRecentQuantity() -> HKQuantity? { nil }
  open func mostRecentQuantityDateInterval() -> DateInterval? { nil }
  open func duration() -> HKQuantity? { nil }
}

/// Source: `HealthKit.HKStatisticsQuery`.
open class HKStatisticsQuery: HKQuery {
  private let handler: @Sendable (HKStatisticsQuery, HKStatistics?, (any Error)?) -> Void

  public init(
    quantityType: HKQuantityType, quantitySamplePredicate: NSPredicate?, options: HKStatisticsOptions = [],
    completionHandler handler: @escaping @Sendable (HKStatisticsQuery, HKStatistics?, (any Error)?) -> Void
  ) {
    self.handler = handler
    super.init(quantityType, quantitySamplePredicate)
  }

  override func fail(_ error: any Error) { handler(self, nil, error) }
}

/// Statistics of successive spans of time. Source: `HealthKit.HKStatisticsCollection`. None exists here.
open class HKStatisticsCollection: NSObject {
  override init() { super.init() }

  open func statistics() -> [HKStatistics] { [] }
  open func statistics(for date: Date) -> HKStatistics? { nil }
  open func enumerateStatistics(
    from startDate: Date, to endDate: Date, with block: (HKStatistics, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {}
  open func sources() -> Set<HKSource> { [] }
}

/// Source: `HealthKit.HKStatisticsCollectionQuery`.
open class HKStatisticsCollectionQuery: HKQuery {
  public let anchorDate: Date
  public let options: HKStatisticsOptions
  public let intervalComponents: DateComponents
  open var initialResultsHandler:
    (@Sendable (HKStatisticsCollectionQuery, HKStatisticsCollection?, (any Error)?) -> Void)?
  /// Never called here, because no data change.
  open var statisticsUpdateHandler:
    (@Sendable (HKStatisticsCollectionQuery, HKStatistics?, HKStatisticsCollection?, (any Error)?) -> Void)?

  public init(
    quantityType: HKQuantityType, quantitySamplePredicate: NSPredicate?, options: HKStatisticsOptions = [],
    anchorDate: Date, intervalComponents: DateComponents
  ) {
    self.anchorDate = anchorDate
    self.options = options
    self.intervalComponents = intervalComponents
    super.init(quantityType, quantitySamplePredicate)
  }

  override func fail(_ error: any Error) { initialResultsHandler?(self, nil, error) }
}
