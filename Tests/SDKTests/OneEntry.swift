// SPDX-License-Identifier: Apache-2.0

import Foundation
import WidgetKit

/// A provider whose timeline is one entry.
struct OneEntry: TimelineProvider {
  struct Entry: TimelineEntry {
    let date: Date
  }
  func placeholder(in context: Context) -> Entry { Entry(date: Date()) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void) {
    completion(placeholder(in: context))
  }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void) {
    completion(Timeline(entries: [placeholder(in: context)], policy: .never))
  }
}
