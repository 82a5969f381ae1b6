// SPDX-License-Identifier: Apache-2.0

public import CoreGraphicsAPI
public import Foundation

/// Source: `EventKit.EKSourceType`.
public enum EKSourceType: Int, Sendable {
  case local, exchange, calDAV, mobileMe, subscribed, birthdays
}

/// Source: `EventKit.EKCalendarType`.
public enum EKCalendarType: Int, Sendable {
  case local, calDAV, exchange, subscription, birthday
}

/// Source: `EventKit.EKObject`.
open class EKObject: NSObject {
  open var hasChanges: Bool { isNew }
  /// Always, because nothing is stored.
  open var isNew: Bool { true }
  open func reset() {}
  open func rollback() {}
  @discardableResult open func refresh() -> Bool { false }
}

/// An account with calendars. Source: `EventKit.EKSource`. A device here has none.
open class EKSource: EKObject {
  public let sourceIdentifier: String
  public let sourceType: EKSourceType
  public let title: String

  init(identifier: String, type: EKSourceType, title: String) {
    sourceIdentifier = identifier
    sourceType = type
    self.title = title
  }

  open func calendars(for entityType: EKEntityType) -> Set<EKCalendar> { [] }
}

/// A calendar or a list of reminders. Source: `EventKit.EKCalendar`.
open class EKCalendar: EKObject {
  public let calendarIdentifier = UUID().uuidString
  public let allowedEntityTypes: EKEntityType
  open var title = ""
  open var source: EKSource!
  open var cgColor: CGColor!
  open var type: EKCalendarType { .local }
  open var allowsContentModifications: Bool { true }
  open var isSubscribed: Bool { false }
  open var isImmutable: Bool { false }

  /// A new calendar, which no store contains.
  public init(for entityType: EKEntityType, eventStore: EKEventStore) { allowedEntityTypes = entityType }
}

/// Source: `EventKit.EKAlarm`.
open class EKAlarm: EKObject {
  open var relativeOffset: TimeInterval
  open var absoluteDate: Date?

  public init(absoluteDate date: Date) {
    absoluteDate = date
    relativeOffset = 0
  }
  public init(relativeOffset offset: TimeInterval) { relativeOffset = offset }
}

/// Source: `EventKit.EKRecurrenceFrequency`.
public enum EKRecurrenceFrequency: Int, Sendable {
  case daily, weekly, monthly, yearly
}

/// Source: `EventKit.EKRecurrenceEnd`.
public final class EKRecurrenceEnd: NSObject, Sendable {
  public let endDate: Date?
  /// 0 for an end with a date.
  public let occurrenceCount: Int

  public init(end endDate: Date) {
    self.endDate = endDate
    occurrenceCount = 0
  }
  public init(occurrenceCount: Int) {
    endDate = nil
    self.occurrenceCount = occurrenceCount
  }
}

/// Source: `EventKit.EKRecurrenceRule`.
open class EKRecurrenceRule: EKObject {
  public let frequency: EKRecurrenceFrequency
  public let interval: Int
  open var recurrenceEnd: EKRecurrenceEnd?

  public init(recurrenceWith type: EKRecurrenceFrequency, interval: Int, end: EKRecurrenceEnd?) {
    frequency = type
    self.interval = interval
    recurrenceEnd = end
  }
}

/// Source: `EventKit.EKCalendarItem`.
open class EKCalendarItem: EKObject {
  public let calendarItemIdentifier = UUID().uuidString
  open var calendarItemExternalIdentifier: String! { nil }
  open var calendar: EKCalendar!
  open var title: String!
  open var location: String?
  open var notes: String?
  open var url: URL?
  open var timeZone: TimeZone?
  open var alarms: [EKAlarm]?
  open var lastModifiedDate: Date? { nil }
  open var creationDate: Date? { nil }
  open var hasNotes: Bool { notes?.isEmpty == false }
  open var hasAlarms: Bool { alarms?.isEmpty == false }
  open var recurrenceRules: [EKRecurrenceRule]?
  open var hasRecurrenceRules: Bool { recurrenceRules?.isEmpty == false }
  open func addRecurrenceRule(_ rule: EKRecurrenceRule) { recurrenceRules = (recurrenceRules ?? []) + [rule] }
  open var hasAttendees: Bool { false }
  open func addAlarm(_ alarm: EKAlarm) { alarms = (alarms ?? []) + [alarm] }
  open func removeAlarm(_ alarm: EKAlarm) { alarms?.removeAll { $0 === alarm } }

  override init() { super.init() }
}

/// Source: `EventKit.EKEventAvailability`.
public enum EKEventAvailability: Int, Sendable {
  case notSupported = -1
  case busy, free, tentative, unavailable
}

/// Source: `EventKit.EKEventStatus`.
public enum EKEventStatus: Int, Sendable {
  case none, confirmed, tentative, canceled
}

/// Source: `EventKit.EKEvent`.
open class EKEvent: EKCalendarItem {
  public let eventIdentifier: String! = nil
  open var isAllDay = false
  open var startDate: Date! = .distantPast
  open var endDate: Date! = .distantPast
  open var availability = EKEventAvailability.busy
  open var status: EKEventStatus { .none }
  open var isDetached: Bool { false }
  open var occurrenceDate: Date! { startDate }

  /// A new event, which no store contains.
  public init(eventStore: EKEventStore) { super.init() }

  open func compareStartDate(with other: EKEvent) -> ComparisonResult { startDate.compare(other.startDate) }
}

/// Source: `EventKit.EKReminderPriority`.
public enum EKReminderPriority: UInt, Sendable {
  case none = 0
  case high = 1
  case medium = 5
  case low = 9
}

/// Source: `EventKit.EKReminder`.
open class EKReminder: EKCalendarItem {
  open var startDateComponents: DateComponents?
  open var dueDateComponents: DateComponents?
  /// Sets `completionDate` to now, or to `nil`.
  open var isCompleted: Bool {
    get { completionDate != nil }
    set { completionDate = newValue ? completionDate ?? Date() : nil }
  }
  open var completionDate: Date?
  /// From 1, the highest, to 9; 0 for none.
  open var priority = 0

  /// A new reminder, which no store contains.
  public init(eventStore: EKEventStore) { super.init() }
}
