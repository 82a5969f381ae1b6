// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.GridItem`.
public struct GridItem: Sendable, ArchivedArgument {
  /// Source: `SwiftUI.GridItem.Size`. In points.
  public enum Size: Sendable {
    case fixed(CGFloat)
    case flexible(minimum: CGFloat = 10, maximum: CGFloat = .infinity)
    case adaptive(minimum: CGFloat, maximum: CGFloat = .infinity)
  }
  public var size: GridItem.Size
  /// In points; `nil`: the system's default.
  public var spacing: CGFloat?
  public var alignment: Alignment?
  public init(_ size: GridItem.Size = .flexible(), spacing: CGFloat? = nil, alignment: Alignment? = nil) {
    self.size = size
    self.spacing = spacing
    self.alignment = alignment
  }

  package var archived: ArchivedValue {
    var parts: [String: ArchivedValue] = [:]
    switch size {
    case .fixed(let points): parts["fixed"] = points.archived
    case .flexible(let least, let most): parts["flexible"] = [least, most].archived
    case .adaptive(let least, let most): parts["adaptive"] = [least, most].archived
    }
    parts["spacing"] = spacing?.archived
    parts["alignment"] = alignment?.archived
    return .record(parts)
  }
}

/// Source: `SwiftUI.LazyVGrid`. A widget creates all of its views.
nonisolated public struct LazyVGrid<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let arguments: [String: ArchivedValue?]
  private let content: Content
  /// Without `spacing`: the system's default.
  public init(
    columns: [GridItem], alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(), @ViewBuilder content: () -> Content
  ) {
    arguments = ["columns": columns.archived, "alignment": alignment.archived, "spacing": spacing?.archived]
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(.container(.lazyVGrid), given: arguments, children: try context.children(of: content))
  }
}

/// Source: `SwiftUI.LazyHGrid`. A widget creates all of its views.
nonisolated public struct LazyHGrid<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let arguments: [String: ArchivedValue?]
  private let content: Content
  /// Without `spacing`: the system's default.
  public init(
    rows: [GridItem], alignment: VerticalAlignment = .center, spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(), @ViewBuilder content: () -> Content
  ) {
    arguments = ["rows": rows.archived, "alignment": alignment.archived, "spacing": spacing?.archived]
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(.container(.lazyHGrid), given: arguments, children: try context.children(of: content))
  }
}

/// Source: `SwiftUI.Grid`.
nonisolated public struct Grid<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let arguments: [String: ArchivedValue?]
  private let content: Content
  /// Without a spacing: the system's default.
  public init(
    alignment: Alignment = .center, horizontalSpacing: CGFloat? = nil, verticalSpacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content
  ) {
    arguments = [
      "alignment": alignment.archived, "horizontalSpacing": horizontalSpacing?.archived,
      "verticalSpacing": verticalSpacing?.archived,
    ]
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(.container(.grid), given: arguments, children: try context.children(of: content))
  }
}

/// Source: `SwiftUI.GridRow`.
nonisolated public struct GridRow<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let alignment: VerticalAlignment?
  private let content: Content
  public init(alignment: VerticalAlignment? = nil, @ViewBuilder content: () -> Content) {
    self.alignment = alignment
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      .container(.gridRow), given: ["alignment": alignment?.archived], children: try context.children(of: content))
  }
}

extension View {
  nonisolated public func gridCellColumns(_ count: Int) -> some View {
    modified(.layout(.gridCellColumns), ["count": count.archived])
  }
  nonisolated public func gridCellAnchor(_ anchor: UnitPoint) -> some View {
    modified(.layout(.gridCellAnchor), ["anchor": anchor.archived])
  }
  nonisolated public func gridColumnAlignment(_ guide: HorizontalAlignment) -> some View {
    modified(.layout(.gridColumnAlignment), ["alignment": guide.archived])
  }
  nonisolated public func gridCellUnsizedAxes(_ axes: Axis.Set) -> some View {
    modified(.layout(.gridCellUnsizedAxes), ["axes": axes.archived])
  }
}
