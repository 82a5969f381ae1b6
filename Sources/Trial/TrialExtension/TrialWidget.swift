import Foundation
import SwiftUI
import WidgetKit

/// A widget extension for tests: it downloads `TRIAL_URL` once, and says and can be held at each point of the way; or it
/// asks for `TRIAL_INLINE_URL` each time that it is asked for a timeline.
@main struct TrialWidget: Widget {
  nonisolated static let kind = "Trial"

  /// The first line of this author's code: it says what time it is, in microseconds since 1970.
  init() { Point.launched.reached("\(Int64(Date().timeIntervalSince1970 * 1e6))") }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: Self.kind, provider: TrialProvider()) { entry in
      Text(verbatim: entry.text)
    }
    .onBackgroundURLSessionEvents(matching: TrialDownload.identifier) { identifier, completion in
      TrialDownload.shared.handleEvents(of: identifier, completion: completion)
    }
  }
}

struct TrialEntry: TimelineEntry {
  let date: Date
  let text: String
}

struct TrialProvider: TimelineProvider {
  func placeholder(in context: Context) -> TrialEntry { TrialEntry(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (TrialEntry) -> Void) {
    completion(TrialEntry(date: Date(), text: "snapshot"))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<TrialEntry>) -> Void) {
    Point.timeline.reached()
    if TrialTime.isAsked {
      let now = Date()
      Task {
        let entry = TrialEntry(date: now, text: await TrialTime.report())
        completion(Timeline(entries: [entry], policy: .never))
      }
      return
    }
    if let url = TrialRequest.url {
      Task {
        let entry = TrialEntry(date: Date(), text: await TrialRequest.outcome(of: url))
        completion(Timeline(entries: [entry], policy: .never))
      }
      return
    }
    Task {
      let digest = TrialDownload.shared.digestOfResult
      if digest == nil { await TrialDownload.shared.start() }
      completion(Timeline(entries: [TrialEntry(date: Date(), text: digest ?? "nothing yet")], policy: .never))
      Point.told.reached()
    }
  }
}
