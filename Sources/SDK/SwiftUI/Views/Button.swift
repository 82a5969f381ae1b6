// SPDX-License-Identifier: Apache-2.0

public import AppIntents
package import Archive
public import Foundation

/// Source: `SwiftUI.Button`. In a widget only a button with an intent acts; a tap on any other one opens the app, as a
/// tap beside it does.
nonisolated public struct Button<Label: View>: View, ArchivedView {
  public typealias Body = Never
  private let role: ButtonRole?
  private let intent: ArchivedValue?
  private let label: Label

  init(role: ButtonRole?, intent: ArchivedValue?, label: Label) {
    self.role = role
    self.intent = intent
    self.label = label
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var view: any View = label
    if let style = context.environment.buttonStyle {
      let button = ButtonStyleConfiguration(role: role, label: .init(view: label), isPressed: false)
      view = context.environment.during { style.body(of: button) }
    }
    return ViewArchive(
      .control(.button), [.role: role?.archived, .intent: intent], children: try context.children(of: view))
  }
}

extension Button {
  /// `action` is never called in a widget.
  @preconcurrency public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
    self.init(role: nil, intent: nil, label: label())
  }
  /// `action` is never called in a widget.
  @preconcurrency public init(
    role: ButtonRole?, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label
  ) {
    self.init(role: role, intent: nil, label: label())
  }
}

extension Button where Label == Text {
  /// `action` is never called in a widget.
  @preconcurrency public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {
    self.init(role: nil, intent: nil, label: Text(titleKey))
  }
  /// `action` is never called in a widget.
  @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: nil, intent: nil, label: Text(title))
  }
  /// `action` is never called in a widget.
  @preconcurrency public init(
    _ titleKey: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: role, intent: nil, label: Text(titleKey))
  }
  /// `action` is never called in a widget.
  @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, role: ButtonRole?, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: role, intent: nil, label: Text(title))
  }
}

extension Button where Label == SwiftUI.Label<Text, Image> {
  /// `action` is never called in a widget.
  @preconcurrency public init(
    _ titleKey: LocalizedStringKey, systemImage: String, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: nil, intent: nil, label: SwiftUI.Label(titleKey, systemImage: systemImage))
  }
  /// `action` is never called in a widget.
  @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, systemImage: String, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: nil, intent: nil, label: SwiftUI.Label(title, systemImage: systemImage))
  }
}

/// Source: `SwiftUI.Toggle`. Both states are archived, so that the other one can be shown before the widget's next
/// timeline. In an app, the current one is evaluated.
nonisolated public struct Toggle<Label: View>: View, ArchivedView {
  public typealias Body = Never
  private let isOn: Bool
  private let intent: ArchivedValue?
  private let label: Label

  init(isOn: Bool, intent: ArchivedValue?, label: Label) {
    self.isOn = isOn
    self.intent = intent
    self.label = label
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let style = context.environment.toggleStyle
    // Without a style both states have the label, whose views appear once.
    let label = style == nil ? try context.children(of: label) : []
    var states: [ViewArchive] = []
    for isOn in context.environment.live == nil ? [true, false] : [isOn] {
      let children = if let style { try styled(style, isOn, in: context) } else { label }
      states.append(ViewArchive(.control(.toggleState), [.isOn: isOn.archived], children: children))
    }
    return ViewArchive(.control(.toggle), [.isOn: isOn.archived, .intent: intent], children: states)
  }

  @MainActor private func styled(
    _ style: any ToggleStyle, _ isOn: Bool, in context: ArchivingContext
  ) throws(ArchiveRefusal) -> [ViewArchive] {
    let toggle = ToggleStyleConfiguration(label: .init(view: label), isOn: .constant(isOn))
    return try context.children(of: context.environment.during { style.body(of: toggle) })
  }
}

extension Toggle {
  /// A widget does not change the value of `isOn`.
  public init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: label())
  }
}

