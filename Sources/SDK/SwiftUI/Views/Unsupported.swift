// SPDX-License-Identifier: Apache-2.0

package import Archive

// Views of SwiftUI that a widget cannot show: the system draws a placeholder instead. In an app the content of those
// that have any is evaluated.

/// A view that a widget cannot show.
nonisolated package protocol UnsupportedView: View, ArchivedView {}

extension UnsupportedView {
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let name = "\(Self.self)".prefix { $0 != "<" }
    return ViewArchive(.leaf(.unsupportedView), [.view: .string(String(name))])
  }
}

/// A view that a widget cannot show, and whose content is evaluated in an app.
nonisolated protocol ContainerView: UnsupportedView {
  associatedtype Content: View
  var content: Content { get }
}

extension ContainerView {
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let name = "\(Self.self)".prefix { $0 != "<" }
    let archive = ViewArchive(.leaf(.unsupportedView), [.view: .string(String(name))])
    guard context.environment.live != nil else { return archive }
    // The first tab is the selected one.
    _ = try context.place(Self.self, 0).archive(of: self is any TabbedView ? content.firstView : content)
    return archive
  }
}

/// A view that shows one of its views at a time.
nonisolated private protocol TabbedView {}
extension TabView: TabbedView {}

extension View {
  /// The first of several views, or this one.
  var firstView: any View { (self as? any ViewTuple)?.first ?? self }
}

/// Source: `SwiftUI.ScrollView`. A widget cannot show it.
nonisolated public struct ScrollView<Content: View>: ContainerView {
  public typealias Body = Never
  let content: Content
  public init(_ axes: Axis.Set = .vertical, showsIndicators: Bool = true, @ViewBuilder content: () -> Content) {
    self.content = content()
  }
}

/// Source: `SwiftUI.List`. A widget cannot show it.
nonisolated public struct List<Content: View>: ContainerView {
  public typealias Body = Never
  let content: Content
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
}

/// Source: `SwiftUI.Form`. A widget cannot show it.
nonisolated public struct Form<Content: View>: ContainerView {
  public typealias Body = Never
  let content: Content
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
}

/// Source: `SwiftUI.NavigationView`. A widget cannot show it.
nonisolated public struct NavigationView<Content: View>: ContainerView {
  public typealias Body = Never
  let content: Content
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
}

/// Source: `SwiftUI.NavigationStack`. A widget cannot show it.
nonisolated public struct NavigationStack<Content: View>: ContainerView {
  public typealias Body = Never
  let content: Content
  public init(@ViewBuilder root: () -> Content) { self.content = root() }
}

/// Source: `SwiftUI.TabView`. A widget cannot show it.
nonisolated public struct TabView<Content: View>: ContainerView {
  public typealias Body = Never
  let content: Content
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
}

/// Source: `SwiftUI.TextField`. A widget cannot show it.
nonisolated public struct TextField: UnsupportedView {
  public typealias Body = Never
  public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, text: Binding<String>) {}
}

/// Source: `SwiftUI.SecureField`. A widget cannot show it.
nonisolated public struct SecureField: UnsupportedView {
  public typealias Body = Never
  public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, text: Binding<String>) {}
}

/// Source: `SwiftUI.TextEditor`. A widget cannot show it.
nonisolated public struct TextEditor: UnsupportedView {
  public typealias Body = Never
  public init(text: Binding<String>) {}
}

/// Source: `SwiftUI.Slider`. A widget cannot show it.
nonisolated public struct Slider: UnsupportedView {
  public typealias Body = Never
  public init<V: BinaryFloatingPoint>(
    value: Binding<V>, in bounds: ClosedRange<V> = 0...1, onEditingChanged: @escaping (Bool) -> Void = { _ in }
  ) {}
  public init<V: BinaryFloatingPoint>(
    value: Binding<V>, in bounds: ClosedRange<V>, step: V.Stride = 1,
    onEditingChanged: @escaping (Bool) -> Void = { _ in }
  ) where V.Stride: BinaryFloatingPoint {}
}

/// Source: `SwiftUI.Stepper`. A widget cannot show it.
nonisolated public struct Stepper: UnsupportedView {
  public typealias Body = Never
  public init(_ titleKey: LocalizedStringKey, value: Binding<Int>) {}
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, value: Binding<Int>) {}
}

/// Source: `SwiftUI.ControlGroup`. A widget cannot show it.
nonisolated public struct ControlGroup<Content: View>: UnsupportedView {
  public typealias Body = Never
  public init(@ViewBuilder content: () -> Content) {}
}

/// Source: `SwiftUI.DisclosureGroup`. A widget cannot show it.
nonisolated public struct DisclosureGroup<Label: View, Content: View>: UnsupportedView {
  public typealias Body = Never
  public init(@ViewBuilder content: @escaping () -> Content, @ViewBuilder label: () -> Label) {}
  public init(
    isExpanded: Binding<Bool>, @ViewBuilder content: @escaping () -> Content, @ViewBuilder label: () -> Label
  ) {}
}

extension DisclosureGroup where Label == Text {
  public init(_ titleKey: LocalizedStringKey, @ViewBuilder content: @escaping () -> Content) {}
  public init(
    _ titleKey: LocalizedStringKey, isExpanded: Binding<Bool>, @ViewBuilder content: @escaping () -> Content
  ) {}
  @_disfavoredOverload public init<S: StringProtocol>(_ label: S, @ViewBuilder content: @escaping () -> Content) {}
  @_disfavoredOverload public init<S: StringProtocol>(
    _ label: S, isExpanded: Binding<Bool>, @ViewBuilder content: @escaping () -> Content
  ) {}
}
