// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `HealthKit.HKObjectQueryNoLimit`.
public let HKObjectQueryNoLimit: Int = 0

/// Source: `HealthKit.HKQueryOptions`.
public struct HKQueryOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let strictStartDate = HKQueryOptions(rawValue: 1)
  public static let strictEndDate = HKQueryOptions(rawValue: 2)
}

/// A question to the health data, which `HKHealthStore.execute(_:)` answers. Source: `HealthKit.HKQuery`.
open class HKQuery: NSObject {
  public let objectType: HKObjectType?
  public let predicate: NSPredicate?

  init(_ type: HKObjectType?, _ predicate: NSPredicate?) {
    objectType = type
    self.predicate = predicate
  }

  open var sampleType: HKSampleType? { objectType as? HKSampleType }

  /// Ends the query with an error. Each kind of query overrides it.
  func fail(_ error: any Error) {}

  /// Accepts samples whose time meets a span of time.
  open class func predicateForSamples(
    withStart startDate: Date?, end endDate: Date?, options: HKQueryOptions = []
  ) -> NSPredicate {
    NSPredicate { object, _ in
      guard let sample = object as? HKSample else { return false }
      let first = options.contains(.strictStartDate) ? sample.startDate : sample.endDate
      let last = options.contains(.strictEndDate) ? sample.endDate : sample.startDate
      return first >= startDate ?? .distantPast && last < endDate ?? .distantFuture
    }
  }
  open class func predicateForObjects(from source: HKSource) -> NSPredicate { predicateForObjects(from: [source]) }
  open class func predicateForObjects(from sources: Set<HKSource>) -> NSPredicate {
    let bundles = Set(sources.map(\.bundleIdentifier))
    return NSPredicate { object, _ in
      (object as? HKObject).map { bundles.contains($0.sourceRevision.source.bundleIdentifier) } ?? false
    }
  }
  open class func predicateForObject(with uuid: UUID) -> NSPredicate { predicateForObjects(with: [uuid]) }
  open class func predicateForObjects(with uuids: Set<UUID>) -> NSPredicate {
    NSPredicate { object, _ in (object as? HKObject).map { uuids.contains($0.uuid) } ?? false }
  }
}

/// Source: `HealthKit.HKSampleQuery`.
open class HKSampleQuery: HKQuery {
  public let limit: Int
  public let sortDescriptors: [NSSortDescriptor]?
  private let handler: @Sendable (HKSampleQuery, [HKSample]?, (any Error)?) -> Void

  public init(
    sampleType: HKSampleType, predicate: NSPredicate?, limit: Int, sortDescriptors: [NSSortDescriptor]?,
    resultsHandler: @escaping @Sendable (HKSampleQuery, [HKSample]?, (any Error)?) -> Void
  ) {
    self.limit = limit
    self.sortDescriptors = sortDescriptors
    handler = resultsHandler
    super.init(sampleType, predicate)
  }

  override func fail(_ error: any Error) { handler(self, nil, error) }
}

/// Source: `HealthKit.HKObserverQuery`.
open class HKObserverQuery: HKQuery {
  private let handler: @Sendable (HKObserverQuery, @escaping HKObserverQueryCompletionHandler, (any Error)?) -> Void

  public init(
    sampleType: HKSampleType, predicate: NSPredicate?,
    updateHandler:
      @escaping @Sendable (
        HKObserverQuery, @escaping HKObserverQueryCompletionHandler, (any Error)?
      ) -> Void
  ) {
    handler = updateHandler
    super.init(sampleType, predicate)
  }

  override func fail(_ error: any Error) { handler(self, {}, error) }
}

/// Source: `HealthKit.HKObserverQueryCompletionHandler`.
public typealias HKObserverQueryCompletionHandler = () -> Void

/// A position in the changes of data. Source: `HealthKit.HKQueryAnchor`.
public final class HKQueryAnchor: NSObject, Sendable {
  private let value: Int
  public init(fromValue value: Int) { self.value = value }
}

/// Source: `HealthKit.HKAnchoredObjectQuery`.
open class HKAnchoredObjectQuery: HKQuery {
  public typealias Handler =
    @Sendable (
      HKAnchoredObjectQuery, [HKSample]?, [HKDeletedObject]?, HKQueryAnchor?, (any Error)?
    ) -> Void
  public let anchor: HKQueryAnchor?
  public let limit: Int
  private let handler: Handler
  /// Never called here, because no data change.
  open var updateHandler: Handler?

  public init(
    type: HKSampleType, predicate: NSPredicate?, anchor: HKQueryAnchor?, limit: Int,
    resultsHandler handler: @escaping Handler
  ) {
    self.anchor = anchor
    self.limit = limit
    self.handler = handler
    super.init(type, predicate)
  }

  override func fail(_ error: any Error) { handler(self, nil, nil, nil, error) }
}

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

  init(_ type: HKQuantityType, start: Date, end: Date) {
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