extension Toggle where Label == Text {
  /// A widget does not change the value of `isOn`.
  public init(_ titleKey: LocalizedStringKey, isOn: Binding<Bool>) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: Text(titleKey))
  }
  /// A widget does not change the value of `isOn`.
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, isOn: Binding<Bool>) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: Text(title))
  }
}

// Source of all: the overlay of SwiftUI and AppIntents in the iOS 18 SDK.
extension AppIntent {
  /// The data with which another process of the extension, or of the app, performs the intent.
  fileprivate var archived: ArchivedValue {
    var record: ArchivedArguments = [
      .type: .string(Self.archivedName), .parameters: .record(ArchivedArguments(values: archivedParameters)),
      .opensApp: .bool(Self.opensApp), .runsInApp: .bool(Self.runsInApp),
    ]
    // Only a control can be touched on a locked device.
    if Self.authenticationPolicy != .alwaysAllowed { record[.needsUnlock] = true }
    return .record(record)
  }
}

extension AppIntent {
  /// The same for a toggle, whose value the system sets to the opposite of `isOn`. Source: `SetValueIntent`.
  fileprivate func archived(turning isOn: Bool) -> ArchivedValue {
    guard case .record(var record) = archived, let type = Self.self as? any SetValueIntent.Type, setsBool(type),
      case .record(var parameters)? = record[.parameters]
    else { return archived }
    parameters.values["value"] = .bool(!isOn)
    record[.parameters] = .record(parameters)
    return .record(record)
  }
}

private func setsBool<I: SetValueIntent>(_ type: I.Type) -> Bool { I.ValueType.self == Bool.self }

extension Button {
  public init<I: AppIntent>(intent: I, @ViewBuilder label: () -> Label) {
    self.init(role: nil, intent: intent.archived, label: label())
  }
  public init<I: AppIntent>(role: ButtonRole?, intent: I, @ViewBuilder label: () -> Label) {
    self.init(role: role, intent: intent.archived, label: label())
  }
}

extension Button where Label == Text {
  public init<I: AppIntent>(_ titleKey: LocalizedStringKey, intent: I) {
    self.init(role: nil, intent: intent.archived, label: Text(titleKey))
  }
  @_disfavoredOverload public init<S: StringProtocol, I: AppIntent>(_ title: S, intent: I) {
    self.init(role: nil, intent: intent.archived, label: Text(title))
  }
  public init<I: AppIntent>(_ titleKey: LocalizedStringKey, role: ButtonRole?, intent: I) {
    self.init(role: role, intent: intent.archived, label: Text(titleKey))
  }
  @_disfavoredOverload public init<S: StringProtocol, I: AppIntent>(_ title: S, role: ButtonRole?, intent: I) {
    self.init(role: role, intent: intent.archived, label: Text(title))
  }
}

extension Button where Label == SwiftUI.Label<Text, Image> {
  public init<I: AppIntent>(
    _ titleKey: LocalizedStringKey, systemImage: String, role: ButtonRole? = nil, intent: I
  ) {
    self.init(
      role: role, intent: intent.archived, label: SwiftUI.Label(titleKey, systemImage: systemImage))
  }
  @_disfavoredOverload public init<S: StringProtocol, I: AppIntent>(
    _ title: S, systemImage: String, role: ButtonRole? = nil, intent: I
  ) {
    self.init(role: role, intent: intent.archived, label: SwiftUI.Label(title, systemImage: systemImage))
  }
}

extension Toggle {
  public init<I: AppIntent>(isOn: Bool, intent: I, @ViewBuilder label: () -> Label) {
    self.init(isOn: isOn, intent: intent.archived(turning: isOn), label: label())
  }
}

extension Toggle where Label == Text {
  public init<I: AppIntent>(_ titleKey: LocalizedStringKey, isOn: Bool, intent: I) {
    self.init(isOn: isOn, intent: intent.archived(turning: isOn), label: Text(titleKey))
  }
  @_disfavoredOverload public init<S: StringProtocol, I: AppIntent>(_ title: S, isOn: Bool, intent: I) {
    self.init(isOn: isOn, intent: intent.archived(turning: isOn), label: Text(title))
  }
}

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
