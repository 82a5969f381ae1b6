// SPDX-License-Identifier: Apache-2.0

public import SwiftUI

// Accepted, so that an author's files compile. Previews are not displayed: there is no Xcode. Source of all:
// `WidgetKit` of the iOS 18 SDK.

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

/// A preview of a configured widget.
@freestanding(declaration)
public macro Preview<Previewed: Widget, Provider: AppIntentTimelineProvider>(
  _ name: String? = nil, as family: WidgetFamily, using intent: Provider.Intent,
  widget: @escaping @MainActor () -> Previewed, timelineProvider: @escaping @MainActor () async -> Provider
) = #externalMacro(module: "PreviewsMacros", type: "PreviewMacro")

/// Builds a preview's entries. Source: `WidgetKit.PreviewTimelineBuilder`.
@resultBuilder public struct PreviewTimelineBuilder {
  public static func buildExpression(_ entry: some TimelineEntry) -> [any TimelineEntry] { [entry] }
  public static func buildPartialBlock(first: [any TimelineEntry]) -> [any TimelineEntry] { first }
  public static func buildPartialBlock(
    accumulated: [any TimelineEntry], next: [any TimelineEntry]
  ) -> [any TimelineEntry] { accumulated + next }
  public static func buildArray(_ components: [[any TimelineEntry]]) -> [any TimelineEntry] {
    components.flatMap { $0 }
  }
}
