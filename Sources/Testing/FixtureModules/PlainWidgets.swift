// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// Five widgets that use WidgetKit and SwiftUI alone, as those of `FixtureTimelines`: `scripts/bench --only spawn` compares
/// the start of the two, so that the modules are the only difference.
struct PlainWidgets: WidgetBundle {
  var body: some Widget {
    PlainWidget(kind: "Hourly")
    PlainWidget(kind: "Quarters")
    PlainWidget(kind: "AtEnd")
    PlainWidget(kind: "Single")
    PlainWidget(kind: "Never")
  }
}

struct PlainWidget: Widget {
  var kind = ""
  init() {}
  init(kind: String) { self.kind = kind }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: kind, provider: PlainProvider()) { entry in
      Text(verbatim: entry.text).containerBackground(.background, for: .widget)
    }
  }
}

struct PlainProvider: TimelineProvider {
  func placeholder(in context: Context) -> ModuleEntry { ModuleEntry() }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (ModuleEntry) -> Void) {
    completion(ModuleEntry())
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<ModuleEntry>) -> Void) {
    completion(Timeline(entries: [ModuleEntry()], policy: .never))
  }
}
