// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// Widgets whose timelines depend only on the time of the request, so that two simulated days of them are equal.
/// `TRIAL_MISBEHAVES` selects what the widget `Bad` does after its first timeline; `TRIAL_ONLY` limits the extension to
/// one widget.
enum FixtureTimelines {
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

/// A widget with entries ten minutes apart, each of which declares another animation of the change to it.
struct AnimatedWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Animated", provider: AnimatedProvider()) { entry in
      VStack {
        Text(verbatim: "step \(entry.step)").modifier(Changing(entry: entry))
        if entry.step == 6 { Text(verbatim: "more").transition(.push(from: .bottom).animation(.linear(duration: 1))) }
      }
    }
  }
}

struct AnimatedEntry: TimelineEntry {
  let date: Date
  let step: Int
}

/// The same modifiers in each entry, with different arguments.
struct Changing: ViewModifier {
  let entry: AnimatedEntry

  private var animation: Animation? {
    switch entry.step {
    case 1: .easeInOut(duration: 0.7)
    case 2: .linear(duration: 5)
    case 3: nil
    default: .bouncy
    }
  }

  func body(content: Content) -> some View {
    content
      .contentTransition(entry.step == 5 ? .numericText() : .interpolate)
      // The value stays the same from the fourth entry on, so the system's animation applies.
      .animation(animation, value: min(entry.step, 3))
  }
}

struct AnimatedProvider: TimelineProvider {
  func placeholder(in context: Context) -> AnimatedEntry { AnimatedEntry(date: .now, step: -1) }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (AnimatedEntry) -> Void) {
    completion(AnimatedEntry(date: .now, step: 0))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<AnimatedEntry>) -> Void) {
    let now = Date()
    let entries = (0...7).map { AnimatedEntry(date: now + Double($0) * 600, step: $0) }
    completion(Timeline(entries: entries, policy: .never))
  }
}

/// A widget that returns one good timeline, the first in any run of the process, and then misbehaves as
/// `TRIAL_MISBEHAVES` requests.
struct BadWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Bad", provider: BadProvider()) { entry in
      if entry.depth > 0 { Nested(depth: entry.depth) } else { Text(verbatim: entry.text) }
    }
  }
}

struct BadEntry: TimelineEntry {
  let date: Date
  var text = ""
  var depth = 0
}

struct Nested: View {
  let depth: Int

  var body: some View {
    VStack { if depth > 0 { Nested(depth: depth - 1) } else { Text(verbatim: "deep") } }
  }
}

struct BadProvider: TimelineProvider {
  private typealias Completion = @Sendable (Timeline<BadEntry>) -> Void

  func placeholder(in context: Context) -> BadEntry { BadEntry(date: .now, text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (BadEntry) -> Void) {
    completion(BadEntry(date: .now, text: "snapshot"))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<BadEntry>) -> Void) {
    guard !isFirst else { return completion(timeline("a good entry")) }
    switch FixtureTimelines.environment["TRIAL_MISBEHAVES"] {
    case "large": completion(timeline(String(repeating: "x", count: 10 << 20)))
    case "deep": completion(Timeline(entries: [BadEntry(date: .now, depth: 10_000)], policy: .never))
    case "many":
      let now = Date()
      completion(Timeline(entries: (0..<100_000).map { BadEntry(date: now + Double($0), text: "x") }, policy: .never))
    case "silent": break
    case "twice":
      completion(timeline("the first call"))
      completion(timeline("the second call"))
    case "elsewhere": Thread.detachNewThread { completion(timeline("from another thread")) }
    case "memory":
      var all: [[UInt8]] = []
      while all.count < 200 { all.append([UInt8](repeating: UInt8(all.count), count: 1 << 20)) }
      withExtendedLifetime(all) { DispatchSemaphore(value: 0).wait() }
    default: fatalError("crashes on every request")
    }
  }

  private func timeline(_ text: String) -> Timeline<BadEntry> {
    Timeline(entries: [BadEntry(date: .now, text: text)], policy: .never)
  }

  /// Whether this is the first request in any run of the process.
  private var isFirst: Bool {
    let note = NSHomeDirectory() + "/Documents/asked"
    return !FileManager.default.fileExists(atPath: note) && FileManager.default.createFile(atPath: note, contents: nil)
  }
}

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
