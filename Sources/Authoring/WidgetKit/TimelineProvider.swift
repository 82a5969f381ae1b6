public import Foundation

/// Says when a widget shows what. Source: `WidgetKit.TimelineProvider`. The system calls it on a thread of its own, one
/// call at a time for a kind (ours: Apple names no thread).
public protocol TimelineProvider {
  /// What the widget shows at a date.
  associatedtype Entry: TimelineEntry
  /// What a timeline is asked for.
  typealias Context = TimelineProviderContext
  /// What is shown while there is nothing else.
  func placeholder(in context: Self.Context) -> Self.Entry
  /// Gives an entry for a moment such as the gallery.
  @preconcurrency func getSnapshot(in context: Self.Context, completion: @escaping @Sendable (Self.Entry) -> Void)
  /// Gives entries for now and later. `completion` may be called at any time and on any thread; its first call counts.
  @preconcurrency func getTimeline(
    in context: Self.Context, completion: @escaping @Sendable (Timeline<Self.Entry>) -> Void)
}

/// What a timeline is asked for. Source: `WidgetKit.TimelineProviderContext`.
public struct TimelineProviderContext {
  /// The family of the widget.
  public let family: WidgetFamily
  /// Whether it is for the gallery.
  public let isPreview: Bool
  /// Points.
  public let displaySize: CGSize
}
