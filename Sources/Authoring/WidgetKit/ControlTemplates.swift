public import AppIntents
public import SwiftUI

/// A control that does something. Source: `WidgetKit.ControlWidgetButton`.
@MainActor @preconcurrency
public struct ControlWidgetButton<Label: View, ActionLabel: View, Action: AppIntent>: ControlWidgetTemplate {
  /// There is none.
  public typealias Body = Never

  /// A button with a label of its own while it acts.
  public init(
    action: Action, @ViewBuilder label: () -> Label, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {}
}

extension ControlWidgetButton where ActionLabel == EmptyView {
  /// A button.
  public init(action: Action, @ViewBuilder label: () -> Label) {}
}

extension ControlWidgetButton where Label == Text {
  /// A button with a title.
  public init(
    _ titleKey: LocalizedStringKey, action: Action, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {}
  /// A button with a title.
  @_disfavoredOverload public init(
    _ title: some StringProtocol, action: Action, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {}
}

/// A control that is on or off. Source: `WidgetKit.ControlWidgetToggle`.
@MainActor @preconcurrency
public struct ControlWidgetToggle<Label: View, ValueLabel: View, Action: SetValueIntent>: ControlWidgetTemplate
where Action.ValueType == Bool {
  /// There is none.
  public typealias Body = Never

  /// A toggle with a label for on and off.
  public init(
    isOn: Bool, action: Action, @ViewBuilder label: () -> Label, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {}
}

extension ControlWidgetToggle where ValueLabel == EmptyView {
  /// A toggle.
  public init(isOn: Bool, action: Action, @ViewBuilder label: () -> Label) {}
}

extension ControlWidgetToggle where Label == Text {
  /// A toggle with a title.
  public init(
    _ titleKey: LocalizedStringKey, isOn: Bool, action: Action, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {}
  /// A toggle with a title.
  @_disfavoredOverload public init(
    _ title: some StringProtocol, isOn: Bool, action: Action, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {}
}

extension ControlWidgetTemplate {
  /// The template itself: nothing draws it.
  @MainActor @preconcurrency public func tint(_ tint: Color?) -> some ControlWidgetTemplate { self }
  /// The template itself: nothing draws it.
  @MainActor @preconcurrency public func privacySensitive(_ sensitive: Bool = true) -> some ControlWidgetTemplate {
    self
  }
  /// The template itself: nothing draws it.
  @MainActor @preconcurrency public func disabled(_ disabled: Bool) -> some ControlWidgetTemplate { self }
}

extension View {
  /// What the system says of a control's state.
  @MainActor @preconcurrency public func controlWidgetStatus(_ status: LocalizedStringKey) -> some View {
    modified("controlWidgetStatus")
  }
  /// What the system says that a control does.
  @MainActor @preconcurrency public func controlWidgetActionHint(_ hint: LocalizedStringKey) -> some View {
    modified("controlWidgetActionHint")
  }
}
