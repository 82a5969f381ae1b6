// SPDX-License-Identifier: Apache-2.0

public import ActivityKit
public import SwiftUI

// Accepted, so that an author's files compile. Previews are not displayed: there is no Xcode. Source of all:
// `WidgetKit` of the iOS 18 SDK.

/// A preview of a widget with these entries.
@freestanding(declaration)
public macro Preview<Previewed: Widget>(
  _ name: String? = nil, as family: WidgetFamily, widget: @escaping @MainActor () -> Previewed,
  @PreviewTimelineBuilder timeline: @escaping @MainActor () async -> [any TimelineEntry]
) = #externalMacro(module: "AuthorMacros", type: "PreviewMacro")

/// A preview of a widget with the entries of a provider.
@freestanding(declaration)
public macro Preview<Previewed: Widget, Provider: TimelineProvider>(
  _ name: String? = nil, as family: WidgetFamily, widget: @escaping @MainActor () -> Previewed,
  timelineProvider: @escaping @MainActor () async -> Provider
) = #externalMacro(module: "AuthorMacros", type: "PreviewMacro")

/// A preview of a configured widget.
@freestanding(declaration)
public macro Preview<Previewed: Widget, Provider: AppIntentTimelineProvider>(
  _ name: String? = nil, as family: WidgetFamily, using intent: Provider.Intent,
  widget: @escaping @MainActor () -> Previewed, timelineProvider: @escaping @MainActor () async -> Provider
) = #externalMacro(module: "AuthorMacros", type: "PreviewMacro")

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

// Accepted, so that an author's files compile. Previews are not displayed: there is no Xcode. Source of all:
// `WidgetKit` of the iOS 18 SDK.

/// A preview of a Live Activity.
@freestanding(declaration)
public macro Preview<Previewed: Widget, Attributes: ActivityAttributes>(
  _ name: String? = nil, as viewKind: ActivityPreviewViewKind, using attributes: Attributes,
  widget: @escaping @MainActor () -> Previewed,
  @PreviewActivityBuilder<Attributes> contentStates: @escaping @MainActor () async -> [Attributes.ContentState]
) = #externalMacro(module: "AuthorMacros", type: "PreviewMacro")

/// A presentation of a Live Activity. Source: `WidgetKit.ActivityPreviewViewKind`.
public enum ActivityPreviewViewKind: Hashable, Sendable {
  /// Source: `ActivityPreviewViewKind.DynamicIslandPreviewViewState`.
  public enum DynamicIslandPreviewViewState: Hashable, Sendable {
    case compact, expanded, minimal
  }
  case content
  case dynamicIsland(DynamicIslandPreviewViewState)
}

/// Builds the contents of a preview. Source: `WidgetKit.PreviewActivityBuilder`.
@resultBuilder public struct PreviewActivityBuilder<Attributes: ActivityAttributes> {
  public static func buildExpression(_ state: Attributes.ContentState) -> [Attributes.ContentState] { [state] }
  public static func buildPartialBlock(first: [Attributes.ContentState]) -> [Attributes.ContentState] { first }
  public static func buildPartialBlock(
    accumulated: [Attributes.ContentState], next: [Attributes.ContentState]
  ) -> [Attributes.ContentState] { accumulated + next }
  public static func buildArray(_ components: [[Attributes.ContentState]]) -> [Attributes.ContentState] {
    components.flatMap { $0 }
  }
}

extension ActivityAttributes {
  /// A preview of a presentation, for a `PreviewProvider`; it is not displayed.
  @MainActor @preconcurrency public func previewContext(
    _ state: ContentState, isStale: Bool = false, viewKind: ActivityPreviewViewKind
  ) -> some View { EmptyView() }
}
