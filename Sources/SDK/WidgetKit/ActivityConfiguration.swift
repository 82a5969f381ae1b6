// SPDX-License-Identifier: Apache-2.0

public import ActivityKit
import Archive
import MessageBus
import Messages
public import SwiftUI

// Source of all: `WidgetKit` of the iOS 18 SDK.

/// What the views of a Live Activity show. Source: `WidgetKit.ActivityViewContext`.
public struct ActivityViewContext<Attributes: ActivityAttributes> {
  public let activityID: String
  public let attributes: Attributes
  public let state: Attributes.ContentState
  public let isStale: Bool
}

/// The views of a Live Activity. Source: `WidgetKit.ActivityConfiguration`.
@MainActor @preconcurrency
public struct ActivityConfiguration<Attributes: ActivityAttributes>: WidgetConfiguration,
  Sendable
{
  private let source: ActivitySource

  /// - Parameters:
  ///   - attributesType: the attributes of the activities that it shows.
  ///   - content: the view on the Lock Screen.
  ///   - dynamicIsland: the views in the Dynamic Island.
  @MainActor @preconcurrency public init<Content: View>(
    for attributesType: Attributes.Type,
    @ViewBuilder content: @escaping (ActivityViewContext<Attributes>) -> Content,
    dynamicIsland: @escaping (ActivityViewContext<Attributes>) -> DynamicIsland
  ) {
    source = ActivitySource(attributesType: "\(attributesType)") { request in
      let context = ActivityViewContext(
        activityID: request.id, attributes: try Self.decoded(Attributes.self, request.attributes),
        state: try Self.decoded(Attributes.ContentState.self, request.state), isStale: request.isStale)
      return GivenActivity(content: { content(context) }, island: { dynamicIsland(context) })
    }
  }

  /// - Throws: `bad-activity-content` (definite).
  private static func decoded<T: Decodable>(_ type: T.Type, _ text: String) throws(BusError) -> T {
    do {
      return try JSONDecoder().decode(type, from: Data(text.utf8))
    } catch {
      throw BusError(.badActivityContent, "\(text.prefix(200)) is no JSON of \(type): \(error)")
    }
  }

  public var body: Never { fatalError("ActivityConfiguration has no body") }

  public func _describe(in holder: _DescriptionHolder) {
    holder.description.activity = ActivityDeclaration(attributesType: source.attributesType)
    holder.description.activityViews = { [source] in try await source.views($0) }
  }
}

/// The author's closures for one content.
struct GivenActivity {
  let content: () -> any View
  let island: () -> DynamicIsland
}

/// Archives the views of a Live Activity in an environment.
final class ActivitySource: Sendable {
  let attributesType: String
  // Created and called only on the main actor.
  private nonisolated(unsafe) let read: (ArchiveActivity) throws -> GivenActivity

  init(attributesType: String, read: @escaping (ArchiveActivity) throws -> GivenActivity) {
    self.attributesType = attributesType
    self.read = read
  }

  /// - Throws: `bad-activity-content`, `archive-too-large` (definite).
  @MainActor func views(_ request: ArchiveActivity) throws -> ActivityViews {
    try ActivityArchiver(request, try read(request)).views()
  }
}

/// Archives each part of each presentation.
@MainActor private final class ActivityArchiver {
  private let request: ArchiveActivity
  private let givenActivity: GivenActivity
  private let images = ArchivedImages()
  private var items: [ActivityViews.Item] = []

  init(_ request: ArchiveActivity, _ givenActivity: GivenActivity) {
    self.request = request
    self.givenActivity = givenActivity
  }

