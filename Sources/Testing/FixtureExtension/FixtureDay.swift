// SPDX-License-Identifier: Apache-2.0

import SwiftUI
import WidgetKit

/// Twenty widgets. The timelines of each depend only on the request dates and on the widget's number, so that two
/// simulated days can be compared.
struct FixtureDay: WidgetBundle {
  var body: some Widget {
    DayWidget(1)
    DayWidget(2)
    DayWidget(3)
    DayWidget(4)
    DayWidget(5)
    DayWidget(6)
    DayWidget(7)
    DayWidget(8)
    DayWidget(9)
    DayWidget(10)
    DayWidget(11)
    DayWidget(12)
    DayWidget(13)
    DayWidget(14)
    DayWidget(15)
    DayWidget(16)
    DayWidget(17)
    DayWidget(18)
    DayWidget(19)
    DayWidget(20)
  }
}

struct DayWidget: Widget {
  private let number: Int

  init() { self.init(0) }
  init(_ number: Int) { self.number = number }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Day\(number)", provider: DayProvider(number: number)) { entry in
      VStack {
        Text(verbatim: "widget \(entry.number)")
        Text(verbatim: "entry \(entry.index) at \(Int(entry.date.timeIntervalSince1970))")
      }
    }
    .supportedFamilies([.systemSmall])
  }
}

struct DayEntry: TimelineEntry {
  let date: Date
  let number: Int
  let index: Int
}

struct DayProvider: TimelineProvider {
  let number: Int

  func placeholder(in context: Context) -> DayEntry { DayEntry(date: Date(), number: number, index: 0) }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (DayEntry) -> Void) {
    completion(DayEntry(date: Date(), number: number, index: 0))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<DayEntry>) -> Void) {
    let now = Date()
    let minutes = Double(number)
    switch number % 4 {
    // A clock that shows each quarter of an hour, and requests a reload at the end of its entries.
    case 0: completion(timeline(from: now, entries: 8, every: 900, .atEnd))
    // The weather, reloaded every half an hour and some minutes.
    case 1: completion(timeline(from: now, entries: 1, every: 0, .after(now + 1800 + 60 * minutes)))
    // Departures, for an hour from now.
    case 2: completion(timeline(from: now, entries: 12, every: 300 + 5 * minutes, .atEnd))
    // A day's events, reloaded before the day ends.
    default: completion(timeline(from: now, entries: 24, every: 3600, .after(now + 6 * 3600 + 60 * minutes)))
    }
  }

  private func timeline(
    from start: Date, entries: Int, every seconds: Double, _ policy: TimelineReloadPolicy
  ) -> Timeline<DayEntry> {
    let entries = (0..<entries).map { index in
      DayEntry(date: start + Double(index) * seconds, number: number, index: index)
    }
    return Timeline(entries: entries, policy: policy)
  }
}
