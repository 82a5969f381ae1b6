package import Archive
public import Foundation

/// A column or row of a grid. Source: `SwiftUI.GridItem`.
public struct GridItem: Sendable, ArchivedArgument {
  /// How large it is; points. Source: `SwiftUI.GridItem.Size`.
  public enum Size: Sendable {
    /// So large.
    case fixed(CGFloat)
    /// So large as there is room for.
    case flexible(minimum: CGFloat = 10, maximum: CGFloat = .infinity)
    /// As many as there is room for.
    case adaptive(minimum: CGFloat, maximum: CGFloat = .infinity)
  }
  /// How large it is.
  public var size: GridItem.Size
  /// Points to the next; `nil`: the system's.
  public var spacing: CGFloat?
  /// Where views stand in it.
  public var alignment: Alignment?
  /// A column or row.
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

/// Views in columns. Source: `SwiftUI.LazyVGrid`. A widget makes all of them.
nonisolated public struct LazyVGrid<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let arguments: [String: ArchivedValue?]
  private let content: Content
  /// A grid; without a spacing the system's.
  public init(
    columns: [GridItem], alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(), @ViewBuilder content: () -> Content
  ) {
    arguments = ["columns": columns.archived, "alignment": alignment.archived, "spacing": spacing?.archived]
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive("LazyVGrid", given: arguments, children: try context.children(of: content))
  }
}

/// Views in rows. Source: `SwiftUI.LazyHGrid`. A widget makes all of them.
nonisolated public struct LazyHGrid<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let arguments: [String: ArchivedValue?]
  private let content: Content
  /// A grid; without a spacing the system's.
  public init(
    rows: [GridItem], alignment: VerticalAlignment = .center, spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(), @ViewBuilder content: () -> Content
  ) {
    arguments = ["rows": rows.archived, "alignment": alignment.archived, "spacing": spacing?.archived]
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive("LazyHGrid", given: arguments, children: try context.children(of: content))
  }
}

/// Views in rows whose columns belong together. Source: `SwiftUI.Grid`.
nonisolated public struct Grid<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let arguments: [String: ArchivedValue?]
  private let content: Content
  /// A grid; without spacings the system's.
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
    ViewArchive("Grid", given: arguments, children: try context.children(of: content))
  }
}

/// A row of a grid. Source: `SwiftUI.GridRow`.
nonisolated public struct GridRow<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let alignment: VerticalAlignment?
  private let content: Content
  /// A row.
  public init(alignment: VerticalAlignment? = nil, @ViewBuilder content: () -> Content) {
    self.alignment = alignment
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive("GridRow", given: ["alignment": alignment?.archived], children: try context.children(of: content))
  }
}

extension View {
  /// How many columns the view takes.
  nonisolated public func gridCellColumns(_ count: Int) -> some View {
    modified("gridCellColumns", ["count": count.archived])
  }
  /// Where the views of the column stand.
  nonisolated public func gridColumnAlignment(_ guide: HorizontalAlignment) -> some View {
    modified("gridColumnAlignment", ["alignment": guide.archived])
  }
  /// Which way the view takes no room of its own.
  nonisolated public func gridCellUnsizedAxes(_ axes: Axis.Set) -> some View {
    modified("gridCellUnsizedAxes", ["axes": axes.archived])
  }
}
