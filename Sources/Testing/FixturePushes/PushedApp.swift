// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

struct PushedApp: App {
  @UIApplicationDelegateAdaptor(PushedDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Pushes") } }
}

/// Registers at launch, and prints the tokens and pushes that it receives. The payload determines its result.
final class PushedDelegate: NSObject, UIApplicationDelegate {
  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    application.registerForRemoteNotifications()
    return true
  }

  func applicationDidBecomeActive(_ application: UIApplication) {
    print("in front, registered: \(application.isRegisteredForRemoteNotifications)")
  }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
  ) { print("app token \(deviceToken.hex)") }

  func application(
    _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
  ) { print("no app token: \((error as NSError).domain) \((error as NSError).code)") }

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    let what = userInfo["story"] as? String ?? "nothing"
    print("received \(what), \(application.applicationState == .active ? "in front" : "in the background")")
    switch what {
    case "dies": fatalError("the app crashes on a push")
    case "never": return
    default: completionHandler(what == "fails" ? .failed : .newData)
    }
  }
}
