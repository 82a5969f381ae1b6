// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
public import Foundation

/// The methods that the system calls on an app's delegate. Source: `UIKit.UIApplicationDelegate`; every method is
/// optional.
@MainActor public protocol UIApplicationDelegate: NSObjectProtocol, ClassInstantiable {
  /// The window of an app without scenes.
  var window: UIWindow? { get set }
  /// The app is being launched.
  func application(
    _ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  /// The app has launched. Called when the form with options is missing.
  func applicationDidFinishLaunching(_ application: UIApplication)
  /// The app has launched.
  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  /// The app comes from the background to the foreground. Not called at a launch by the user, nor for an app with scenes.
  func applicationWillEnterForeground(_ application: UIApplication)
  /// The app is in the foreground. Not called for an app with scenes.
  func applicationDidBecomeActive(_ application: UIApplication)
  /// The app is about to leave the foreground. Not called for an app with scenes.
  func applicationWillResignActive(_ application: UIApplication)
  /// The app is no longer in the foreground. Not called for an app with scenes.
  func applicationDidEnterBackground(_ application: UIApplication)
  /// The process is about to exit.
  func applicationWillTerminate(_ application: UIApplication)
  /// The user changed the clock or the time zone. A suspended app is called when it is resumed.
  func applicationSignificantTimeChange(_ application: UIApplication)
  /// The user unlocked the device. Called while the app runs.
  func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication)
  /// The user locked the device. Called while the app runs.
  func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication)
  /// The user opened a URL of the app, such as that of a widget.
  func application(
    _ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
  ) -> Bool
  /// The former method of the same purpose, called when the newer one is missing.
  func application(
    _ application: UIApplication, open url: URL, sourceApplication: String?, annotation: Any
  ) -> Bool
  /// The oldest method of the same purpose, called when the newer ones are missing.
  func application(_ application: UIApplication, handleOpen url: URL) -> Bool
  /// The user is about to continue an activity. Whether the user is notified if that takes long has no effect.
  func application(_ application: UIApplication, willContinueUserActivityWithType userActivityType: String) -> Bool
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
  /// Returns the configuration of a scene that is about to connect. Called when `Info.plist` has a scene manifest, and for
  /// a SwiftUI app.
  func application(
    _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
    options: UIScene.ConnectionOptions
  ) -> UISceneConfiguration
  /// The user discarded scenes. Never called: the only scene ends with its process.
  func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>)
}

extension UIApplicationDelegate {
  public var window: UIWindow? {
    get { nil }
    set {}
  }
  public func application(
    _ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool { true }
  public func applicationDidFinishLaunching(_ application: UIApplication) {}
  /// Calls the form without options.
  public func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    applicationDidFinishLaunching(application)
    return true
  }
  public func applicationWillEnterForeground(_ application: UIApplication) {}
  public func applicationDidBecomeActive(_ application: UIApplication) {}
  public func applicationWillResignActive(_ application: UIApplication) {}
  public func applicationDidEnterBackground(_ application: UIApplication) {}
  public func applicationWillTerminate(_ application: UIApplication) {}
  public func applicationSignificantTimeChange(_ application: UIApplication) {}
  public func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {}
  public func applicationProtectedDataWillBecomeUnavailable(_ application: UIApplication) {}
  /// Calls the former method.
  public func application(
    _ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
  ) -> Bool { application(app, open: url, sourceApplication: nil, annotation: [String: Any]()) }
  /// Calls the oldest method.
  public func application(
    _ application: UIApplication, open url: URL, sourceApplication: String?, annotation: Any
  ) -> Bool { self.application(application, handleOpen: url) }
  /// Returns that the URL was not opened.
  public func application(_ application: UIApplication, handleOpen url: URL) -> Bool { false }
  public func application(
    _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
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
  /// Returns a configuration without a name: the first of the manifest.
  public func application(
    _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession,
    options: UIScene.ConnectionOptions
  ) -> UISceneConfiguration { UISceneConfiguration(name: nil, sessionRole: connectingSceneSession.role) }
  public func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>) {}
}

// Requirements of delegates that nothing here can call. A method of `NSObject` that is declared in an extension cannot be
// overridden, so a delegate that implements one does not compile, and the error names it.
extension NSObject {
  /// Never called: background fetch is not simulated. Source: `UIKit.UIApplicationDelegate`, as the following.
  @MainActor public final func application(
    _ application: UIApplication,
    performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) { completionHandler(.noData) }
  /// Never called: the memory of an app is not limited.
  @MainActor public final func applicationDidReceiveMemoryWarning(_ application: UIApplication) {}
  /// Never called: it is replaced by the form with a completion handler.
  @MainActor public final func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) {}
  /// Never called: activities come from widgets, and do not fail.
  @MainActor public final func application(
    _ application: UIApplication, didFailToContinueUserActivityWithType userActivityType: String, error: any Error
  ) {}
  /// Never called: activities are not updated.
  @MainActor public final func application(_ application: UIApplication, didUpdate userActivity: NSUserActivity) {}
  /// Never called: there is no watch.
  @MainActor public final func application(
    _ application: UIApplication, handleWatchKitExtensionRequest userInfo: [AnyHashable: Any]?,
    reply: @escaping ([AnyHashable: Any]?) -> Void
  ) { reply(nil) }
  /// Never called: there is no watch that asks for it.
  @MainActor public final func applicationShouldRequestHealthAuthorization(_ application: UIApplication) {}
  /// Never called: the state of an app is not restored. So the following.
  @MainActor public final func application(
    _ application: UIApplication, shouldSaveSecureApplicationState coder: NSCoder
  ) -> Bool { false }
  @MainActor public final func application(
    _ application: UIApplication, shouldRestoreSecureApplicationState coder: NSCoder
  ) -> Bool { false }
  @MainActor public final func application(
    _ application: UIApplication, shouldSaveApplicationState coder: NSCoder
  ) -> Bool { false }
  @MainActor public final func application(
    _ application: UIApplication, shouldRestoreApplicationState coder: NSCoder
  ) -> Bool { false }
  @MainActor public final func application(
    _ application: UIApplication, willEncodeRestorableStateWith coder: NSCoder
  ) {}
  @MainActor public final func application(
    _ application: UIApplication, didDecodeRestorableStateWith coder: NSCoder
  ) {}
  @MainActor public final func application(
    _ application: UIApplication, viewControllerWithRestorationIdentifierPath identifierComponents: [String],
    coder: NSCoder
  ) -> UIViewController? { nil }
  /// Never called: the state of a scene is not restored. Source: `UIKit.UISceneDelegate`, as the following.
  @MainActor public final func scene(
    _ scene: UIScene, restoreInteractionStateWith stateRestorationActivity: NSUserActivity
  ) {}
  /// Never called: activities are not updated.
  @MainActor public final func scene(_ scene: UIScene, didUpdate userActivity: NSUserActivity) {}
  /// Never called: activities come from widgets, and do not fail.
  @MainActor public final func scene(
    _ scene: UIScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error
  ) {}
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
