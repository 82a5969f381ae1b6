// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_exported public import CoreGraphicsAPI
@_exported public import Foundation
import Synchronization

/// Source: `EventKit.EKEntityType`.
public enum EKEntityType: UInt, Sendable {
  case event, reminder
}

/// Source: `EventKit.EKAuthorizationStatus`.
public enum EKAuthorizationStatus: Int, Sendable {
  case notDetermined, restricted, denied, fullAccess, writeOnly

  public static var authorized: EKAuthorizationStatus { .fullAccess }
}

/// Source: `EventKit.EKSpan`.
public enum EKSpan: Int, Sendable {
  case thisEvent, futureEvents
}

/// Source: `EventKit.EKEventStoreRequestAccessCompletionHandler`.
public typealias EKEventStoreRequestAccessCompletionHandler = @Sendable (Bool, (any Error)?) -> Void

extension NSNotification.Name {
  /// Source: `EventKit.EKEventStoreChanged`. Never posted here.
  public static let EKEventStoreChanged = NSNotification.Name("EKEventStoreChangedNotification")
}

/// The calendars and reminders of the device. Source: `EventKit.EKEventStore`. A device here has none, and no one who
/// could grant access: a request is refused, and saving fails. The diagnosis `not-simulated` names the use.
open class EKEventStore: NSObject {
  /// What was asked for in this process, and refused.
  private static let refused = Mutex<Set<EKEntityType>>([])

  public override init() { super.init() }
  public convenience init(sources: [EKSource]) { self.init() }

  private static func notice() {
    HostedProcess.current?.noticeUnsimulated(
      "EKEventStore", "a device has no calendars and reminders: access is refused, and there are no items")
  }

  /// `denied` after a request in this process.
  open class func authorizationStatus(for entityType: EKEntityType) -> EKAuthorizationStatus {
    notice()
    return refused.withLock { $0.contains(entityType) } ? .denied : .notDetermined
  }

  private func refuse(_ type: EKEntityType) {
    Self.notice()
    Self.refused.withLock { _ = $0.insert(type) }
  }

  private func refuse(_ type: EKEntityType, _ completion: @escaping EKEventStoreRequestAccessCompletionHandler) {
    refuse(type)
    DispatchQueue.global().async { completion(false, nil) }
  }

  open func requestAccess(
    to entityType: EKEntityType, completion: @escaping EKEventStoreRequestAccessCompletionHandler
  ) { refuse(entityType, completion) }
  open func requestAccess(to entityType: EKEntityType) async throws -> Bool {
    refuse(entityType)
    return false
  }
  open func requestFullAccessToEvents(completion: @escaping EKEventStoreRequestAccessCompletionHandler) {
    refuse(.event, completion)
  }
  open func requestFullAccessToEvents() async throws -> Bool { try await requestAccess(to: .event) }
  open func requestWriteOnlyAccessToEvents(completion: @escaping EKEventStoreRequestAccessCompletionHandler) {
    refuse(.event, completion)
  }
  open func requestWriteOnlyAccessToEvents() async throws -> Bool { try await requestAccess(to: .event) }
  open func requestFullAccessToReminders(completion: @escaping EKEventStoreRequestAccessCompletionHandler) {
    refuse(.reminder, completion)
  }
  open func requestFullAccessToReminders() async throws -> Bool { try await requestAccess(to: .reminder) }

  // What it contains: nothing.
  open var eventStoreIdentifier: String { "" }
  open var sources: [EKSource] { [] }
  open func source(withIdentifier identifier: String) -> EKSource? { nil }
  open func calendars(for entityType: EKEntityType) -> [EKCalendar] {
    Self.notice()
    return []
  }
  open func calendar(withIdentifier identifier: String) -> EKCalendar? { nil }
  open var defaultCalendarForNewEvents: EKCalendar? { nil }
  open func defaultCalendarForNewReminders() -> EKCalendar? { nil }
  open func calendarItem(withIdentifier identifier: String) -> EKCalendarItem? { nil }
  open func calendarItems(withExternalIdentifier externalIdentifier: String) -> [EKCalendarItem] { [] }
  open func event(withIdentifier identifier: String) -> EKEvent? { nil }
  open func events(matching predicate: NSPredicate) -> [EKEvent] { [] }
  open func enumerateEvents(
    matching predicate: NSPredicate, using block: (EKEvent, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {}
  /// Calls the completion with no reminders.
  @discardableResult open func fetchReminders(
    matching predicate: NSPredicate, completion: @escaping @Sendable ([EKReminder]?) -> Void
  ) -> Any {
    DispatchQueue.global().async { completion([]) }
    return NSObject()
  }
  open func cancelFetchRequest(_ fetchIdentifier: Any) {}
  open func refreshSourcesIfNecessary() {}
  open func reset() {}

  open func predicateForEvents(
    withStart startDate: Date, end endDate: Date, calendars: [EKCalendar]?
  ) -> NSPredicate {
    NSPredicate { item, _ in
      (item as? EKEvent).map { $0.startDate < endDate && $0.endDate > startDate } ?? false
    }
  }
  open func predicateForReminders(in calendars: [EKCalendar]?) -> NSPredicate {
    NSPredicate { item, _ in item is EKReminder }
  }
  open func predicateForIncompleteReminders(
    withDueDateStarting startDate: Date?, ending endDate: Date?, calendars: [EKCalendar]?
  ) -> NSPredicate { NSPredicate { item, _ in (item as? EKReminder)?.isCompleted == false } }
  open func predicateForCompletedReminders(
    withCompletionDateStarting startDate: Date?, ending endDate: Date?, calendars: [EKCalendar]?
  ) -> NSPredicate { NSPredicate { item, _ in (item as? EKReminder)?.isCompleted == true } }

  // What changes it: always an error.
  private func unauthorized() -> EKError {
    Self.notice()
    return EKError(.eventStoreNotAuthorized)
  }

  open func save(_ event: EKEvent, span: EKSpan) throws { throw unauthorized() }
  open func save(_ event: EKEvent, span: EKSpan, commit: Bool) throws { throw unauthorized() }
  open func remove(_ event: EKEvent, span: EKSpan) throws { throw unauthorized() }
  open func remove(_ event: EKEvent, span: EKSpan, commit: Bool) throws { throw unauthorized() }
  open func save(_ reminder: EKReminder, commit: Bool) throws { throw unauthorized() }
  open func remove(_ reminder: EKReminder, commit: Bool) throws { throw unauthorized() }
  open func saveCalendar(_ calendar: EKCalendar, commit: Bool) throws { throw unauthorized() }
  open func removeCalendar(_ calendar: EKCalendar, commit: Bool) throws { throw unauthorized() }
  open func commit() throws {}
}

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
