// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A kind of data. Source: `HealthKit.HKObjectType`.
open class HKObjectType: NSObject {
  public let identifier: String

  init(_ identifier: String) { self.identifier = identifier }

  /// Not `nil` for the identifiers of HealthKit, which is not checked here.
  open class func quantityType(forIdentifier identifier: HKQuantityTypeIdentifier) -> HKQuantityType? {
    HKQuantityType(identifier)
  }
  open class func categoryType(forIdentifier identifier: HKCategoryTypeIdentifier) -> HKCategoryType? {
    HKCategoryType(identifier)
  }
  open class func characteristicType(
    forIdentifier identifier: HKCharacteristicTypeIdentifier
  ) -> HKCharacteristicType? { HKCharacteristicType(identifier) }
  open class func correlationType(forIdentifier identifier: HKCorrelationTypeIdentifier) -> HKCorrelationType? {
    HKCorrelationType(identifier)
  }
  open class func workoutType() -> HKWorkoutType { HKWorkoutType("HKWorkoutTypeIdentifier") }
  open class func activitySummaryType() -> HKActivitySummaryType {
    HKActivitySummaryType("HKActivitySummaryTypeIdentifier")
  }

  open func requiresPerObjectAuthorization() -> Bool { false }

  open override var description: String { identifier }
  open override var hash: Int { identifier.hashValue }
  open override func isEqual(_ object: Any?) -> Bool { (object as? HKObjectType)?.identifier == identifier }
}

/// Source: `HealthKit.HKCharacteristicType`.
public final class HKCharacteristicType: HKObjectType {
  public convenience init(_ identifier: HKCharacteristicTypeIdentifier) { self.init(identifier.rawValue) }
}

/// Source: `HealthKit.HKActivitySummaryType`.
public final class HKActivitySummaryType: HKObjectType {}

/// Source: `HealthKit.HKSampleType`.
open class HKSampleType: HKObjectType {
  open var isMinimumDurationRestricted: Bool { false }
  open var isMaximumDurationRestricted: Bool { false }
}

/// Source: `HealthKit.HKWorkoutType`.
public final class HKWorkoutType: HKSampleType {}

/// Source: `HealthKit.HKCategoryType`.
public final class HKCategoryType: HKSampleType {
  public convenience init(_ identifier: HKCategoryTypeIdentifier) { self.init(identifier.rawValue) }
}

/// Source: `HealthKit.HKCorrelationType`.
public final class HKCorrelationType: HKSampleType {
  public convenience init(_ identifier: HKCorrelationTypeIdentifier) { self.init(identifier.rawValue) }
}

/// Source: `HealthKit.HKQuantityType`.
public final class HKQuantityType: HKSampleType {
  public convenience init(_ identifier: HKQuantityTypeIdentifier) { self.init(identifier.rawValue) }
}
