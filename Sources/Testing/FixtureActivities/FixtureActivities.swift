// SPDX-License-Identifier: Apache-2.0

import ActivityKit
import Foundation
import SwiftUI
import WidgetKit

/// An extension with a Live Activity and a widget, and an app that requests, updates and ends activities, and prints
/// what it sees of them. `TRIAL_APP` selects the app; `TRIAL_DIES` lets the extension exit once while it is asked for
/// views, and is the path of the file that remembers it.
@main enum FixtureActivities {
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
        DynamicIslandExpandedRegion(.bottom) { ProgressView(value: 1 / Double(max(1, context.state.minutes))) }
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
