// SPDX-License-Identifier: Apache-2.0

import ActivityKit
import Foundation
import SwiftUI
import UIKit

struct RidesApp: App {
  @UIApplicationDelegateAdaptor(RidesDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Rides") } }
}

/// Requests an activity when it is opened, if `TRIAL_REQUESTS` is set and the app has no activity. Pushes for the app itself tell
/// it what to do. Prints what it sees.
final class RidesDelegate: NSObject, UIApplicationDelegate {
  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    application.registerForRemoteNotifications()
    print(
      "enabled \(ActivityAuthorizationInfo().areActivitiesEnabled), activities \(Activity<RideAttributes>.activities.count)"
    )
    Task {
      for await token in Activity<RideAttributes>.pushToStartTokenUpdates { print("start token \(token.digits)") }
    }
    Task {
      for await activity in Activity<RideAttributes>.activityUpdates { Self.follow(activity) }
    }
    return true
  }

  private static func follow(_ activity: Activity<RideAttributes>) {
    print("activity of \(activity.attributes.rider), \(activity.activityState)")
    Task {
      for await token in activity.pushTokenUpdates { print("update token \(token.digits)") }
    }
    Task {
      for await content in activity.contentUpdates { print("content \(content.state.minutes)") }
    }
    Task {
      for await state in activity.activityStateUpdates { print("state \(state)") }
      print("no more states")
    }
  }

  func applicationDidBecomeActive(_ application: UIApplication) {
    guard FixtureActivities.environment["TRIAL_REQUESTS"] != nil, Activity<RideAttributes>.activities.isEmpty else {
      return
    }
    request("Ada")
  }

  private func request(_ rider: String) {
    do {
      let content = ActivityContent(
        state: RideAttributes.ContentState(minutes: 5), staleDate: .now + 600, relevanceScore: 1)
      let activity = try Activity.request(
        attributes: RideAttributes(rider: rider), content: content, pushType: .token)
      print("requested \(activity.content.state.minutes)")
    } catch {
      print("refused \(error)")
    }
  }

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    let words = (userInfo["story"] as? String ?? "").split(separator: " ").map(String.init)
    let minutes = words.count > 1 ? Int(words[1]) ?? 0 : 0
    let content = ActivityContent(state: RideAttributes.ContentState(minutes: minutes), staleDate: nil)
    switch words.first {
    case "request": request(words.count > 1 ? words[1] : "Ada")
    case "large": request(String(repeating: "a", count: 5_000))
    case "update", "end":
      let ends = words.first == "end"
      Task {
        for activity in Activity<RideAttributes>.activities {
          if ends { await activity.end(content, dismissalPolicy: .default) } else { await activity.update(content) }
        }
        print("\(ends ? "ended" : "updated") \(minutes)")
        completionHandler(.newData)
      }
      return
    default: break
    }
    completionHandler(.newData)
  }
}

extension Data {
  var digits: String { map { String(format: "%02x", $0) }.joined() }
}
