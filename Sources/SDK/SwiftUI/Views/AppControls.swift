// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Controls of an app that a widget cannot show: the system draws a placeholder instead.

/// Source: `SwiftUI.Picker`. A widget cannot show it.
nonisolated public struct Picker<Label: View, SelectionValue: Hashable, Content: View>: UnsupportedView {
  public typealias Body = Never
  public init(selection: Binding<SelectionValue>, @ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label)
  {}
}

extension Picker where Label == Text {
  public init(_ titleKey: LocalizedStringKey, selection: Binding<SelectionValue>, @ViewBuilder content: () -> Content) {
  }
  @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, selection: Binding<SelectionValue>, @ViewBuilder content: () -> Content
  ) {}
}

/// Source: `SwiftUI.PickerStyle`.
public protocol PickerStyle {}

/// Source: `SwiftUI.SegmentedPickerStyle`.
public struct SegmentedPickerStyle: PickerStyle { public init() {} }
/// Source: `SwiftUI.MenuPickerStyle`.
public struct MenuPickerStyle: PickerStyle { public init() {} }
/// Source: `SwiftUI.WheelPickerStyle`.
public struct WheelPickerStyle: PickerStyle { public init() {} }
/// Source: `SwiftUI.InlinePickerStyle`.
public struct InlinePickerStyle: PickerStyle { public init() {} }
/// Source: `SwiftUI.DefaultPickerStyle`.
public struct DefaultPickerStyle: PickerStyle { public init() {} }

extension PickerStyle where Self == SegmentedPickerStyle {
  public static var segmented: SegmentedPickerStyle { SegmentedPickerStyle() }
}

extension PickerStyle where Self == MenuPickerStyle {
  public static var menu: MenuPickerStyle { MenuPickerStyle() }
}

extension PickerStyle where Self == WheelPickerStyle {
  public static var wheel: WheelPickerStyle { WheelPickerStyle() }
}

extension PickerStyle where Self == InlinePickerStyle {
  public static var inline: InlinePickerStyle { InlinePickerStyle() }
}

/// Source: `SwiftUI.Menu`. A widget cannot show it.
nonisolated public struct Menu<Label: View, Content: View>: UnsupportedView {
  public typealias Body = Never
  public init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {}
}

extension Menu where Label == Text {
  public init(_ titleKey: LocalizedStringKey, @ViewBuilder content: () -> Content) {}
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, @ViewBuilder content: () -> Content) {}
}

/// Source: `SwiftUI.EditButton`. A widget cannot show it.
nonisolated public struct EditButton: UnsupportedView {
  public typealias Body = Never
  public init() {}
}

/// Source: `SwiftUI.ShareLink`. A widget cannot show it.
nonisolated public struct ShareLink: UnsupportedView {
  public typealias Body = Never
  public init(item: URL) {}
  public init(item: String) {}
  public init(_ titleKey: LocalizedStringKey, item: URL) {}
  public init(_ titleKey: LocalizedStringKey, item: String) {}
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, item: URL) {}
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, item: String) {}
  public init<Label: View>(item: URL, @ViewBuilder label: () -> Label) {}
  public init<Label: View>(item: String, @ViewBuilder label: () -> Label) {}
}

extension ForEach where Content: View {
  /// `action` is never called.
  nonisolated public func onDelete(perform action: ((IndexSet) -> Void)?) -> ForEach { self }
  /// `action` is never called.
  nonisolated public func onMove(perform action: ((IndexSet, Int) -> Void)?) -> ForEach { self }
}

/// Source: `SwiftUI.ToolbarItemPlacement`.
public struct ToolbarItemPlacement: Sendable {
  public static let automatic = ToolbarItemPlacement(), principal = ToolbarItemPlacement(),
    navigation = ToolbarItemPlacement(), primaryAction = ToolbarItemPlacement(), status = ToolbarItemPlacement(),
    cancellationAction = ToolbarItemPlacement(), confirmationAction = ToolbarItemPlacement(),
    bottomBar = ToolbarItemPlacement(), topBarLeading = ToolbarItemPlacement(), topBarTrailing = ToolbarItemPlacement(),
    navigationBarLeading = ToolbarItemPlacement(), navigationBarTrailing = ToolbarItemPlacement(),
    keyboard = ToolbarItemPlacement()
}

/// Source: `SwiftUI.ToolbarItem`. Nothing shows it.
nonisolated public struct ToolbarItem<Content: View>: UnsupportedView {
  public typealias Body = Never
  public init(placement: ToolbarItemPlacement = .automatic, @ViewBuilder content: () -> Content) {}
}

/// Source: `SwiftUI.NavigationBarItem`.
public enum NavigationBarItem {
  /// Source: `SwiftUI.NavigationBarItem.TitleDisplayMode`.
  public enum TitleDisplayMode: Sendable {
    case automatic, inline, large
  }
}

/// Source: `SwiftUI.NavigationViewStyle`.
public protocol NavigationViewStyle {}

/// Source: `SwiftUI.StackNavigationViewStyle`.
public struct StackNavigationViewStyle: NavigationViewStyle { public init() {} }

extension NavigationViewStyle where Self == StackNavigationViewStyle {
  public static var stack: StackNavigationViewStyle { StackNavigationViewStyle() }
}

// What surrounds the views of an app. A widget has none of it.
extension View {
  /// Has no effect.
  nonisolated public func pickerStyle<S: PickerStyle>(_ style: S) -> some View { self }
  /// Has no effect.
  nonisolated public func navigationTitle(_ titleKey: LocalizedStringKey) -> some View { self }
  /// Has no effect.
  @_disfavoredOverload nonisolated public func navigationTitle<S: StringProtocol>(_ title: S) -> some View { self }
  /// Has no effect.
  nonisolated public func navigationTitle(_ title: Text) -> some View { self }
  /// Has no effect.
  nonisolated public func navigationBarTitle(_ titleKey: LocalizedStringKey) -> some View { self }
  /// Has no effect.
  @_disfavoredOverload nonisolated public func navigationBarTitle<S: StringProtocol>(_ title: S) -> some View { self }
  /// Has no effect.
  nonisolated public func navigationBarTitleDisplayMode(
    _ displayMode: NavigationBarItem.TitleDisplayMode
  ) -> some View { self }
  /// Has no effect.
  nonisolated public func navigationBarHidden(_ hidden: Bool) -> some View { self }
  /// Has no effect.
  nonisolated public func navigationViewStyle<S: NavigationViewStyle>(_ style: S) -> some View { self }
  /// Has no effect.
  nonisolated public func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View { self }
}
