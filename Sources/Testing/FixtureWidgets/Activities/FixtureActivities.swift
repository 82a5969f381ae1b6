// SPDX-License-Identifier: Apache-2.0

import ActivityKit
import AppIntents
import Foundation
import SwiftUI
import UIKit
import WidgetKit

/// An extension with a Live Activity and a widget, and an app that requests, updates and ends activities, and prints
/// what it sees of them. `TRIAL_APP` selects the app; `TRIAL_DIES` lets the extension exit once while it is asked for
/// views, and is the path of the file that remembers it.
enum FixtureActivities {
  static let environment = ProcessInfo.processInfo.environment

  @MainActor static func main() {
    if environment["TRIAL_APP"] != nil { return RidesApp.main() }
    RideWidgets.main()
  }
}

/// A ride of one rider, which arrives in some minutes.
struct RideAttributes: ActivityAttributes {
  struct ContentState: Codable, Hashable {
    var minutes: Int
    var place: String?
  }
  var rider: String
}

struct RideWidgets: WidgetBundle {
  var body: some Widget {
    StillWidget()
    RideActivity()
  }
}

struct RideActivity: Widget {
  var body: some WidgetConfiguration {
    ActivityConfiguration(for: RideAttributes.self) { context in
      RideView(context: context)
        .activityBackgroundTint(.indigo)
        .activitySystemActionForegroundColor(.white)
    } dynamicIsland: { context in
      DynamicIsland {
        DynamicIslandExpandedRegion(.leading) { Text(verbatim: context.attributes.rider) }
        DynamicIslandExpandedRegion(.trailing) { Text(verbatim: "\(context.state.minutes) min") }
        DynamicIslandExpandedRegion(.bottom) {
          ProgressView(value: 1 / Double(max(1, context.state.minutes)))
          Toggle("Quiet", isOn: false, intent: Hush())
        }
      } compactLeading: {
        Image(systemName: "car")
      } compactTrailing: {
        Text(verbatim: "\(context.state.minutes)m")
      } minimal: {
        Text(verbatim: "\(context.state.minutes)")
      }
      .keylineTint(.indigo)
      .widgetURL(URL(string: "rides://\(context.activityID)"))
      .contentMargins(.horizontal, 20, for: .expanded)
    }
    .supplementalActivityFamilies([.small])
  }
}

/// Makes the ride shorter, in the app.
struct Hurry: LiveActivityIntent {
  static let title: LocalizedStringResource = "Hurry"

  func perform() async throws -> some IntentResult {
    for activity in Activity<RideAttributes>.activities {
      let state = RideAttributes.ContentState(minutes: activity.content.state.minutes - 3)
      await activity.update(ActivityContent(state: state, staleDate: nil))
    }
    print("hurried")
    return .result()
  }
}

/// Is performed in the extension.
struct Hush: AppIntent {
  static let title: LocalizedStringResource = "Hush"

  func perform() async throws -> some IntentResult {
    print("hushed")
    return .result()
  }
}

struct RideView: View {
  @Environment(\.activityFamily) private var family
  @Environment(\.isActivityFullscreen) private var isFullscreen
  let context: ActivityViewContext<RideAttributes>

  var body: some View {
    let _ = exitOnce()
    if family == .small {
      Text(verbatim: "\(context.attributes.rider) \(context.state.minutes)")
    } else {
      VStack(alignment: .leading) {
        Text(verbatim: context.attributes.rider).font(.headline)
        Text(verbatim: context.isStale ? "late" : "in \(context.state.minutes) minutes")
        if let place = context.state.place { Text(verbatim: place) }
        Button("Hurry", intent: Hurry())
      }
      .foregroundStyle(.white)
      .padding()
    }
  }

  private func exitOnce() {
    guard let file = FixtureActivities.environment["TRIAL_DIES"], !FileManager.default.fileExists(atPath: file) else {
      return
    }
    _ = FileManager.default.createFile(atPath: file, contents: nil)
    fatalError("the extension crashes while it is asked for views")
  }
}

struct StillWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Still", provider: StillProvider()) { _ in
      Text(verbatim: "still").containerBackground(.background, for: .widget)
    }
  }
}

struct StillEntry: TimelineEntry {
  let date: Date
}

struct StillProvider: TimelineProvider {
  func placeholder(in context: Context) -> StillEntry { StillEntry(date: .now) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (StillEntry) -> Void) {
    completion(StillEntry(date: .now))
  }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<StillEntry>) -> Void) {
    completion(Timeline(entries: [StillEntry(date: .now)], policy: .never))
  }
}

#Preview("Ride", as: .content, using: RideAttributes(rider: "Ada")) {
  RideActivity()
} contentStates: {
  RideAttributes.ContentState(minutes: 5)
  RideAttributes.ContentState(minutes: 4, place: "Mill Road")
}

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
      for await token in Activity<RideAttributes>.pushToStartTokenUpdates { print("start token \(token.hex)") }
    }
    Task {
      for await activity in Activity<RideAttributes>.activityUpdates { Self.follow(activity) }
    }
    return true
  }

  private static func follow(_ activity: Activity<RideAttributes>) {
    print("activity of \(activity.attributes.rider), \(activity.activityState)")
    Task {
      for await token in activity.pushTokenUpdates { print("update token \(token.hex)") }
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
