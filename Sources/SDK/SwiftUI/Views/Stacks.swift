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
      .container(.vStack), given: ["alignment": alignment.archived, "spacing": spacing?.archived],
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
      .container(.hStack), given: ["alignment": alignment.archived, "spacing": spacing?.archived],
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
      .container(.lazyVStack), given: ["alignment": alignment.archived, "spacing": spacing?.archived],
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
      .container(.lazyHStack), given: ["alignment": alignment.archived, "spacing": spacing?.archived],
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
    return ViewArchive(.container(.zStack), ["alignment": alignment.archived], children: children)
  }
}

/// Source: `SwiftUI.PinnedScrollableViews`. Without effect: a widget does not scroll.
public struct PinnedScrollableViews: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let sectionHeaders = PinnedScrollableViews(rawValue: 1)
  public static let sectionFooters = PinnedScrollableViews(rawValue: 2)
}
