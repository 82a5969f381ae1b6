// SPDX-License-Identifier: Apache-2.0

import Archive
import Messages
public import SwiftUI

// Source of all: `WidgetKit` of the iOS 18 SDK.

/// The views of a Live Activity in the Dynamic Island. Source: `WidgetKit.DynamicIsland`.
@MainActor @preconcurrency public struct DynamicIsland {
  /// The views, which are built when they are archived.
  let parts: [(ActivityViews.Part, () -> any View)]
  private(set) var tint: ArchivedValue?
  private(set) var url: String?
  /// By the mode.
  private(set) var margins: [String: WidgetEnvironment.Insets] = [:]

  @MainActor @preconcurrency
  public init<Expanded: View, CompactLeading: View, CompactTrailing: View, Minimal: View>(
    @DynamicIslandExpandedContentBuilder expanded: @escaping () -> DynamicIslandExpandedContent<Expanded>,
    @ViewBuilder compactLeading: @escaping () -> CompactLeading,
    @ViewBuilder compactTrailing: @escaping () -> CompactTrailing, @ViewBuilder minimal: @escaping () -> Minimal
  ) {
    let regions = expanded().regions
    parts =
      [
        (.compactLeading, { compactLeading() }), (.compactTrailing, { compactTrailing() }), (.minimal, { minimal() }),
      ]
      + DynamicIslandExpandedRegionPosition.all.compactMap { position in
        // Several regions of one position are one below the other.
        let views = regions.filter { $0.position == position }.map(\.view)
        guard !views.isEmpty else { return nil }
        return (
          position.part, { views.count == 1 ? views[0]() : VStack { ForEach(views.indices) { AnyView(views[$0]()) } } }
        )
      }
  }

  /// The URL that the app opens when the user taps the Dynamic Island.
  @MainActor @preconcurrency public func widgetURL(_ url: URL?) -> DynamicIsland {
    var island = self
    island.url = url?.absoluteString
    return island
  }

  /// The colour of the border of the Dynamic Island.
  @MainActor @preconcurrency public func keylineTint(_ color: Color?) -> DynamicIsland {
    var island = self
    island.tint = color?.archived
    return island
  }

  /// The margins of a mode, in points.
  @MainActor @preconcurrency public func contentMargins(
    _ edges: Edge.Set = .all, _ length: Double, for mode: DynamicIslandMode
  ) -> DynamicIsland {
    var island = self
    var insets = margins[mode.name] ?? mode.margins
    if edges.contains(.top) { insets.top = length }
    if edges.contains(.leading) { insets.leading = length }
    if edges.contains(.bottom) { insets.bottom = length }
    if edges.contains(.trailing) { insets.trailing = length }
    island.margins[mode.name] = insets
    return island
  }
}

/// A presentation in the Dynamic Island. Source: `WidgetKit.DynamicIslandMode`.
public struct DynamicIslandMode: Hashable, Sendable {
  let name: String
  public static let compact = DynamicIslandMode(name: "compact")
  public static let compactLeading = DynamicIslandMode(name: "compactLeading")
  public static let compactTrailing = DynamicIslandMode(name: "compactTrailing")
  public static let expanded = DynamicIslandMode(name: "expanded")
  public static let minimal = DynamicIslandMode(name: "minimal")

  /// The margins that a call does not set. Source: ours; Apple publishes none.
  var margins: WidgetEnvironment.Insets { WidgetEnvironment.Insets(name == "expanded" ? 16 : 0) }
}

/// Source: `WidgetKit.DynamicIslandExpandedRegionPosition`.
public struct DynamicIslandExpandedRegionPosition: Hashable, Sendable {
  let part: ActivityViews.Part
  public static let leading = DynamicIslandExpandedRegionPosition(part: .expandedLeading)
  public static let trailing = DynamicIslandExpandedRegionPosition(part: .expandedTrailing)
  public static let center = DynamicIslandExpandedRegionPosition(part: .expandedCenter)
  public static let bottom = DynamicIslandExpandedRegionPosition(part: .expandedBottom)

  static let all = [leading, trailing, center, bottom]
}

/// Source: `WidgetKit.DynamicIslandExpandedRegionVerticalPlacement`.
public struct DynamicIslandExpandedRegionVerticalPlacement: Hashable, Sendable {
  let name: String
  public static let `default` = DynamicIslandExpandedRegionVerticalPlacement(name: "default")
  /// Below the camera, when the view is too wide to fit beside it.
  public static let belowIfTooWide = DynamicIslandExpandedRegionVerticalPlacement(name: "belowIfTooWide")
}

/// A view of the expanded presentation. Source: `WidgetKit.DynamicIslandExpandedRegion`.
public struct DynamicIslandExpandedRegion<Content: View> {
  let region: IslandRegion

  /// - Parameter priority: the region with the highest one gets more width; without effect in a picture.
  @MainActor @preconcurrency public init(
    _ position: DynamicIslandExpandedRegionPosition, priority: Double = 0,
    @ViewBuilder content: @escaping () -> Content
  ) {
    region = IslandRegion(position: position, view: { content() })
  }
}

/// A region without the type of its view.
struct IslandRegion {
  let position: DynamicIslandExpandedRegionPosition
  let view: () -> any View
}

/// Source: `WidgetKit.DynamicIslandExpandedContent`.
public struct DynamicIslandExpandedContent<Content: View> {
  let regions: [IslandRegion]
}

/// Source: `WidgetKit.DynamicIslandExpandedContentBuilder`. Like Apple's, it has no conditions.
@resultBuilder public struct DynamicIslandExpandedContentBuilder {
  public static func buildPartialBlock<C: View>(
    first: DynamicIslandExpandedRegion<C>
  ) -> DynamicIslandExpandedContent<some View> {
    DynamicIslandExpandedContent<AnyView>(regions: [first.region])
  }
  public static func buildPartialBlock<C: View>(
    first: DynamicIslandExpandedContent<C>
  ) -> DynamicIslandExpandedContent<some View> {
    DynamicIslandExpandedContent<AnyView>(regions: first.regions)
  }
  public static func buildPartialBlock<C0: View, C1: View>(
    accumulated: DynamicIslandExpandedContent<C0>, next: DynamicIslandExpandedRegion<C1>
  ) -> DynamicIslandExpandedContent<some View> {
    DynamicIslandExpandedContent<AnyView>(regions: accumulated.regions + [next.region])
  }
  public static func buildPartialBlock<C0: View, C1: View>(
    accumulated: DynamicIslandExpandedContent<C0>, next: DynamicIslandExpandedContent<C1>
  ) -> DynamicIslandExpandedContent<some View> {
    DynamicIslandExpandedContent<AnyView>(regions: accumulated.regions + next.regions)
  }
}
