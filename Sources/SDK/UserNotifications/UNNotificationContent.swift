// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Source: `UserNotifications.UNAuthorizationOptions`.
public struct UNAuthorizationOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let badge = UNAuthorizationOptions(rawValue: 1)
  public static let sound = UNAuthorizationOptions(rawValue: 2)
  public static let alert = UNAuthorizationOptions(rawValue: 4)
  public static let carPlay = UNAuthorizationOptions(rawValue: 8)
  public static let criticalAlert = UNAuthorizationOptions(rawValue: 16)
  public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 32)
  public static let provisional = UNAuthorizationOptions(rawValue: 64)
}

/// Source: `UserNotifications.UNAuthorizationStatus`.
public enum UNAuthorizationStatus: Int, Sendable {
  case notDetermined = 0
  case denied, authorized, provisional, ephemeral
}

/// Source: `UserNotifications.UNNotificationSoundName`.
public struct UNNotificationSoundName: Hashable, RawRepresentable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// Source: `UserNotifications.UNNotificationSound`.
open class UNNotificationSound: NSObject {
  public let name: UNNotificationSoundName?
  public init(named name: UNNotificationSoundName?) { self.name = name }
  open class var `default`: UNNotificationSound { UNNotificationSound(named: nil) }
  open class var defaultCritical: UNNotificationSound { UNNotificationSound(named: nil) }
  open class func defaultCriticalSound(withAudioVolume volume: Float) -> UNNotificationSound {
    UNNotificationSound(named: nil)
  }
  open class func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
    UNNotificationSound(named: name)
  }
  open class func criticalSoundNamed(
    _ name: UNNotificationSoundName, withAudioVolume volume: Float
  ) -> UNNotificationSound { UNNotificationSound(named: name) }
}

/// Source: `UserNotifications.UNNotificationInterruptionLevel`.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
  case passive, active, timeSensitive, critical
}

/// What a notification shows. Source: `UserNotifications.UNNotificationContent`.
open class UNNotificationContent: NSObject {
  open fileprivate(set) var storage = Storage()

  /// The values of a content.
  public struct Storage {
    var title = ""
    var subtitle = ""
    var body = ""
    var badge: NSNumber?
    var sound: UNNotificationSound?
    var userInfo: [AnyHashable: Any] = [:]
    var categoryIdentifier = ""
    var threadIdentifier = ""
    var interruptionLevel = UNNotificationInterruptionLevel.active
    var relevanceScore = 0.0
  }

  public override init() { super.init() }

  /// From the payload of a push. Source: *Generating a remote notification*.
  init(payload: String) {
    super.init()
    let object = (try? JSONSerialization.jsonObject(with: Data(payload.utf8))) as? [String: Any] ?? [:]
    let aps = object["aps"] as? [String: Any] ?? [:]
    let alert = aps["alert"] as? [String: Any] ?? [:]
    storage.title = alert["title"] as? String ?? ""
    storage.subtitle = alert["subtitle"] as? String ?? ""
    storage.body = alert["body"] as? String ?? aps["alert"] as? String ?? ""
    storage.badge = aps["badge"] as? NSNumber
    storage.sound = aps["sound"] == nil ? nil : .default
    storage.userInfo = object
    storage.categoryIdentifier = aps["category"] as? String ?? ""
    storage.threadIdentifier = aps["thread-id"] as? String ?? ""
    storage.relevanceScore = (aps["relevance-score"] as? NSNumber)?.doubleValue ?? 0
    storage.interruptionLevel =
      switch aps["interruption-level"] as? String {
      case "passive": .passive
      case "time-sensitive": .timeSensitive
      case "critical": .critical
      default: .active
      }
  }

