// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
public import Foundation

/// The methods that the system calls on an app's delegate. Source: `UIKit.UIApplicationDelegate`; every method is
/// optional.
@MainActor public protocol UIApplicationDelegate: NSObjectProtocol, ClassInstantiable {
  /// The app has launched.
  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  /// The app is in the foreground.
  func applicationDidBecomeActive(_ application: UIApplication)
  /// The app is no longer in the foreground.
  func applicationDidEnterBackground(_ application: UIApplication)
  /// The process is about to exit.
  func applicationWillTerminate(_ application: UIApplication)
  /// The user opened a URL of the app, such as that of a widget.
  func application(
    _ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
  ) -> Bool
  /// The user continues an activity, such as tapping a widget.
  func application(
    _ application: UIApplication, continue userActivity: NSUserActivity,
    restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
  ) -> Bool
  /// The tasks of a background session have ended. Create the session, and call the completion handler after its
  /// delegate has received all events.
  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void)
  /// The app has a device token, or a new one.
  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
  /// No device token is available.
  func application(
    _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)
  /// A remote notification arrived. Call the completion handler within 30 seconds.
  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)
  /// The asynchronous form of the method.
  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult
}

extension UIApplicationDelegate {
  public func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool { true }
  public func applicationDidBecomeActive(_ application: UIApplication) {}
  public func applicationDidEnterBackground(_ application: UIApplication) {}
  public func applicationWillTerminate(_ application: UIApplication) {}
  /// Returns that the URL was not opened.
  public func application(
    _ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
  ) -> Bool { false }
  /// Returns that the activity was not continued.
  public func application(
    _ application: UIApplication, continue userActivity: NSUserActivity,
    restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
  ) -> Bool { false }
  /// Leaves the events to the session's delegate, which receives them when the author creates the session.
  public func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void
  ) { completionHandler() }
  public func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) {}
  public func application(
    _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
  ) {}
  /// Calls the asynchronous form.
  public func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    Task { completionHandler(await self.application(application, didReceiveRemoteNotification: userInfo)) }
  }
  /// Returns that there was no new data.
  public func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult {
    FetchCompletion.current?.isNotThere()
    return .noData
  }
}

/// An object that the system creates from its class, as the Objective-C runtime does. Authors do not use it.
///
/// A requirement `init()` would force every non-final class to declare it `required`, which Xcode does not.
public protocol ClassInstantiable {}

extension ClassInstantiable {
  /// Calls the class's `init()`. The entry has the same index in the vtable of every class that inherits `NSObject`, so
  /// it is called through `UIResponder`, whose `init()` is `required`.
  @MainActor package init() {
    guard let type = Self.self as? NSObject.Type else {
      fatalError("\(Self.self) cannot be an app's delegate: it does not inherit NSObject")
    }
    let made = unsafeBitCast(type, to: UIResponder.Type.self).init()
    self = unsafeBitCast(made, to: Self.self)
  }
}

/// An activity of the user that an app can continue. Source: `Foundation.NSUserActivity`, which does not exist on
/// Linux.
open class NSUserActivity: NSObject {
  /// The app's name of the activity; the kind for a widget.
  public let activityType: String
  /// For a tapped widget: the kind and family, under `WidgetCenter.UserInfoKey`.
  open var userInfo: [AnyHashable: Any]?
  /// A web page with the same content.
  open var webpageURL: URL?
  open var title: String?

  /// For a tapped widget: its configuration.
  var configuration: [String: ArchivedValue] = [:]
  /// For a tapped widget: the type of its configuration.
  var intent: String?

  public init(activityType: String) { self.activityType = activityType }
}

extension NSUserActivity {
  /// The configuration of the tapped widget; `nil` when it does not match this intent type. Blocks until the author's
  /// query has returned the chosen entities. Source: the overlay of AppIntents, iOS 17.
  public func widgetConfigurationIntent<Intent: WidgetConfigurationIntent>(of intentType: Intent.Type) -> Intent? {
    intentType.restoredBlocking(configuration, of: intent)
  }
}

/// An object that can restore an activity's state. Source: `UIKit.UIUserActivityRestoring`.
@MainActor public protocol UIUserActivityRestoring {
  func restoreUserActivityState(_ activity: NSUserActivity)
}

extension UIApplication {
  /// A key of the options for opening a URL. Source: `UIKit.UIApplication.OpenURLOptionsKey`.
  public struct OpenURLOptionsKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}
