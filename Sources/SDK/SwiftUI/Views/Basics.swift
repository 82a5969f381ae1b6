// SPDX-License-Identifier: Apache-2.0

package import Archive
public import Foundation

/// Source: `SwiftUI.Spacer`.
nonisolated public struct Spacer: View, ArchivedView, Sendable {
  public typealias Body = Never
  /// In points; `nil`: the system's default.
  public var minLength: CGFloat?
  public init(minLength: CGFloat? = nil) { self.minLength = minLength }
  package func archive(in context: ArchivingContext) -> ViewArchive {
    ViewArchive(.leaf(.spacer), [.minLength: minLength?.archived])
  }
}

/// Source: `SwiftUI.Divider`.
nonisolated public struct Divider: View, ArchivedView, Sendable {
  public typealias Body = Never
  public init() {}
  package func archive(in context: ArchivingContext) -> ViewArchive { ViewArchive(.leaf(.divider)) }
}

/// Source: `SwiftUI.Section`.
nonisolated public struct Section<Parent: View, Content: View, Footer: View>: View, ArchivedView {
  public typealias Body = Never
  private let header: Parent
  private let content: Content
  private let footer: Footer

  public init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent, @ViewBuilder footer: () -> Footer)
  {
    self.header = header()
    self.content = content()
    self.footer = footer()
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let parts = try context.children(of: header) + context.children(of: content) + context.children(of: footer)
    return ViewArchive(.container(.section), children: parts.filter { $0 != .empty })
  }
}

extension Section where Footer == EmptyView {
  public init(@ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent) {
    self.init(content: content, header: header, footer: { EmptyView() })
  }
}

extension Section where Parent == EmptyView, Footer == EmptyView {
  public init(@ViewBuilder content: () -> Content) {
    self.init(content: content, header: { EmptyView() }, footer: { EmptyView() })
  }
}

extension Section where Parent == Text, Footer == EmptyView {
  public init(_ titleKey: LocalizedStringKey, @ViewBuilder content: () -> Content) {
    self.init(content: content, header: { Text(titleKey) }, footer: { EmptyView() })
  }
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, @ViewBuilder content: () -> Content) {
    self.init(content: content, header: { Text(title) }, footer: { EmptyView() })
  }
}

/// Source: `SwiftUI.ViewThatFits`. All views are archived: nothing is laid out yet. In an app, the first one is evaluated.
nonisolated public struct ViewThatFits<Content: View>: View, ArchivedView {
  public typealias Body = Never
  private let axes: Axis.Set
  private let content: Content
  /// The views are in order of preference.
  public init(in axes: Axis.Set = [.horizontal, .vertical], @ViewBuilder content: () -> Content) {
    self.axes = axes
    self.content = content()
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let isLive = context.environment.live != nil
    return ViewArchive(
      .container(.viewThatFits), [.axes: axes == [.horizontal, .vertical] ? nil : axes.archived],
      children: try context.children(of: isLive ? content.firstView : content))
  }
}

/// Source: `SwiftUI.EquatableView`.
nonisolated public struct EquatableView<Content: View & Equatable>: View {
  public var content: Content
  public init(content: Content) { self.content = content }
  @MainActor public var body: some View { content }
}

extension View where Self: Equatable {
  nonisolated public func equatable() -> EquatableView<Self> { EquatableView(content: self) }
}

/// Source: `SwiftUI.ContentUnavailableView`.
nonisolated public struct ContentUnavailableView<Label: View, Description: View, Actions: View>: View, ArchivedView {
  public typealias Body = Never
  private let views: [any View]
  public init(
    @ViewBuilder label: () -> Label, @ViewBuilder description: () -> Description = { EmptyView() },
    @ViewBuilder actions: () -> Actions = { EmptyView() }
  ) {
    views = [label(), description(), actions()]
  }
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var children: [ViewArchive] = []
    for view in views { children += try context.children(of: view) }
    return ViewArchive(.container(.contentUnavailableView), children: children.filter { $0 != .empty })
  }
}

extension ContentUnavailableView where Label == SwiftUI.Label<Text, Image>, Description == Text?, Actions == EmptyView {
  public init(_ title: LocalizedStringKey, systemImage name: String, description: Text? = nil) {
    self.init(
      label: { SwiftUI.Label(title, systemImage: name) }, description: { description }, actions: { EmptyView() })
  }
  public init(_ title: LocalizedStringKey, image name: String, description: Text? = nil) {
    self.init(label: { SwiftUI.Label(title, image: name) }, description: { description }, actions: { EmptyView() })
  }
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, image name: String, description: Text? = nil) {
    self.init(label: { SwiftUI.Label(title, image: name) }, description: { description }, actions: { EmptyView() })
  }
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, systemImage name: String, description: Text? = nil) {
    self.init(
      label: { SwiftUI.Label(title, systemImage: name) }, description: { description }, actions: { EmptyView() })
  }
}
