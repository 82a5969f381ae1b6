public import SwiftUI

// Accepted, so that an author's files compile: no Xcode shows what is previewed here. Source of all: `WidgetKit` of the
// iOS 18 SDK.

/// A preview of a widget with these entries.
@freestanding(declaration)
public macro Preview<Previewed: Widget>(
  _ name: String? = nil, as family: WidgetFamily, widget: @escaping @MainActor () -> Previewed,
  @PreviewTimelineBuilder timeline: @escaping @MainActor () async -> [any TimelineEntry]
) = #externalMacro(module: "PreviewsMacros", type: "PreviewMacro")

/// A preview of a widget with the entries of a provider.
@freestanding(declaration)
public macro Preview<Previewed: Widget, Provider: TimelineProvider>(
  _ name: String? = nil, as family: WidgetFamily, widget: @escaping @MainActor () -> Previewed,
  timelineProvider: @escaping @MainActor () async -> Provider
) = #externalMacro(module: "PreviewsMacros", type: "PreviewMacro")

/// A preview of a widget with what a person chose.
@freestanding(declaration)
public macro Preview<Previewed: Widget, Provider: AppIntentTimelineProvider>(
  _ name: String? = nil, as family: WidgetFamily, using intent: Provider.Intent,
  widget: @escaping @MainActor () -> Previewed, timelineProvider: @escaping @MainActor () async -> Provider
) = #externalMacro(module: "PreviewsMacros", type: "PreviewMacro")

/// Makes a preview's entries. Source: `WidgetKit.PreviewTimelineBuilder`.
@resultBuilder public struct PreviewTimelineBuilder {
  /// An entry.
  public static func buildExpression(_ entry: some TimelineEntry) -> [any TimelineEntry] { [entry] }
  /// The first entry.
  public static func buildPartialBlock(first: [any TimelineEntry]) -> [any TimelineEntry] { first }
  /// One more.
  public static func buildPartialBlock(
    accumulated: [any TimelineEntry], next: [any TimelineEntry]
  ) -> [any TimelineEntry] { accumulated + next }
  /// Those of a loop.
  public static func buildArray(_ components: [[any TimelineEntry]]) -> [any TimelineEntry] {
    components.flatMap { $0 }
  }
}
