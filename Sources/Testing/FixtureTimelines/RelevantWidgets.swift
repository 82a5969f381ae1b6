// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// Two widgets that are the more relevant one at different times: `Steady` always has a low score; `Noon` has a high
/// score for an hour, from an hour after the request.
struct RelevantWidgets: WidgetBundle {
  var body: some Widget {
    RelevantWidget(kind: "Steady")
    RelevantWidget(kind: "Noon")
  }
}

struct RelevantWidget: Widget {
  var kind = ""
  init() {}
  init(kind: String) { self.kind = kind }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: kind, provider: RelevantProvider(kind: kind)) { entry in Text(verbatim: kind) }
      .supportedFamilies([.systemSmall])
  }
}

struct RelevantEntry: TimelineEntry {
  let date: Date
  var relevance: TimelineEntryRelevance?
}

struct RelevantProvider: TimelineProvider {
  let kind: String

  func placeholder(in context: Context) -> RelevantEntry { RelevantEntry(date: .now) }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (RelevantEntry) -> Void) {
    completion(RelevantEntry(date: .now))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<RelevantEntry>) -> Void) {
    let now = Date()
    let entries =
      kind == "Steady"
      ? [RelevantEntry(date: now, relevance: TimelineEntryRelevance(score: 1))]
      : [
        RelevantEntry(date: now),
        RelevantEntry(date: now + 3600, relevance: TimelineEntryRelevance(score: 5, duration: 3600)),
      ]
    completion(Timeline(entries: entries, policy: .never))
  }
}
