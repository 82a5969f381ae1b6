// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Group`.
nonisolated public struct Group<Content> {
  private let content: Content
}

extension Group: View, ArchivedView where Content: View {
  public typealias Body = Never
  nonisolated public init(@ViewBuilder content: () -> Content) { self.content = content() }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    .group(try context.children(of: content))
  }
}

/// Source: `SwiftUI.VStack`.
nonisolated public struct VStack<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let alignment: HorizontalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// Without `spacing`: the system's default.
  public init(
    alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing
    self.content = content()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      .container(.vStack), [.alignment: alignment.archived, .spacing: spacing?.archived],
      children: context.aligned(try context.children(of: content), by: alignment.custom))
  }
}

/// Source: `SwiftUI.HStack`.
nonisolated public struct HStack<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let alignment: VerticalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// Without `spacing`: the system's default.
  public init(
    alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing
    self.content = content()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      .container(.hStack), [.alignment: alignment.archived, .spacing: spacing?.archived],
      children: context.aligned(try context.children(of: content), by: alignment.custom))
  }
}

/// Source: `SwiftUI.LazyVStack`. A widget creates all of its views.
nonisolated public struct LazyVStack<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let alignment: HorizontalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// Without `spacing`: the system's default.
  public init(
    alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, pinnedViews: PinnedScrollableViews = .init(),
    @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing
    self.content = content()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      .container(.lazyVStack), [.alignment: alignment.archived, .spacing: spacing?.archived],
      children: context.aligned(try context.children(of: content), by: alignment.custom))
  }
}

/// Source: `SwiftUI.LazyHStack`. A widget creates all of its views.
nonisolated public struct LazyHStack<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let alignment: VerticalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// Without `spacing`: the system's default.
  public init(
    alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, pinnedViews: PinnedScrollableViews = .init(),
    @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing
    self.content = content()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      .container(.lazyHStack), [.alignment: alignment.archived, .spacing: spacing?.archived],
      children: context.aligned(try context.children(of: content), by: alignment.custom))
  }
}

/// Source: `SwiftUI.ZStack`.
nonisolated public struct ZStack<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let alignment: Alignment
  private let content: Content

  public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
    self.alignment = alignment
    self.content = content()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let children = context.aligned(
      try context.children(of: content), by: alignment.horizontal.custom, alignment.vertical.custom)
    return ViewArchive(.container(.zStack), [.alignment: alignment.archived], children: children)
  }
}

/// Source: `SwiftUI.PinnedScrollableViews`. Without effect: a widget does not scroll.
public struct PinnedScrollableViews: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let sectionHeaders = PinnedScrollableViews(rawValue: 1)
  public static let sectionFooters = PinnedScrollableViews(rawValue: 2)
}

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
    var parts: ArchivedArguments = [:]
    switch size {
    case .fixed(let points): parts[.fixed] = points.archived
    case .flexible(let least, let most): parts[.flexible] = [least, most].archived
    case .adaptive(let least, let most): parts[.adaptive] = [least, most].archived
    }
    parts[.spacing] = spacing?.archived
    parts[.alignment] = alignment?.archived
    return .record(parts)
  }
}

/// Source: `SwiftUI.LazyVGrid`. A widget creates all of its views.
nonisolated public struct LazyVGrid<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let arguments: ArchivedArguments
  private let content: Content
  /// Without `spacing`: the system's default.
  public init(
    columns: [GridItem], alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(), @ViewBuilder content: () -> Content
  ) {
    arguments = [.columns: columns.archived, .alignment: alignment.archived, .spacing: spacing?.archived]
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(.container(.lazyVGrid), arguments, children: try context.children(of: content))
  }
}

/// Source: `SwiftUI.LazyHGrid`. A widget creates all of its views.
nonisolated public struct LazyHGrid<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let arguments: ArchivedArguments
  private let content: Content
  /// Without `spacing`: the system's default.
  public init(
    rows: [GridItem], alignment: VerticalAlignment = .center, spacing: CGFloat? = nil,
    pinnedViews: PinnedScrollableViews = .init(), @ViewBuilder content: () -> Content
  ) {
    arguments = [.rows: rows.archived, .alignment: alignment.archived, .spacing: spacing?.archived]
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(.container(.lazyHGrid), arguments, children: try context.children(of: content))
  }
}

/// Source: `SwiftUI.Grid`.
nonisolated public struct Grid<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let arguments: ArchivedArguments
  private let content: Content
  /// Without a spacing: the system's default.
  public init(
    alignment: Alignment = .center, horizontalSpacing: CGFloat? = nil, verticalSpacing: CGFloat? = nil,
    @ViewBuilder content: () -> Content
  ) {
    arguments = [
      .alignment: alignment.archived, .horizontalSpacing: horizontalSpacing?.archived,
      .verticalSpacing: verticalSpacing?.archived,
    ]
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(.container(.grid), arguments, children: try context.children(of: content))
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
      .container(.gridRow), [.alignment: alignment?.archived], children: try context.children(of: content))
  }
}

extension View {
  nonisolated public func gridCellColumns(_ count: Int) -> some View {
    modified(.layout(.gridCellColumns), [.count: count.archived])
  }
  nonisolated public func gridCellAnchor(_ anchor: UnitPoint) -> some View {
    modified(.layout(.gridCellAnchor), [.anchor: anchor.archived])
  }
  nonisolated public func gridColumnAlignment(_ guide: HorizontalAlignment) -> some View {
    modified(.layout(.gridColumnAlignment), [.alignment: guide.archived])
  }
  nonisolated public func gridCellUnsizedAxes(_ axes: Axis.Set) -> some View {
    modified(.layout(.gridCellUnsizedAxes), [.axes: axes.archived])
  }
}

/// Source: `SwiftUI.ForEach`.
nonisolated public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {
  public var data: Data
  public var content: (Data.Element) -> Content
  /// The identity of an element; `nil` for content without state.
  private let id: ((Data.Element) -> ID)?

  /// Content of any kind, which is not only that of views.
  package init(data: Data, id: ((Data.Element) -> ID)? = nil, content: @escaping (Data.Element) -> Content) {
    self.data = data
    self.id = id
    self.content = content
  }
}

extension ForEach: View, ArchivedView where Content: View {
  public typealias Body = Never

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var children: [ViewArchive] = []
    for element in data {
      let inner = id.map { context.place(Self.self, AnyHashable($0(element))) } ?? context
      children += try inner.children(of: inner.environment.during { content(element) })
    }
    return .group(children)
  }
}

extension ForEach where ID == Data.Element.ID, Content: View, Data.Element: Identifiable {
  nonisolated public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
    self.init(data: data, id: { $0.id }, content: content)
  }
}

extension ForEach where Content: View {
  nonisolated public init(
    _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {
    self.init(data: data, id: { $0[keyPath: id] }, content: content)
  }
}

extension ForEach where Data == Range<Int>, ID == Int, Content: View {
  nonisolated public init(_ data: Range<Int>, @ViewBuilder content: @escaping (Int) -> Content) {
    self.init(data: data, id: { $0 }, content: content)
  }
}
