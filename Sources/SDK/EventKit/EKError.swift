// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `EventKit.EKErrorDomain`.
public let EKErrorDomain = "EKErrorDomain"

/// Source: `EventKit.EKError`.
public struct EKError: CustomNSError, Hashable, Sendable {
  /// Source: `EventKit.EKError.Code`.
  public enum Code: Int, Sendable {
    case eventNotMutable = 0
    case noCalendar = 1
    case noStartDate = 2
    case noEndDate = 3
    case datesInverted = 4
    case internalFailure = 5
    case calendarReadOnly = 6
    case objectBelongsToDifferentStore = 12
    case eventStoreNotAuthorized = 29
  }

  public let code: Code
  public init(_ code: Code) { self.code = code }

  public static var errorDomain: String { EKErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: localizedDescription] }
  public var localizedDescription: String {
    code == .eventStoreNotAuthorized
      ? "This app is not authorized to access calendar data."
      : "The operation couldn’t be completed: EventKit, \(code)."
  }

  public static var eventStoreNotAuthorized: Code { .eventStoreNotAuthorized }
  public static var noCalendar: Code { .noCalendar }
}
