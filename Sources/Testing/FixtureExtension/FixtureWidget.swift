// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// A widget extension for tests. It downloads `TRIAL_URL` once, and reports each point, at which it can be held; or it
/// requests `TRIAL_INLINE_URL` for each timeline and snapshot.
@main struct FixtureWidget: Widget {
  nonisolated static let kind = "Trial"

  /// The first line of the author's code. It prints the time in microseconds since 1970.
  init() { Point.launched.reached("\(Int64(Date().timeIntervalSince1970 * 1e6))") }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: Self.kind, provider: FixtureProvider()) { entry in
      Text(verbatim: entry.text).containerBackground(.background, for: .widget)
    }
    .onBackgroundURLSessionEvents(matching: FixtureDownload.identifier) { identifier, completion in
      FixtureDownload.shared.handleEvents(of: identifier, completion: completion)
    }
  }
}

struct FixtureEntry: TimelineEntry {
  let date: Date
  let text: String
}

struct FixtureProvider: TimelineProvider {
  func placeholder(in context: Context) -> FixtureEntry { FixtureEntry(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (FixtureEntry) -> Void) {
    guard let url = FixtureRequest.url else { return completion(FixtureEntry(date: Date(), text: "snapshot")) }
    Task { completion(FixtureEntry(date: Date(), text: await FixtureRequest.outcome(of: url))) }
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<FixtureEntry>) -> Void) {
    Point.timeline.reached()
    if FixtureTime.isAsked {
      let now = Date()
      Task {
        let entry = FixtureEntry(date: now, text: await FixtureTime.report())
        completion(Timeline(entries: [entry], policy: .never))
      }
      return
    }
    if let url = FixtureRequest.url {
      Task {
        let entry = FixtureEntry(date: Date(), text: await FixtureRequest.outcome(of: url))
        completion(Timeline(entries: [entry], policy: .never))
      }
      return
    }
    Task {
      let digest = FixtureDownload.shared.digestOfResult
      if digest == nil { await FixtureDownload.shared.start() }
      completion(Timeline(entries: [FixtureEntry(date: Date(), text: digest ?? "nothing yet")], policy: .never))
      Point.notified.reached()
    }
  }
}
