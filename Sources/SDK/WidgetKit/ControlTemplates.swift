// SPDX-License-Identifier: Apache-2.0

public import AppIntents
public import SwiftUI

/// A control that performs an action. Source: `WidgetKit.ControlWidgetButton`.
@MainActor @preconcurrency
public struct ControlWidgetButton<Label: View, ActionLabel: View, Action: AppIntent>: ControlWidgetTemplate {
  public typealias Body = Never

  /// A button with a separate label while the action runs.
  public init(
    action: Action, @ViewBuilder label: () -> Label, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {}
}

extension ControlWidgetButton where ActionLabel == EmptyView {
  public init(action: Action, @ViewBuilder label: () -> Label) {}
}

extension ControlWidgetButton where Label == Text {
  public init(
    _ titleKey: LocalizedStringKey, action: Action, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {}
  @_disfavoredOverload public init(
    _ title: some StringProtocol, action: Action, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {}
}

/// A control that is on or off. Source: `WidgetKit.ControlWidgetToggle`.
@MainActor @preconcurrency
public struct ControlWidgetToggle<Label: View, ValueLabel: View, Action: SetValueIntent>: ControlWidgetTemplate
where Action.ValueType == Bool {
  public typealias Body = Never

  /// A toggle with a label for each state.
  public init(
    isOn: Bool, action: Action, @ViewBuilder label: () -> Label, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {}
}

extension ControlWidgetToggle where ValueLabel == EmptyView {
  public init(isOn: Bool, action: Action, @ViewBuilder label: () -> Label) {}
}

extension ControlWidgetToggle where Label == Text {
  public init(
    _ titleKey: LocalizedStringKey, isOn: Bool, action: Action, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {}
  @_disfavoredOverload public init(
    _ title: some StringProtocol, isOn: Bool, action: Action, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {}
}

extension ControlWidgetTemplate {
  /// Returns the template itself: controls are not drawn.
  @MainActor @preconcurrency public func tint(_ tint: Color?) -> some ControlWidgetTemplate { self }
  /// Returns the template itself: controls are not drawn.
  @MainActor @preconcurrency public func privacySensitive(_ sensitive: Bool = true) -> some ControlWidgetTemplate {
    self
  }
  /// Returns the template itself: controls are not drawn.
  @MainActor @preconcurrency public func disabled(_ disabled: Bool) -> some ControlWidgetTemplate { self }
}

extension View {
  /// The system's description of a control's state.
  @MainActor @preconcurrency public func controlWidgetStatus(_ status: LocalizedStringKey) -> some View {
    modified("controlWidgetStatus")
  }
  /// The system's description of a control's action.
  @MainActor @preconcurrency public func controlWidgetActionHint(_ hint: LocalizedStringKey) -> some View {
    modified("controlWidgetActionHint")
  }
}
