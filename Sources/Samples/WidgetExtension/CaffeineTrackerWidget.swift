// SPDX-License-Identifier: Apache-2.0

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
