// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_exported public import Foundation

/// Source: `UserNotifications.UNNotificationPresentationOptions`.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let badge = UNNotificationPresentationOptions(rawValue: 1)
  public static let sound = UNNotificationPresentationOptions(rawValue: 2)
  public static let list = UNNotificationPresentationOptions(rawValue: 8)
  public static let banner = UNNotificationPresentationOptions(rawValue: 16)
}

/// Source: `UserNotifications.UNUserNotificationCenterDelegate`. No notification is shown here, so it is never called.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)
}

extension UNUserNotificationCenterDelegate {
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    completionHandler([])
  }
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    completionHandler()
  }
}

/// Source: `UserNotifications.UNNotificationSettings`.
open class UNNotificationSettings: NSObject {
  open var authorizationStatus: UNAuthorizationStatus { .authorized }
}

/// Source: `UserNotifications.UNUserNotificationCenter`. A notification that an app adds is kept by its process and never
/// shown; the diagnosis `not-simulated` names it. Notifications of a push server are of UIKit.
open class UNUserNotificationCenter: NSObject {
  // Its state is behind a lock.
  nonisolated(unsafe) private static let only = UNUserNotificationCenter()
  open class func current() -> UNUserNotificationCenter { only }

  private let lock = NSLock()
  private var requests: [UNNotificationRequest] = []
  open weak var delegate: (any UNUserNotificationCenterDelegate)?
  open var supportsContentExtensions: Bool { false }

  open func requestAuthorization(
    options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    DispatchQueue.global().async { completionHandler(true, nil) }
  }
  @discardableResult open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { true }

  open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
    DispatchQueue.global().async { completionHandler(UNNotificationSettings()) }
  }
  open func notificationSettings() async -> UNNotificationSettings { UNNotificationSettings() }

  private func keep(_ request: UNNotificationRequest) {
    HostedProcess.current?.noticeUnsimulated(
      "UNUserNotificationCenter.add", "local notifications are kept by the process, and not shown")
    lock.withLock {
      requests.removeAll { $0.identifier == request.identifier }
      requests.append(request)
    }
  }

  open func add(
    _ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    keep(request)
    DispatchQueue.global().async { completionHandler?(nil) }
  }
  open func add(_ request: UNNotificationRequest) async throws { keep(request) }

  open func pendingNotificationRequests() async -> [UNNotificationRequest] { lock.withLock { requests } }
  open func getPendingNotificationRequests(completionHandler: @escaping ([UNNotificationRequest]) -> Void) {
    // Used once.
    nonisolated(unsafe) let (requests, completionHandler) = (lock.withLock { self.requests }, completionHandler)
    DispatchQueue.global().async { completionHandler(requests) }
  }
  open func deliveredNotifications() async -> [UNNotification] { [] }
  open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
    DispatchQueue.global().async { completionHandler([]) }
  }
  open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
    lock.withLock { requests.removeAll { identifiers.contains($0.identifier) } }
  }
  open func removeAllPendingNotificationRequests() { lock.withLock { requests = [] } }
  open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}
  open func removeAllDeliveredNotifications() {}
  open func setBadgeCount(_ newBadgeCount: Int) async throws {}
}
