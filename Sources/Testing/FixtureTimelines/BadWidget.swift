// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

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
