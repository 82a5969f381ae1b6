// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// Shows today's caffeine.
@main struct CaffeineTrackerWidget: Widget {
  nonisolated static let kind = "CaffeineTracker"

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: Self.kind, provider: CaffeineProvider()) { entry in
      CaffeineView(entry: entry)
    }
    .configurationDisplayName("Caffeine")
    .description("Shows how much caffeine you have had today.")
    .supportedFamilies([.systemSmall, .systemMedium])
    .pushHandler(CaffeineTrackerPushHandler.self)
    .onBackgroundURLSessionEvents(matching: FiguresDownload.sessionIdentifier) { _, completion in
      FiguresDownload.shared.handleEvents(completion: completion)
    }
    .onBackgroundURLSessionEvents(matching: SubscriptionUpload.sessionIdentifier) { _, completion in
      SubscriptionUpload.shared.handleEvents(completion: completion)
    }
  }
}

struct CaffeineView: View {
  let entry: CaffeineEntry

  var body: some View {
    VStack(alignment: .leading) {
      if let figures = entry.figures {
        Text("\(figures.milligrams) mg of caffeine")
        if let drink = figures.drinks.last {
          Text("last: \(drink.name) at \(drink.time, format: .dateTime.hour().minute())")
        }
      } else {
        Text("No figures yet")
      }
    }
    .containerBackground(.background, for: .widget)
  }
}

struct CaffeineEntry: TimelineEntry {
  let date: Date
  /// The last figures that were received; `nil` before the first.
  let figures: DailyFigures?
}

/// Shows the server's current figures, or else the last ones received, and downloads new ones when those are old.
struct CaffeineProvider: TimelineProvider {
  func placeholder(in context: Context) -> CaffeineEntry {
    CaffeineEntry(date: Date(), figures: nil)
  }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (CaffeineEntry) -> Void) {
    completion(CaffeineEntry(date: Date(), figures: FiguresFile.shared?.stored?.figures))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<CaffeineEntry>) -> Void) {
    Task {
      let stored = FiguresFile.shared?.stored
      if stored?.isFresh != true { await FiguresDownload.shared.start() }
      let figures = await CaffeineServer.shared?.figures() ?? stored?.figures
      let entry = CaffeineEntry(date: Date(), figures: figures)
      completion(Timeline(entries: [entry], policy: .after(Date(timeIntervalSinceNow: 3600))))
    }
  }
}

/// Sends each new push token, and the placed widgets, to the developer's server.
struct CaffeineTrackerPushHandler: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
    let subscription = Subscription(
      token: pushInfo.token.map { String(format: "%02x", $0) }.joined(),
      widgets: widgets.map { Subscription.Widget(kind: $0.kind, family: "\($0.family)") })
    Task { await SubscriptionUpload.shared.send(subscription) }
  }
}
