// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
