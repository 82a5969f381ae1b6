// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

/// Source: `HealthKit.HKAuthorizationStatus`.
public enum HKAuthorizationStatus: Int, Sendable {
  case notDetermined, sharingDenied, sharingAuthorized
}

/// Source: `HealthKit.HKAuthorizationRequestStatus`.
public enum HKAuthorizationRequestStatus: Int, Sendable {
  case unknown, shouldRequest, unnecessary
}

/// Source: `HealthKit.HKUpdateFrequency`.
public enum HKUpdateFrequency: Int, Sendable {
  case immediate = 1
  case hourly = 2
  case daily = 3
  case weekly = 4
}

/// The health data of the device. Source: `HealthKit.HKHealthStore`. A device here has none, as an iPad had none before
/// iPadOS 17: `isHealthDataAvailable()` is `false`, and everything else fails with `errorHealthDataUnavailable`. The
/// diagnosis `not-simulated` names the use.
public final class HKHealthStore: NSObject, Sendable {
  public override init() { super.init() }

  private static func notice() {
    HostedProcess.current?.noticeUnsimulated(
      "HKHealthStore", "a device has no health data: isHealthDataAvailable() is false, and queries fail")
  }

  private func unavailable() -> HKError {
    Self.notice()
    return HKError(.errorHealthDataUnavailable)
  }

  public class func isHealthDataAvailable() -> Bool {
    notice()
    return false
  }

  public func supportsHealthRecords() -> Bool { false }
  public func authorizationStatus(for type: HKObjectType) -> HKAuthorizationStatus { .notDetermined }

  public func requestAuthorization(
    toShare typesToShare: Set<HKSampleType>?, read typesToRead: Set<HKObjectType>?,
    completion: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) { answer { completion(false, $0) } }
  public func requestAuthorization(
    toShare typesToShare: Set<HKSampleType>, read typesToRead: Set<HKObjectType>
  ) async throws { throw unavailable() }
  public func getRequestStatusForAuthorization(
    toShare typesToShare: Set<HKSampleType>, read typesToRead: Set<HKObjectType>,
    completion: @escaping @Sendable (HKAuthorizationRequestStatus, (any Error)?) -> Void
  ) { answer { completion(.unknown, $0) } }
  public func statusForAuthorizationRequest(
    toShare typesToShare: Set<HKSampleType>, read typesToRead: Set<HKObjectType>
  ) async throws -> HKAuthorizationRequestStatus { throw unavailable() }

  /// Calls the query's handler with an error, on another thread, as HealthKit does.
  public func execute(_ query: HKQuery) {
    let error = unavailable()
    // Only the handler, on the queue, uses the query from now on.
    nonisolated(unsafe) let query = query
    Self.queue.async { query.fail(error) }
  }
  /// Has no effect: a query ends at once here.
  public func stop(_ query: HKQuery) {}

  public func save(_ object: HKObject, withCompletion completion: @escaping @Sendable (Bool, (any Error)?) -> Void) {
    answer { completion(false, $0) }
  }
  public func save(
    _ objects: [HKObject], withCompletion completion: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) { answer { completion(false, $0) } }
  public func save(_ object: HKObject) async throws { throw unavailable() }
  public func save(_ objects: [HKObject]) async throws { throw unavailable() }
  public func delete(
    _ object: HKObject, withCompletion completion: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) { answer { completion(false, $0) } }
  public func delete(
    _ objects: [HKObject], withCompletion completion: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) { answer { completion(false, $0) } }
  public func delete(_ object: HKObject) async throws { throw unavailable() }
  public func delete(_ objects: [HKObject]) async throws { throw unavailable() }
  public func deleteObjects(
    of objectType: HKObjectType, predicate: NSPredicate,
    withCompletion completion: @escaping @Sendable (Bool, Int, (any Error)?) -> Void
  ) { answer { completion(false, 0, $0) } }

  public func enableBackgroundDelivery(
    for type: HKObjectType, frequency: HKUpdateFrequency,
    withCompletion completion: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) { answer { completion(false, $0) } }
  public func enableBackgroundDelivery(for type: HKObjectType, frequency: HKUpdateFrequency) async throws {
    throw unavailable()
  }
  public func disableAllBackgroundDelivery(completion: @escaping @Sendable (Bool, (any Error)?) -> Void) {
    answer { completion(false, $0) }
  }
  public func preferredUnits(
    for quantityTypes: Set<HKQuantityType>,
    completion: @escaping @Sendable ([HKQuantityType: HKUnit], (any Error)?) -> Void
  ) { answer { completion([:], $0) } }
  public func preferredUnits(for quantityTypes: Set<HKQuantityType>) async throws -> [HKQuantityType: HKUnit] {
    throw unavailable()
  }

  private static let queue = DispatchQueue(label: "com.apple.HealthKit.HKHealthStore")

  private func answer(_ completion: @escaping @Sendable (HKError) -> Void) {
    let error = unavailable()
    Self.queue.async { completion(error) }
  }
}

extension NSNotification.Name {
  /// Source: `HealthKit.HKUserPreferencesDidChange`. Never posted here.
  public static let HKUserPreferencesDidChange = NSNotification.Name("HKUserPreferencesDidChangeNotification")
}

/// Source: `HealthKit.HKErrorDomain`.
public let HKErrorDomain = "com.apple.healthkit"

/// Source: `HealthKit.HKError`.
public struct HKError: CustomNSError, Hashable, Sendable {
  /// Source: `HealthKit.HKError.Code`.
  public enum Code: Int, Sendable {
    case unknownError = -1
    case noError = 0
    case errorHealthDataUnavailable = 1
    case errorHealthDataRestricted = 2
    case errorInvalidArgument = 3
    case errorAuthorizationDenied = 4
    case errorAuthorizationNotDetermined = 5
    case errorDatabaseInaccessible = 6
    case errorUserCanceled = 7
    case errorAnotherWorkoutSessionStarted = 8
    case errorUserExitedWorkoutSession = 9
    case errorRequiredAuthorizationDenied = 10
    case errorNoData = 11
    case errorWorkoutActivityNotAllowed = 12
    case errorDataSizeExceeded = 13
    case errorBackgroundWorkoutSessionNotAllowed = 14
    case errorNotPermissibleForGuestUserMode = 15
  }

  public let code: Code
  public init(_ code: Code) { self.code = code }

  public static var errorDomain: String { HKErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: localizedDescription] }
  public var localizedDescription: String {
    code == .errorHealthDataUnavailable
      ? "Health data is unavailable on this device." : "The operation couldn’t be completed: HealthKit, \(code)."
  }

  public static var unknownError: Code { .unknownError }
  public static var errorHealthDataUnavailable: Code { .errorHealthDataUnavailable }
  public static var errorHealthDataRestricted: Code { .errorHealthDataRestricted }
  public static var errorInvalidArgument: Code { .errorInvalidArgument }
  public static var errorAuthorizationDenied: Code { .errorAuthorizationDenied }
  public static var errorAuthorizationNotDetermined: Code { .errorAuthorizationNotDetermined }
  public static var errorDatabaseInaccessible: Code { .errorDatabaseInaccessible }
  public static var errorUserCanceled: Code { .errorUserCanceled }
  public static var errorNoData: Code { .errorNoData }
}

extension HKError.Code {
  /// Matches an error with this code in a `catch`.
  public static func ~= (code: HKError.Code, error: any Error) -> Bool { (error as? HKError)?.code == code }
}
