import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK. Lengths are in points.
extension View {
  /// Room around the view.
  nonisolated public func padding(_ insets: EdgeInsets) -> some View {
    modified("padding", ["insets": insets.archived]) { $0.inset(by: insets) }
  }
  /// Room at some sides of the view; `nil`: the system's.
  nonisolated public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
    modified("padding", ["edges": edges == .all ? nil : edges.archived, "length": length?.archived]) {
      $0.inset(by: EdgeInsets(edges, length ?? 16))
    }
  }
  /// Room at all sides of the view.
  nonisolated public func padding(_ length: CGFloat) -> some View { padding(.all, length) }

  /// A place so large.
  nonisolated public func frame(
    width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
  ) -> some View {
    modified(
      "frame",
      [
        "width": width?.archived, "height": height?.archived,
        "alignment": alignment == .center ? nil : alignment.archived,
      ]
    ) {
      $0.proposedSize.width = width ?? $0.proposedSize.width
      $0.proposedSize.height = height ?? $0.proposedSize.height
    }
  }
  /// A place at least and at most so large.
  nonisolated public func frame(
    minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
    idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
  ) -> some View {
    modified(
      "frame",
      [
        "minWidth": minWidth?.archived, "idealWidth": idealWidth?.archived, "maxWidth": maxWidth?.archived,
        "minHeight": minHeight?.archived, "idealHeight": idealHeight?.archived, "maxHeight": maxHeight?.archived,
        "alignment": alignment == .center ? nil : alignment.archived,
      ])
  }

  /// The view elsewhere.
  nonisolated public func offset(_ offset: CGSize) -> some View { self.offset(x: offset.width, y: offset.height) }
  /// The view elsewhere.
  nonisolated public func offset(x: CGFloat = 0, y: CGFloat = 0) -> some View {
    modified("offset", ["x": x == 0 ? nil : x.archived, "y": y == 0 ? nil : y.archived])
  }
  /// The view's middle at a point of what is around.
  nonisolated public func position(_ position: CGPoint) -> some View { self.position(x: position.x, y: position.y) }
  /// The view's middle at a point of what is around.
  nonisolated public func position(x: CGFloat = 0, y: CGFloat = 0) -> some View {
    modified("position", ["x": x.archived, "y": y.archived])
  }
  /// The view as large as it likes.
  nonisolated public func fixedSize() -> some View { modified("fixedSize") }
  /// The view as large as it likes, one way.
  nonisolated public func fixedSize(horizontal: Bool, vertical: Bool) -> some View {
    modified("fixedSize", ["horizontal": horizontal.archived, "vertical": vertical.archived])
  }
  /// Who is given room first.
  nonisolated public func layoutPriority(_ value: Double) -> some View {
    modified("layoutPriority", ["value": value.archived])
  }
  /// Who lies above.
  nonisolated public func zIndex(_ value: Double) -> some View { modified("zIndex", ["value": value.archived]) }
  /// A form that the view keeps.
  nonisolated public func aspectRatio(_ aspectRatio: CGFloat? = nil, contentMode: ContentMode) -> some View {
    modified("aspectRatio", ["ratio": aspectRatio?.archived, "contentMode": contentMode.archived])
  }
  /// A form that the view keeps.
  nonisolated public func aspectRatio(_ aspectRatio: CGSize, contentMode: ContentMode) -> some View {
    self.aspectRatio(aspectRatio.width / aspectRatio.height, contentMode: contentMode)
  }
  /// The whole view in its place.
  nonisolated public func scaledToFit() -> some View { modified("scaledToFit") }
  /// The whole place filled by the view.
  nonisolated public func scaledToFill() -> some View { modified("scaledToFill") }
  /// A guide of the view at another place. What the closure says is not asked: nothing is laid out yet.
  nonisolated public func alignmentGuide(
    _ g: HorizontalAlignment, computeValue: @escaping (ViewDimensions) -> CGFloat
  ) -> some View {
    modified("alignmentGuide", ["guide": g.archived])
  }
  /// A guide of the view at another place. What the closure says is not asked: nothing is laid out yet.
  nonisolated public func alignmentGuide(
    _ g: VerticalAlignment, computeValue: @escaping (ViewDimensions) -> CGFloat
  ) -> some View {
    modified("alignmentGuide", ["guide": g.archived])
  }

  /// The view beyond the safe area. A widget has its margins instead.
  nonisolated public func ignoresSafeArea(
    _ regions: SafeAreaRegions = .all, edges: Edge.Set = .all
  ) -> some View {
    modified("ignoresSafeArea", ["edges": edges == .all ? nil : edges.archived])
  }
  /// The view beyond the safe area. A widget has its margins instead.
  nonisolated public func edgesIgnoringSafeArea(_ edges: Edge.Set) -> some View {
    ignoresSafeArea(edges: edges)
  }
  /// A view beside the safe area.
  nonisolated public func safeAreaInset<V: View>(
    edge: VerticalEdge, alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> V
  ) -> some View {
    modified("safeAreaInset", ["edge": edge.archived, "spacing": spacing?.archived], views: [content()])
  }
  /// Room beside the safe area.
  nonisolated public func safeAreaPadding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
    modified("safeAreaPadding", ["edges": edges == .all ? nil : edges.archived, "length": length?.archived])
  }
  /// Room within what scrolls or contains.
  nonisolated public func contentMargins(_ edges: Edge.Set = .all, _ length: CGFloat?) -> some View {
    modified("contentMargins", ["edges": edges == .all ? nil : edges.archived, "length": length?.archived])
  }
  /// A name for the view's space.
  nonisolated public func coordinateSpace<T: Hashable>(name: T) -> some View { self }
}

/// What the safe area keeps free. Source: `SwiftUI.SafeAreaRegions`.
public struct SafeAreaRegions: OptionSet, Sendable {
  /// A bit for each.
  public let rawValue: UInt
  /// By their bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }
  /// What surrounds the container.
  public static let container = SafeAreaRegions(rawValue: 1)
  /// The keyboard.
  public static let keyboard = SafeAreaRegions(rawValue: 2)
  /// All.
  public static let all = SafeAreaRegions(rawValue: .max)
}

extension EnvironmentValues {
  /// Views within have so much less room.
  fileprivate mutating func inset(by insets: EdgeInsets) {
    proposedSize.width = max(0, proposedSize.width - insets.leading - insets.trailing)
    proposedSize.height = max(0, proposedSize.height - insets.top - insets.bottom)
  }
}

extension EdgeInsets {
  fileprivate init(_ edges: Edge.Set, _ length: CGFloat) {
    self.init(
      top: edges.contains(.top) ? length : 0, leading: edges.contains(.leading) ? length : 0,
      bottom: edges.contains(.bottom) ? length : 0, trailing: edges.contains(.trailing) ? length : 0)
  }
}
