package import Archive
public import Foundation

/// Room that grows. Source: `SwiftUI.Spacer`.
nonisolated public struct Spacer: View, ArchivedView, Sendable {
  /// There is none.
  public typealias Body = Never
  /// Points; `nil`: the system's.
  public var minLength: CGFloat?
  /// Room.
  public init(minLength: CGFloat? = nil) { self.minLength = minLength }
  package func archive(in context: ArchivingContext) -> ViewArchive {
    ViewArchive("Spacer", given: ["minLength": minLength?.archived])
  }
}

/// A line between views. Source: `SwiftUI.Divider`.
nonisolated public struct Divider: View, ArchivedView, Sendable {
  /// There is none.
  public typealias Body = Never
  /// A line.
  public init() {}
  package func archive(in context: ArchivingContext) -> ViewArchive { ViewArchive("Divider") }
}

/// Views with a header and a footer. Source: `SwiftUI.Section`.
nonisolated public struct Section<Parent: View, Content: View, Footer: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let header: Parent
  private let content: Content
  private let footer: Footer

  /// A section.
  public init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent, @ViewBuilder footer: () -> Footer)
  {
    self.header = header()
    self.content = content()
    self.footer = footer()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let parts = try context.children(of: header) + context.children(of: content) + context.children(of: footer)
    return ViewArchive("Section", children: parts.filter { $0 != .empty })
  }
}

extension Section where Footer == EmptyView {
  /// A section without a footer.
  public init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent) {
    self.init(content: content, header: header, footer: { EmptyView() })
  }
}

extension Section where Parent == EmptyView, Footer == EmptyView {
  /// A section without header and footer.
  public init(@ViewBuilder content: () -> Content) {
    self.init(content: content, header: { EmptyView() }, footer: { EmptyView() })
  }
}

extension Section where Parent == Text, Footer == EmptyView {
  /// A section with a title.
  public init(_ titleKey: LocalizedStringKey, @ViewBuilder content: () -> Content) {
    self.init(content: content, header: { Text(titleKey) }, footer: { EmptyView() })
  }
  /// A section with a title.
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, @ViewBuilder content: () -> Content) {
    self.init(content: content, header: { Text(title) }, footer: { EmptyView() })
  }
}

/// Of several views the first that has room. Source: `SwiftUI.ViewThatFits`. All are kept: nothing is laid out yet.
nonisolated public struct ViewThatFits<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let axes: Axis.Set
  private let content: Content
  /// Views, the most wanted first.
  public init(in axes: Axis.Set = [.horizontal, .vertical], @ViewBuilder content: () -> Content) {
    self.axes = axes
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      "ViewThatFits", given: ["axes": axes == [.horizontal, .vertical] ? nil : axes.archived],
      children: try context.children(of: content))
  }
}

/// A view that is compared before it is made. Source: `SwiftUI.EquatableView`.
nonisolated public struct EquatableView<Content: View & Equatable>: View {
  /// The view.
  public var content: Content
  /// A view.
  public init(content: Content) { self.content = content }
  /// The view.
  @MainActor public var body: some View { content }
}

extension View where Self: Equatable {
  /// The view, compared before it is made.
  nonisolated public func equatable() -> EquatableView<Self> { EquatableView(content: self) }
}

/// A view that says that there is nothing to see. Source: `SwiftUI.ContentUnavailableView`.
nonisolated public struct ContentUnavailableView<Label: View, Description: View, Actions: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  private let views: [any View]
  /// A view.
  public init(
    @ViewBuilder label: () -> Label, @ViewBuilder description: () -> Description = { EmptyView() },
    @ViewBuilder actions: () -> Actions = { EmptyView() }
  ) {
    views = [label(), description(), actions()]
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var children: [ViewArchive] = []
    for view in views { children += try context.children(of: view) }
    return ViewArchive("ContentUnavailableView", children: children.filter { $0 != .empty })
  }
}

extension ContentUnavailableView where Label == SwiftUI.Label<Text, Image>, Description == Text?, Actions == EmptyView {
  /// A title and a symbol.
  public init(_ title: LocalizedStringKey, systemImage name: String, description: Text? = nil) {
    self.init(
      label: { SwiftUI.Label(title, systemImage: name) }, description: { description }, actions: { EmptyView() })
  }
  /// A title and a picture.
  public init(_ title: LocalizedStringKey, image name: String, description: Text? = nil) {
    self.init(label: { SwiftUI.Label(title, image: name) }, description: { description }, actions: { EmptyView() })
  }
  /// A title and a symbol.
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, systemImage name: String, description: Text? = nil) {
    self.init(
      label: { SwiftUI.Label(title, systemImage: name) }, description: { description }, actions: { EmptyView() })
  }
}
