// SPDX-License-Identifier: Apache-2.0

import WidgetKit

struct CaffeineEntry: TimelineEntry {
  let date: Date
  /// The last figures that were received; `nil` before the first.
  let figures: DailyFigures?
}

/// Shows the server's current figures, or else the last ones received, and downloads new ones when those are old.
struct CaffeineProvider: TimelineProvider {
  func placeholder(in context: Context) -> CaffeineEntry {
    CaffeineEntry(date: Date(), figures: nil)
  }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (CaffeineEntry) -> Void) {
    completion(CaffeineEntry(date: Date(), figures: FiguresFile.shared?.stored?.figures))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<CaffeineEntry>) -> Void) {
    Task {
      let stored = FiguresFile.shared?.stored
      if stored?.isFresh != true { await FiguresDownload.shared.start() }
      let figures = await CaffeineServer.shared?.figures() ?? stored?.figures
      let entry = CaffeineEntry(date: Date(), figures: figures)
      completion(Timeline(entries: [entry], policy: .after(Date(timeIntervalSinceNow: 3600))))
    }
  }
}
