// SPDX-License-Identifier: Apache-2.0

import UIKit

/// The app of the caffeine widget. It has its own background session.
@main class AppDelegate: UIResponder, UIApplicationDelegate {
  func applicationDidBecomeActive(_ application: UIApplication) {
    print("the app is in the foreground")
    Task { await FiguresSession.shared.start() }
  }

  func applicationDidEnterBackground(_ application: UIApplication) {
    print("the app is in the background")
  }

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    completionHandler: @escaping () -> Void
  ) {
    guard identifier == FiguresSession.identifier else { return completionHandler() }
    FiguresSession.shared.handleEvents(completion: completionHandler)
  }
}
