import WidgetKit

struct CaffeineEntry: TimelineEntry {
  let date: Date
  /// The last figures that came; `nil` before the first ones.
  let figures: DailyFigures?
}

/// Shows the figures that the server has now or else the last that came, and has new ones downloaded when those are old.
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
