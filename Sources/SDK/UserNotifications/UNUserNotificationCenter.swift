// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
@_exported public import Foundation
import MessageBus
import Messages
import Synchronization
import Timekeeping

/// Source: `UserNotifications.UNNotificationPresentationOptions`.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let badge = UNNotificationPresentationOptions(rawValue: 1)
  public static let sound = UNNotificationPresentationOptions(rawValue: 2)
  public static let alert = UNNotificationPresentationOptions(rawValue: 4)
  public static let list = UNNotificationPresentationOptions(rawValue: 8)
  public static let banner = UNNotificationPresentationOptions(rawValue: 16)
}

/// Source: `UserNotifications.UNUserNotificationCenterDelegate`; every method is optional.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
  /// An alert arrived by push while the app is in front and may show notifications. Called on the main thread.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
  /// The asynchronous form. `@concurrent`, as an author's module has it without `NonisolatedNonsendingByDefault`.
  @concurrent func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions
  /// The user tapped a notification. Never called: no notification is on a screen here.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)
  /// The asynchronous form.
  @concurrent func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
  ) async
}

extension UNUserNotificationCenterDelegate {
  /// Calls the asynchronous form.
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
  ) {
    // Used by this call only.
    nonisolated(unsafe) let (delegate, center, notification, done) = (self, center, notification, completionHandler)
    Task { @MainActor in done(await delegate.userNotificationCenter(center, willPresent: notification)) }
  }
  /// Presents nothing.
  @concurrent public func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions {
    Presentation.current?.isMissing()
    return []
  }
  public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) { completionHandler() }
  @concurrent public func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
  ) async {}
}

// A requirement that nothing here can call. A method of `NSObject` that is declared in an extension cannot be overridden, so
// a delegate that implements it does not compile, and the error names it.
extension NSObject {
  /// Never called: there is no Settings app. Source: `UserNotifications.UNUserNotificationCenterDelegate`.
  public final func userNotificationCenter(
    _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
  ) {}
}

/// One call of `willPresent`. Detects whether the delegate has the method, and takes the first answer.
final class Presentation: Sendable {
  @TaskLocal static var current: Presentation?

  private struct State {
    var isMissing = false
    var waiting: CheckedContinuation<UNNotificationPresentationOptions, Never>?
  }

  private let state = Mutex(State())

  func isMissing() { state.withLock { $0.isMissing = true } }

  /// Calls the method on the main thread.
  ///
  /// - Returns: `nil` when the delegate has neither form of it.
  @MainActor static func ask(
    _ call: (@escaping (UNNotificationPresentationOptions) -> Void) -> Void
  ) async -> UNNotificationPresentationOptions? {
    let presentation = Presentation()
    let options = await withCheckedContinuation { continuation in
      presentation.state.withLock { $0.waiting = continuation }
      $current.withValue(presentation) {
        call { options in presentation.state.withLock { $0.waiting.take() }?.resume(returning: options) }
      }
    }
    return presentation.state.withLock { $0.isMissing } ? nil : options
  }
}

