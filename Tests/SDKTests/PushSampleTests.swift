// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import SwiftUI
@testable import WidgetKit

// Declarations that Apple's article mentions but does not show.
private enum Constants { static let widgetKind = "CaffeineTracker" }

private struct Entry: TimelineEntry { let date: Date }

private struct Provider: TimelineProvider {
  func placeholder(in context: Context) -> Entry { Entry(date: .now) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void) {
    completion(Entry(date: .now))
  }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void) {
    completion(Timeline(entries: [Entry(date: .now)], policy: .never))
  }
}

private struct CaffeineTrackerWidgetView: View {
  let entry: Entry
  var body: some View { Text(entry.date, style: .time) }
}

// The samples of Apple's "Updating widgets with WidgetKit push notifications", unchanged.

// swift-format-ignore
// Handle push token and widget configuration changes.
struct CaffeineTrackerPushHandler: WidgetPushHandler {
    func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
        // Send the push token and subscription info
        // to your remote notification server.
        // ...
    }
}

// swift-format-ignore
// Add the pushHandler to the WidgetConfiguration.
struct CaffeineTrackerWidget: Widget {
    var body: some WidgetConfiguration {
        StaticConfiguration(
            kind: Constants.widgetKind,
            provider: Provider()
        ) { entry in
            CaffeineTrackerWidgetView(entry: entry)
        }
        .configurationDisplayName("Caffeine Tracker")
        .pushHandler(CaffeineTrackerPushHandler.self)
    }
}

@Suite struct `Apple's samples of widget pushes` {
  @Test
  @MainActor func `Apple's sample of a widget push handler compiles unchanged and is declared with its widget`() throws
  {
    let declaration = try #require(CaffeineTrackerWidget().descriptions.first?.declaration)
    #expect(declaration.kind == "CaffeineTracker")
    #expect(declaration.pushHandler == "CaffeineTrackerPushHandler")
  }
}