  open var title: String { storage.title }
  open var subtitle: String { storage.subtitle }
  open var body: String { storage.body }
  open var badge: NSNumber? { storage.badge }
  open var sound: UNNotificationSound? { storage.sound }
  open var userInfo: [AnyHashable: Any] { storage.userInfo }
  open var categoryIdentifier: String { storage.categoryIdentifier }
  open var threadIdentifier: String { storage.threadIdentifier }
  open var interruptionLevel: UNNotificationInterruptionLevel { storage.interruptionLevel }
  open var relevanceScore: Double { storage.relevanceScore }

  open override func mutableCopy() -> Any {
    let copy = UNMutableNotificationContent()
    copy.storage = storage
    return copy
  }
}

/// Source: `UserNotifications.UNMutableNotificationContent`.
open class UNMutableNotificationContent: UNNotificationContent {
  open override var title: String {
    get { storage.title }
    set { storage.title = newValue }
  }
  open override var subtitle: String {
    get { storage.subtitle }
    set { storage.subtitle = newValue }
  }
  open override var body: String {
    get { storage.body }
    set { storage.body = newValue }
  }
  open override var badge: NSNumber? {
    get { storage.badge }
    set { storage.badge = newValue }
  }
  open override var sound: UNNotificationSound? {
    get { storage.sound }
    set { storage.sound = newValue }
  }
  open override var userInfo: [AnyHashable: Any] {
    get { storage.userInfo }
    set { storage.userInfo = newValue }
  }
  open override var categoryIdentifier: String {
    get { storage.categoryIdentifier }
    set { storage.categoryIdentifier = newValue }
  }
  open override var threadIdentifier: String {
    get { storage.threadIdentifier }
    set { storage.threadIdentifier = newValue }
  }
  open override var interruptionLevel: UNNotificationInterruptionLevel {
    get { storage.interruptionLevel }
    set { storage.interruptionLevel = newValue }
  }
  open override var relevanceScore: Double {
    get { storage.relevanceScore }
    set { storage.relevanceScore = newValue }
  }
}

/// When a notification is delivered. Source: `UserNotifications.UNNotificationTrigger`.
open class UNNotificationTrigger: NSObject {
  public let repeats: Bool
  init(repeats: Bool) { self.repeats = repeats }
}

/// Of a notification of a push server. Source: `UserNotifications.UNPushNotificationTrigger`.
open class UNPushNotificationTrigger: UNNotificationTrigger {}

/// Source: `UserNotifications.UNTimeIntervalNotificationTrigger`.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
  public let timeInterval: TimeInterval
  public init(timeInterval: TimeInterval, repeats: Bool) {
    self.timeInterval = timeInterval
    super.init(repeats: repeats)
  }
  open func nextTriggerDate() -> Date? { Date() + timeInterval }
}

/// Source: `UserNotifications.UNCalendarNotificationTrigger`.
open class UNCalendarNotificationTrigger: UNNotificationTrigger {
  public let dateComponents: DateComponents
  public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
    self.dateComponents = dateComponents
    super.init(repeats: repeats)
  }
  open func nextTriggerDate() -> Date? {
    Calendar.current.nextDate(after: Date(), matching: dateComponents, matchingPolicy: .nextTime)
  }
}

/// Source: `UserNotifications.UNNotificationRequest`.
open class UNNotificationRequest: NSObject {
  public let identifier: String
  public let content: UNNotificationContent
  public let trigger: UNNotificationTrigger?
  public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
    self.identifier = identifier
    self.content = content
    self.trigger = trigger
  }
}

/// Source: `UserNotifications.UNNotification`.
open class UNNotification: NSObject {
  public let date: Date
  public let request: UNNotificationRequest
  init(_ request: UNNotificationRequest, date: Date) {
    self.request = request
    self.date = date
  }
}

/// Source: `UserNotifications.UNNotificationResponse`.
open class UNNotificationResponse: NSObject {
  public let notification: UNNotification
  public let actionIdentifier: String
  init(_ notification: UNNotification, action: String) {
    self.notification = notification
    actionIdentifier = action
  }
}