extension UNNotificationPresentationOptions {
  /// The names of the options, as the log of pushes has them.
  var text: String {
    let names: [(UNNotificationPresentationOptions, String)] = [
      (.banner, "banner"), (.list, "list"), (.sound, "sound"), (.badge, "badge"), (.alert, "alert"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

/// Source: `UserNotifications.UNNotificationSetting`.
public enum UNNotificationSetting: Int, Sendable {
  case notSupported = 0
  case disabled, enabled
}

/// Source: `UserNotifications.UNAlertStyle`.
public enum UNAlertStyle: Int, Sendable {
  case none = 0
  case banner, alert
}

/// Source: `UserNotifications.UNShowPreviewsSetting`.
public enum UNShowPreviewsSetting: Int, Sendable {
  case always = 0
  case whenAuthenticated, never
}

/// Source: `UserNotifications.UNNotificationSettings`. What the app asked for is enabled while the user allows it.
public final class UNNotificationSettings: NSObject, Sendable {
  private let access: AskNotificationAccess.Reply

  init(_ access: AskNotificationAccess.Reply) { self.access = access }

  public var authorizationStatus: UNAuthorizationStatus { UNAuthorizationStatus(access.status) }
  public var alertSetting: UNNotificationSetting { setting(.alert) }
  public var badgeSetting: UNNotificationSetting { setting(.badge) }
  public var soundSetting: UNNotificationSetting { setting(.sound) }
  public var notificationCenterSetting: UNNotificationSetting { isGranted ? .enabled : .disabled }
  public var lockScreenSetting: UNNotificationSetting { setting(.alert) }
  public var criticalAlertSetting: UNNotificationSetting { .notSupported }
  public var carPlaySetting: UNNotificationSetting { .notSupported }
  public var announcementSetting: UNNotificationSetting { .notSupported }
  public var timeSensitiveSetting: UNNotificationSetting { .notSupported }
  public var scheduledDeliverySetting: UNNotificationSetting { .disabled }
  public var directMessagesSetting: UNNotificationSetting { .notSupported }
  public var alertStyle: UNAlertStyle { setting(.alert) == .enabled ? .banner : .none }
  public var showPreviewsSetting: UNShowPreviewsSetting { .always }
  public var providesAppNotificationSettings: Bool {
    UNAuthorizationOptions(rawValue: access.options).contains(.providesAppNotificationSettings)
  }

  private var isGranted: Bool { access.status == .authorized || access.status == .provisional }

  /// A provisional authorization has no alerts, badges or sounds.
  private func setting(_ option: UNAuthorizationOptions) -> UNNotificationSetting {
    guard UNAuthorizationOptions(rawValue: access.options).contains(option) else {
      return access.status == .notDetermined ? .disabled : .notSupported
    }
    return access.status == .authorized ? .enabled : .disabled
  }
}

extension UNAuthorizationStatus {
  fileprivate init(_ status: AskNotificationAccess.Status) {
    self =
      switch status {
      case .notDetermined: .notDetermined
      case .denied: .denied
      case .authorized: .authorized
      case .provisional: .provisional
      }
  }
}

/// Source: `UserNotifications.UNUserNotificationCenter`. A notification that an app adds is kept by its process and never
/// shown; the diagnosis `not-simulated` names it.
open class UNUserNotificationCenter: NSObject {
  // Its requests are behind a lock; the delegate is set before pushes arrive.
  nonisolated(unsafe) private static let only = UNUserNotificationCenter()
  open class func current() -> UNUserNotificationCenter { only }

  /// The work of a process that no agent started.
  private let tasks = TaskOwner()
  private let lock = NSLock()
  private var requests: [UNNotificationRequest] = []
  open weak var delegate: (any UNUserNotificationCenterDelegate)? {
    didSet {
      guard let process = HostedProcess.current else { return }
      NotificationPresenter.of(process).present = { await UNUserNotificationCenter.present($0) }
    }
  }
  open var supportsContentExtensions: Bool { false }

  /// Asks the delegate about an alert that arrived while the app is in front.
  @MainActor private static func present(_ payload: String) async -> String? {
    guard let delegate = only.delegate else { return nil }
    let content = UNNotificationContent(payload: payload)
    let request = UNNotificationRequest(
      identifier: UUID().uuidString, content: content, trigger: UNPushNotificationTrigger(repeats: false))
    let notification = UNNotification(request, date: Date())
    return await Presentation.ask {
      delegate.userNotificationCenter(only, willPresent: notification, withCompletionHandler: $0)
    }?.text
  }

  /// Reads the permission, or asks for it. Without a device, as in an author's tests, it is granted.
  private static func access(_ options: UNAuthorizationOptions? = nil) async throws -> AskNotificationAccess.Reply {
    guard let process = HostedProcess.current else {
      let options = options ?? [.alert, .badge, .sound]
      return AskNotificationAccess.Reply(status: .authorized, options: options.rawValue)
    }
    return try await process.connection.request(
      AskNotificationAccess(options: options?.rawValue), to: process.host, context: HostedProcess.currentContext,
      within: .seconds(86_400), whenUnreachable: .wait)
  }

  /// Returns when the user has answered. `widgetlab setting notification-access` decides.
  ///
  /// - Returns: whether the app may show notifications.
  @discardableResult open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
    guard let process = HostedProcess.current else { return true }
    let answers = DevicePlace.of(process).answerChanges
    var access = try await Self.access(options)
    if access.status == .notDetermined, process.address.role == .app {
      for await _ in answers {
        access = try await Self.access()
        if access.status != .notDetermined { break }
      }
    }
    return access.status == .authorized || access.status == .provisional
  }
  open func requestAuthorization(
    options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    let work: @Sendable () async -> Void = {
      do {
        completionHandler(try await UNUserNotificationCenter.current().requestAuthorization(options: options), nil)
      } catch {
        completionHandler(false, error)
      }
    }
    start(work)
  }

  open func notificationSettings() async -> UNNotificationSettings {
    UNNotificationSettings(
      (try? await Self.access()) ?? AskNotificationAccess.Reply(status: .notDetermined, options: 0))
  }
  open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
    start { completionHandler(await UNUserNotificationCenter.current().notificationSettings()) }
  }

  private func start(_ work: @escaping @Sendable () async -> Void) {
    guard let process = HostedProcess.current else {
      tasks.start(work)
      return
    }
    let context = HostedProcess.currentContext
    process.startTask { await process.asCurrent(context, work) }
  }

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
