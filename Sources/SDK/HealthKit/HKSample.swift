// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `HealthKit.HKSampleSortIdentifierStartDate`.
public let HKSampleSortIdentifierStartDate = "startDate"
/// Source: `HealthKit.HKSampleSortIdentifierEndDate`.
public let HKSampleSortIdentifierEndDate = "endDate"

/// The app or device that saved data. Source: `HealthKit.HKSource`.
public final class HKSource: NSObject, Sendable {
  public let name: String
  public let bundleIdentifier: String

  private override init() {
    bundleIdentifier = Bundle.main.bundleIdentifier ?? ""
    name = Bundle.main.object(forInfoDictionaryKey: "CFBundleName") as? String ?? bundleIdentifier
  }

  /// The author's process.
  public class func `default`() -> HKSource { HKSource() }
}

/// Source: `HealthKit.HKSourceRevision`.
public final class HKSourceRevision: NSObject, Sendable {
  public let source: HKSource
  public let version: String?

  public init(source: HKSource, version: String?) {
    self.source = source
    self.version = version
  }
}

/// The hardware that measured data. Source: `HealthKit.HKDevice`.
public final class HKDevice: NSObject, Sendable {
  public let name: String?
  public let manufacturer: String?
  public let model: String?
  public let hardwareVersion: String?
  public let firmwareVersion: String?
  public let softwareVersion: String?
  public let localIdentifier: String?
  public let udiDeviceIdentifier: String?

  public init(
    name: String?, manufacturer: String?, model: String?, hardwareVersion: String?, firmwareVersion: String?,
    softwareVersion: String?, localIdentifier: String?, udiDeviceIdentifier: String?
  ) {
    self.name = name
    self.manufacturer = manufacturer
    self.model = model
    self.hardwareVersion = hardwareVersion
    self.firmwareVersion = firmwareVersion
    self.softwareVersion = softwareVersion
    self.localIdentifier = localIdentifier
    self.udiDeviceIdentifier = udiDeviceIdentifier
  }
}

/// A piece of data. Source: `HealthKit.HKObject`.
open class HKObject: NSObject {
  public let uuid = UUID()
  public let metadata: [String: Any]?
  public let device: HKDevice?
  public let sourceRevision = HKSourceRevision(
    source: .default(), version: Bundle.main.object(forInfoDictionaryKey: "CFBundleVersion") as? String)

  init(_ metadata: [String: Any]?, _ device: HKDevice?) {
    self.metadata = metadata
    self.device = device
  }
}

/// Data of a time. Source: `HealthKit.HKSample`.
open class HKSample: HKObject {
  public let sampleType: HKSampleType
  public let startDate: Date
  public let endDate: Date
  open var hasUndeterminedDuration: Bool { endDate == .distantFuture }

  init(_ type: HKSampleType, start: Date, end: Date, metadata: [String: Any]?, device: HKDevice?) {
    guard start <= end else { fatalError("HKSample: the end \(end) is before the start \(start)") }
    sampleType = type
    startDate = start
    endDate = end
    super.init(metadata, device)
  }
}

/// Source: `HealthKit.HKQuantitySample`.
open class HKQuantitySample: HKSample {
  public let quantityType: HKQuantityType
  public let quantity: HKQuantity
  open var count: Int { 1 }

  public convenience init(type quantityType: HKQuantityType, quantity: HKQuantity, start: Date, end: Date) {
    self.init(type: quantityType, quantity: quantity, start: start, end: end, device: nil, metadata: nil)
  }
  public convenience init(
    type quantityType: HKQuantityType, quantity: HKQuantity, start: Date, end: Date, metadata: [String: Any]?
  ) { self.init(type: quantityType, quantity: quantity, start: start, end: end, device: nil, metadata: metadata) }
  public init(
    type quantityType: HKQuantityType, quantity: HKQuantity, start: Date, end: Date, device: HKDevice?,
    metadata: [String: Any]?
  ) {
    self.quantityType = quantityType
    self.quantity = quantity
    super.init(quantityType, start: start, end: end, metadata: metadata, device: device)
  }
}

/// Source: `HealthKit.HKCategorySample`.
open class HKCategorySample: HKSample {
  public let categoryType: HKCategoryType
  public let value: Int

  public convenience init(type: HKCategoryType, value: Int, start: Date, end: Date) {
    self.init(type: type, value: value, start: start, end: end, device: nil, metadata: nil)
  }
  public convenience init(type: HKCategoryType, value: Int, start: Date, end: Date, metadata: [String: Any]?) {
    self.init(type: type, value: value, start: start, end: end, device: nil, metadata: metadata)
  }
  public init(
    type: HKCategoryType, value: Int, start: Date, end: Date, device: HKDevice?, metadata: [String: Any]?
  ) {
    categoryType = type
    self.value = value
    super.init(type, start: start, end: end, metadata: metadata, device: device)
  }
}

/// Source: `HealthKit.HKDeletedObject`.
public final class HKDeletedObject: NSObject, Sendable {
  public let uuid: UUID

  init(uuid: UUID) { self.uuid = uuid }
}
