// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK. Lengths are in points.
extension View {
  nonisolated public func padding(_ insets: EdgeInsets) -> some View {
    modified(.layout(.padding), ["insets": insets.archived]) { $0.inset(by: insets) }
  }
  /// `nil`: the system's padding.
  nonisolated public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
    modified(.layout(.padding), ["edges": edges == .all ? nil : edges.archived, "length": length?.archived]) {
      $0.inset(by: EdgeInsets(edges, length ?? 16))
    }
  }
  nonisolated public func padding(_ length: CGFloat) -> some View { padding(.all, length) }

  nonisolated public func frame(
    width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
  ) -> some View {
    modified(
      .layout(.frame),
      [
        "width": width?.archived, "height": height?.archived,
        "alignment": alignment == .center ? nil : alignment.archived,
      ]
    ) {
      $0.proposedSize.width = width ?? $0.proposedSize.width
      $0.proposedSize.height = height ?? $0.proposedSize.height
    }
  }
  nonisolated public func frame(
    minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
    idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
  ) -> some View {
    modified(
      .layout(.frame),
      [
        "minWidth": minWidth?.archived, "idealWidth": idealWidth?.archived, "maxWidth": maxWidth?.archived,
        "minHeight": minHeight?.archived, "idealHeight": idealHeight?.archived, "maxHeight": maxHeight?.archived,
        "alignment": alignment == .center ? nil : alignment.archived,
      ])
  }

  nonisolated public func offset(_ offset: CGSize) -> some View { self.offset(x: offset.width, y: offset.height) }
  nonisolated public func offset(x: CGFloat = 0, y: CGFloat = 0) -> some View {
    modified(.layout(.offset), ["x": x == 0 ? nil : x.archived, "y": y == 0 ? nil : y.archived])
  }
  nonisolated public func position(_ position: CGPoint) -> some View { self.position(x: position.x, y: position.y) }
  nonisolated public func position(x: CGFloat = 0, y: CGFloat = 0) -> some View {
    modified(.layout(.position), ["x": x.archived, "y": y.archived])
  }
  nonisolated public func fixedSize() -> some View { modified(.layout(.fixedSize)) }
  nonisolated public func fixedSize(horizontal: Bool, vertical: Bool) -> some View {
    modified(.layout(.fixedSize), ["horizontal": horizontal.archived, "vertical": vertical.archived])
  }
  nonisolated public func layoutPriority(_ value: Double) -> some View {
    modified(.layout(.layoutPriority), ["value": value.archived])
  }
  nonisolated public func zIndex(_ value: Double) -> some View { modified(.layout(.zIndex), ["value": value.archived]) }
  nonisolated public func aspectRatio(_ aspectRatio: CGFloat? = nil, contentMode: ContentMode) -> some View {
    modified(.layout(.aspectRatio), ["ratio": aspectRatio?.archived, "contentMode": contentMode.archived])
  }
  nonisolated public func aspectRatio(_ aspectRatio: CGSize, contentMode: ContentMode) -> some View {
    self.aspectRatio(aspectRatio.width / aspectRatio.height, contentMode: contentMode)
  }
  nonisolated public func scaledToFit() -> some View { modified(.layout(.scaledToFit)) }
  nonisolated public func scaledToFill() -> some View { modified(.layout(.scaledToFill)) }
  nonisolated public func alignmentGuide(
    _ g: HorizontalAlignment, computeValue: @escaping (ViewDimensions) -> CGFloat
  ) -> some View {
    AlignedView(content: self, guide: g.name, axis: "horizontal", key: g.key, computeValue: computeValue)
  }
  nonisolated public func alignmentGuide(
    _ g: VerticalAlignment, computeValue: @escaping (ViewDimensions) -> CGFloat
  ) -> some View {
    AlignedView(content: self, guide: g.name, axis: "vertical", key: g.key, computeValue: computeValue)
  }

  /// A widget has content margins instead of a safe area.
  nonisolated public func ignoresSafeArea(
    _ regions: SafeAreaRegions = .all, edges: Edge.Set = .all
  ) -> some View {
    modified(.silent(.ignoresSafeArea), ["edges": edges == .all ? nil : edges.archived])
  }
  /// A widget has content margins instead of a safe area.
  nonisolated public func edgesIgnoringSafeArea(_ edges: Edge.Set) -> some View {
    ignoresSafeArea(edges: edges)
  }
  nonisolated public func safeAreaInset<V: View>(
    edge: VerticalEdge, alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> V
  ) -> some View {
    modified(.undrawn(.safeAreaInset), ["edge": edge.archived, "spacing": spacing?.archived], views: [content()])
  }
  nonisolated public func safeAreaPadding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
    modified(.layout(.safeAreaPadding), ["edges": edges == .all ? nil : edges.archived, "length": length?.archived])
  }
  nonisolated public func contentMargins(_ edges: Edge.Set = .all, _ length: CGFloat?) -> some View {
    modified(.layout(.contentMargins), ["edges": edges == .all ? nil : edges.archived, "length": length?.archived])
  }
  /// Has no effect.
  nonisolated public func coordinateSpace<T: Hashable>(name: T) -> some View { self }
}

/// A view that sets guides, as the view around it sees them.
private protocol GuidedView {
  /// The dimensions with the guides that the view sets.
  func dimensions(_ size: CGSize) -> ViewDimensions
}

/// A view with its own place of an alignment guide. The closure is called with the size of the host's layout.
nonisolated struct AlignedView<Content: View>: View, WrappingView, GuidedView {
  typealias Body = Never

  let content: Content
  let guide: String
  let axis: String
  let key: String
  let computeValue: (ViewDimensions) -> CGFloat

  /// With the guides of the modifiers that precede this one.
  private func inner(_ size: CGSize) -> ViewDimensions {
    (content as? any GuidedView)?.dimensions(size) ?? ViewDimensions(width: size.width, height: size.height)
  }

  fileprivate func dimensions(_ size: CGSize) -> ViewDimensions {
    var dimensions = inner(size)
    dimensions.guides[key] = computeValue(dimensions)
    return dimensions
  }

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    var arguments: [String: ArchivedValue] = ["guide": .string(guide), "axis": .string(axis)]
    if let (identifier, size) = context.environment.closures?.add() {
      arguments["closure"] = .string(identifier)
      if let size {
        arguments["in"] = size.archived
        arguments["value"] = context.environment.during { computeValue(inner(size)) }.archived
      }
    }
    modifiers.append(ViewArchive.Modifier(.layout(.alignmentGuide), arguments))
    return content
  }
}

/// Source: `SwiftUI.SafeAreaRegions`.
public struct SafeAreaRegions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let container = SafeAreaRegions(rawValue: 1)
  public static let keyboard = SafeAreaRegions(rawValue: 2)
  public static let all = SafeAreaRegions(rawValue: .max)
}

extension EnvironmentValues {
  /// Shrinks the size that is proposed to the views inside.
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