  func views() throws -> ActivityViews {
    try add(.lockScreen, family: .medium, view: givenActivity.content)
    // The same closure, in the family of a watch or of CarPlay.
    try add(.small, family: .small, view: givenActivity.content)
    let island = EnvironmentValues(request.environment, .dark).during { givenActivity.island() }
    for (part, view) in island.parts { try add(part, family: .medium, view: view) }
    let ownForm = items.first { $0.part == .lockScreen }?.form
    // Most views do not read the family.
    items.removeAll { $0.part == .small && $0.form == ownForm }
    var views = ActivityViews(items: items)
    views.keylineTint = island.tint
    views.islandURL = island.url
    views.margins = island.margins.isEmpty ? nil : island.margins
    views.images = images.bytes.isEmpty ? nil : images.bytes
    let size = try BodyCoding.data(views).count
    guard size <= request.limits.bytes else {
      throw BusError(
        .archiveTooLarge,
        "the views of \(request.attributesType) take \(size) bytes, images included: the limit is \(request.limits.bytes)"
      )
    }
    return views
  }

  private func add(_ part: ActivityViews.Part, family: ActivityFamily, view: () -> any View) throws {
    let reads = EnvironmentReads()
    // The Dynamic Island is always dark.
    guard part == .lockScreen || part == .small else {
      items.append(
        .init(part, ArchivedEntry.Form(view: try archived(view, family: family, scheme: .dark, reads: reads))))
      return
    }
    let light = try archived(view, family: family, scheme: .light, reads: reads)
    let dark = reads.containsColorScheme ? try archived(view, family: family, scheme: .dark, reads: reads) : light
    items.append(.init(part, ArchivedEntry.Form(view: light, darkView: dark == light ? nil : dark)))
  }

  private func archived(
    _ view: () -> any View, family: ActivityFamily, scheme: ColorSchemeName, reads: EnvironmentReads
  ) throws -> ViewArchive {
    var environment = EnvironmentValues(request.environment, scheme)
    environment.activityFamily = family
    environment.reads = reads
    environment.images = images
    environment.appearing = AppearingViews()
    do {
      let view = environment.during { view() }
      return try view.archived(in: environment, limits: request.limits)
    } catch {
      throw BusError(.archiveTooLarge, "the views of \(request.attributesType): \(error)")
    }
  }
}

private struct ActivityFamilyKey: EnvironmentKey {
  static var defaultValue: ActivityFamily { .medium }
}

private struct ActivityFullscreenKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

private struct ActivityUpdateReducedKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

extension EnvironmentValues {
  /// The size family of the Live Activity.
  public internal(set) var activityFamily: ActivityFamily {
    get { self[ActivityFamilyKey.self] }
    set { self[ActivityFamilyKey.self] = newValue }
  }
  /// Whether the Live Activity fills the display, as in StandBy. Always `false`: StandBy shows no Live Activities here.
  public internal(set) var isActivityFullscreen: Bool {
    get { self[ActivityFullscreenKey.self] }
    set { self[ActivityFullscreenKey.self] = newValue }
  }
  /// Whether the system updates the Live Activity less often. Always `false`.
  public internal(set) var isActivityUpdateReduced: Bool {
    get { self[ActivityUpdateReducedKey.self] }
    set { self[ActivityUpdateReducedKey.self] = newValue }
  }
}

extension View {
  /// The background colour of a Live Activity on the Lock Screen. A picture shows it; `nil`: the system's.
  @MainActor @preconcurrency public func activityBackgroundTint(_ color: Color?) -> some View {
    modified(.undrawn(.activityBackgroundTint), [.color: color.map(\.archived)])
  }

  /// The text colour of the system's button beside a Live Activity; without effect: no such button is shown.
  @MainActor @preconcurrency public func activitySystemActionForegroundColor(_ color: Color?) -> some View {
    modified(.undrawn(.activitySystemActionForegroundColor), [.color: color.map(\.archived)])
  }

  /// Where a view of the expanded presentation is when it does not fit beside the camera.
  @MainActor @preconcurrency public func dynamicIsland(
    verticalPlacement: DynamicIslandExpandedRegionVerticalPlacement
  ) -> some View {
    modified(.undrawn(.dynamicIsland), [.verticalPlacement: .string(verticalPlacement.name)])
  }
}

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
