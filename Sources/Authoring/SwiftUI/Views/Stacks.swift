package import Archive
public import Foundation

/// Views that belong together. Source: `SwiftUI.Group`.
nonisolated public struct Group<Content> {
  private let content: Content
}

extension Group: View, ArchivedView where Content: View {
  /// There is none.
  public typealias Body = Never
  /// A group of views.
  nonisolated public init(@ViewBuilder content: () -> Content) { self.content = content() }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    .group(try context.children(of: content))
  }
}

/// Views one below the other. Source: `SwiftUI.VStack`.
nonisolated public struct VStack<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let alignment: HorizontalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// A stack; without a spacing the system's.
  public init(
    alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing
    self.content = content()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      "VStack", given: ["alignment": alignment.archived, "spacing": spacing?.archived],
      children: try context.children(of: content))
  }
}

/// Views one beside the other. Source: `SwiftUI.HStack`.
nonisolated public struct HStack<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let alignment: VerticalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// A stack; without a spacing the system's.
  public init(
    alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing
    self.content = content()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      "HStack", given: ["alignment": alignment.archived, "spacing": spacing?.archived],
      children: try context.children(of: content))
  }
}

/// Views one below the other. Source: `SwiftUI.LazyVStack`. A widget makes all of them.
nonisolated public struct LazyVStack<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let alignment: HorizontalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// A stack; without a spacing the system's.
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
      "LazyVStack", given: ["alignment": alignment.archived, "spacing": spacing?.archived],
      children: try context.children(of: content))
  }
}

/// Views one beside the other. Source: `SwiftUI.LazyHStack`. A widget makes all of them.
nonisolated public struct LazyHStack<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let alignment: VerticalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// A stack; without a spacing the system's.
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
      "LazyHStack", given: ["alignment": alignment.archived, "spacing": spacing?.archived],
      children: try context.children(of: content))
  }
}

/// Views one over the other, the first at the back. Source: `SwiftUI.ZStack`.
nonisolated public struct ZStack<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let alignment: Alignment
  private let content: Content

  /// A stack.
  public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
    self.alignment = alignment
    self.content = content()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive("ZStack", ["alignment": alignment.archived], children: try context.children(of: content))
  }
}

/// What stays in sight while a person scrolls; a widget does not scroll. Source: `SwiftUI.PinnedScrollableViews`.
public struct PinnedScrollableViews: OptionSet, Sendable {
  /// A bit for each.
  public let rawValue: UInt32
  /// By their bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Those above.
  public static let sectionHeaders = PinnedScrollableViews(rawValue: 1)
  /// Those below.
  public static let sectionFooters = PinnedScrollableViews(rawValue: 2)
}
