// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// Widgets whose timelines depend only on the time of the request, so that two simulated days of them are equal.
/// `TRIAL_MISBEHAVES` selects what the widget `Bad` does after its first timeline; `TRIAL_ONLY` limits the extension to
/// one widget.
@main enum FixtureTimelines {
  static let environment = ProcessInfo.processInfo.environment

  @MainActor static func main() {
    if environment["TRIAL_MISBEHAVES"] != nil {
      BadWidget.main()
    } else if environment["TRIAL_ONLY"] == "Animated" {
      AnimatedWidget.main()
    } else if environment["TRIAL_ONLY"] == "Relevant" {
      RelevantWidgets.main()
    } else if let kind = environment["TRIAL_ONLY"] {
      KindWidget.only = kind
      OneWidget.main()
    } else {
      AllWidgets.main()
    }
  }
}

struct AllWidgets: WidgetBundle {
  var body: some Widget {
    KindWidget(kind: "Hourly")
    KindWidget(kind: "Quarters")
    KindWidget(kind: "AtEnd")
    KindWidget(kind: "Single")
    KindWidget(kind: "Never")
  }
}

struct OneWidget: Widget {
  var body: some WidgetConfiguration { KindWidget(kind: KindWidget.only).body }
}

struct KindWidget: Widget {
  static var only = ""
  var kind = ""
  init() {}
  init(kind: String) { self.kind = kind }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: kind, provider: KindProvider(kind: kind)) { entry in
      Text(verbatim: entry.text).containerBackground(.background, for: .widget)
    }
  }
}

struct TimedEntry: TimelineEntry {
  let date: Date
  let text: String
}

struct KindProvider: TimelineProvider {
  let kind: String

  func placeholder(in context: Context) -> TimedEntry {
    TimedEntry(date: .now, text: kind == "Counted" ? counted() : "placeholder")
  }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (TimedEntry) -> Void) {
    completion(TimedEntry(date: .now, text: "snapshot"))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<TimedEntry>) -> Void) {
    let now = Date()
    switch kind {
    case "Hourly": completion(Timeline(entries: entries(now, [0]), policy: .after(now + 3600)))
    case "Quarters": completion(Timeline(entries: entries(now, [0, 15, 30, 45, 60, 75]), policy: .after(now + 5400)))
    case "AtEnd": completion(Timeline(entries: entries(now, [0, 20, 40]), policy: .atEnd))
    case "Single": completion(Timeline(entries: entries(now, [0]), policy: .atEnd))
    case "Past": completion(Timeline(entries: entries(now, [-60, -30]), policy: .never))
    case "Unsorted": completion(Timeline(entries: entries(now, [40, 0, 20, -20]), policy: .never))
    case "Empty": completion(Timeline(entries: [], policy: .atEnd))
    default: completion(Timeline(entries: entries(now, [0, 30]), policy: .never))
    }
  }

  /// One letter for each request in any run of the process.
  private func counted() -> String {
    let file = URL(filePath: NSHomeDirectory() + "/Documents/placeholders")
    let text = ((try? String(contentsOf: file, encoding: .utf8)) ?? "") + "x"
    try? Data(text.utf8).write(to: file)
    return text
  }

  /// Entries at these numbers of minutes from now.
  private func entries(_ now: Date, _ minutes: [Double]) -> [TimedEntry] {
    minutes.map { TimedEntry(date: now + $0 * 60, text: "\(kind) \($0.formatted())") }
  }
}
