// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive
public import SwiftUI

/// Provides the value of a control. Source: `WidgetKit.ControlValueProvider`.
public protocol ControlValueProvider {
  associatedtype Value
  /// The value in the gallery.
  var previewValue: Self.Value { get }
  /// The current value.
  func currentValue() async throws -> Self.Value
}

/// Provides the value of a configurable control. Source: `WidgetKit.AppIntentControlValueProvider`.
public protocol AppIntentControlValueProvider {
  associatedtype Configuration: ControlConfigurationIntent
  associatedtype Value
  /// The value in the gallery.
  func previewValue(configuration: Self.Configuration) -> Self.Value
  /// The current value.
  func currentValue(configuration: Self.Configuration) async throws -> Self.Value
}

/// A control that the user cannot configure. Source: `WidgetKit.StaticControlConfiguration`.
@MainActor @preconcurrency
public struct StaticControlConfiguration<Content: ControlWidgetTemplate>: ControlWidgetConfiguration,
  Sendable
{
  public typealias Body = Never
  private let declaration: WidgetDeclaration
  private let source: TimelineSource

  /// A control without a value.
  public init(kind: String, @ControlWidgetTemplateBuilder content: @escaping () -> Content) {
    declaration = WidgetDeclaration(control: kind, provider: "")
    source = TimelineSource(
      kind: kind, provider: "", ask: ControlSource.none,
      read: { GivenTimeline(control: $0) { (_: Void) in content() } })
  }
  /// A control with a value.
  public init<Provider: ControlValueProvider>(
    kind: String, provider: Provider, @ControlWidgetTemplateBuilder content: @escaping (Provider.Value) -> Content
  ) {
    declaration = WidgetDeclaration(control: kind, provider: "\(Provider.self)")
    source = TimelineSource(
      kind: kind, provider: declaration.provider, ask: ControlSource.asking(provider),
      read: { GivenTimeline(control: $0, content) })
  }

  public func _describeControl(in holder: _DescriptionHolder) {
    holder.description.declaration = declaration
    holder.description.timeline = { [source] in try await source.timeline($0) }
  }
}

/// A control that the user can configure. Source: `WidgetKit.AppIntentControlConfiguration`.
@MainActor @preconcurrency
public struct AppIntentControlConfiguration<Configuration: ControlConfigurationIntent, Content: ControlWidgetTemplate>:
  ControlWidgetConfiguration, Sendable
{
  public typealias Body = Never
  private let declaration: WidgetDeclaration
  private let source: TimelineSource

  /// A control without a value.
  public init(
    kind: String, intent: Configuration.Type = Configuration.self,
    @ControlWidgetTemplateBuilder content: @escaping (Configuration) -> Content
  ) {
    declaration = WidgetDeclaration(control: kind, provider: "")
    source = TimelineSource(
      kind: kind, provider: "", ask: ControlSource.asking(Configuration.self),
      read: { GivenTimeline(control: $0, content) })
  }
  /// A control with a value.
  public init<Provider: AppIntentControlValueProvider>(
    kind: String, intent: Configuration.Type = Configuration.self, provider: Provider,
    @ControlWidgetTemplateBuilder content: @escaping (Provider.Value) -> Content
  ) where Configuration == Provider.Configuration {
    declaration = WidgetDeclaration(control: kind, provider: "\(Provider.self)")
    source = TimelineSource(
      kind: kind, provider: declaration.provider, ask: ControlSource.asking(provider),
      read: { GivenTimeline(control: $0, content) })
  }

  public func _describeControl(in holder: _DescriptionHolder) {
    holder.description.declaration = declaration
    holder.description.timeline = { [source] in try await source.timeline($0) }
    holder.description.configuration = declaring(Configuration.self)
  }
}

extension WidgetDeclaration {
  fileprivate init(control kind: String, provider: String) {
    self.init(kind: kind)
    isControl = true
    self.provider = provider
  }
}

extension ControlWidgetConfiguration {
  /// The control's name in the gallery.
  @MainActor @preconcurrency public func displayName(
    _ displayName: LocalizedStringResource
  ) -> some ControlWidgetConfiguration {
    described { $0.declaration?.displayName = displayName.resolved() }
  }
  /// The control's description in the gallery.
  @MainActor @preconcurrency public func description(
    _ description: LocalizedStringResource
  ) -> some ControlWidgetConfiguration {
    described { $0.declaration?.description = description.resolved() }
  }
  /// The system prompts for the configuration when the control is placed.
  @MainActor @preconcurrency public func promptsForUserConfiguration() -> some ControlWidgetConfiguration {
    described { $0.declaration?.promptsForUserConfiguration = true }
  }
  /// The type that receives the push tokens.
  @MainActor @preconcurrency public func pushHandler(
    _ pushHandlerType: any ControlPushHandler.Type
  ) -> some ControlWidgetConfiguration {
    described { description in
      description.declaration?.pushHandler = "\(pushHandlerType)"
      description.controlPushHandler = PushHandlerCall(
        type: ObjectIdentifier(pushHandlerType), name: "\(pushHandlerType)"
      ) { controls in
        pushHandlerType.init().pushTokensDidChange(controls: controls.map { ControlInfo($0.control, token: $0.token) })
      }
    }
  }
}

/// A template with a view that the host receives.
@MainActor protocol ViewTemplate {
  var view: AnyView { get }
}

extension ControlWidgetTemplate {
  /// The view of this template, or of its body.
  @MainActor var archivedView: AnyView {
    if let template = self as? any ViewTemplate { return template.view }
    return Body.self == Never.self ? AnyView(EmptyView()) : body.archivedView
  }
}

/// A control that performs an action. Source: `WidgetKit.ControlWidgetButton`.
@MainActor @preconcurrency
public struct ControlWidgetButton<Label: View, ActionLabel: View, Action: AppIntent>: ControlWidgetTemplate,
  ViewTemplate
{
  public typealias Body = Never
  let view: AnyView

  private init(_ action: Action, label: Label, actionLabel: ActionLabel) {
    view = AnyView(
      Button(intent: action) {
        label
        actionLabel
      })
  }

  /// A button with a separate label while the action runs. The label of the idle state is shown.
  public init(
    action: Action, @ViewBuilder label: () -> Label, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {
    self.init(action, label: label(), actionLabel: actionLabel(false))
  }
}

extension ControlWidgetButton where ActionLabel == EmptyView {
  public init(action: Action, @ViewBuilder label: () -> Label) {
    self.init(action, label: label(), actionLabel: EmptyView())
  }
}

extension ControlWidgetButton where Label == Text {
  public init(
    _ titleKey: LocalizedStringKey, action: Action, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {
    self.init(action, label: Text(titleKey), actionLabel: actionLabel(false))
  }
  @_disfavoredOverload public init(
    _ title: some StringProtocol, action: Action, @ViewBuilder actionLabel: (Bool) -> ActionLabel
  ) {
    self.init(action, label: Text(title), actionLabel: actionLabel(false))
  }
}

/// A control that is on or off. Source: `WidgetKit.ControlWidgetToggle`.
@MainActor @preconcurrency
public struct ControlWidgetToggle<Label: View, ValueLabel: View, Action: SetValueIntent>: ControlWidgetTemplate,
  ViewTemplate
where Action.ValueType == Bool {
  public typealias Body = Never
  let view: AnyView

  private init(_ isOn: Bool, action: Action, label: Label, valueLabel: ValueLabel) {
    view = AnyView(
      Toggle(isOn: isOn, intent: action) {
        label
        valueLabel
      })
  }

  /// A toggle with a label for each state.
  public init(
    isOn: Bool, action: Action, @ViewBuilder label: () -> Label, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {
    self.init(isOn, action: action, label: label(), valueLabel: valueLabel(isOn))
  }
}

extension ControlWidgetToggle where ValueLabel == EmptyView {
  public init(isOn: Bool, action: Action, @ViewBuilder label: () -> Label) {
    self.init(isOn, action: action, label: label(), valueLabel: EmptyView())
  }
}

extension ControlWidgetToggle where Label == Text {
  public init(
    _ titleKey: LocalizedStringKey, isOn: Bool, action: Action, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {
    self.init(isOn, action: action, label: Text(titleKey), valueLabel: valueLabel(isOn))
  }
  @_disfavoredOverload public init(
    _ title: some StringProtocol, isOn: Bool, action: Action, @ViewBuilder valueLabel: (Bool) -> ValueLabel
  ) {
    self.init(isOn, action: action, label: Text(title), valueLabel: valueLabel(isOn))
  }
}

/// A template with a changed view.
@MainActor private struct ModifiedTemplate: ControlWidgetTemplate, ViewTemplate {
  typealias Body = Never
  let view: AnyView
}

extension ControlWidgetTemplate {
  /// The colour of the control while it is on.
  @MainActor @preconcurrency public func tint(_ tint: Color?) -> some ControlWidgetTemplate {
    ModifiedTemplate(view: AnyView(archivedView.tint(tint)))
  }
  /// Whether the control hides its content while the device is locked.
  @MainActor @preconcurrency public func privacySensitive(_ sensitive: Bool = true) -> some ControlWidgetTemplate {
    ModifiedTemplate(view: AnyView(archivedView.privacySensitive(sensitive)))
  }
  /// Whether a tap has no effect.
  @MainActor @preconcurrency public func disabled(_ disabled: Bool) -> some ControlWidgetTemplate {
    ModifiedTemplate(view: AnyView(archivedView.disabled(disabled)))
  }
}

extension View {
  /// The system's description of a control's state.
  @MainActor @preconcurrency public func controlWidgetStatus(_ status: LocalizedStringKey) -> some View {
    modified(.silent(.controlWidgetStatus))
  }
  /// The system's description of a control's state.
  @_disfavoredOverload @MainActor @preconcurrency public func controlWidgetStatus<S: StringProtocol>(
    _ status: S
  ) -> some View {
    modified(.silent(.controlWidgetStatus))
  }
  /// The system's description of a control's action.
  @MainActor @preconcurrency public func controlWidgetActionHint(_ hint: LocalizedStringKey) -> some View {
    modified(.silent(.controlWidgetActionHint))
  }
  /// The system's description of a control's action.
  @_disfavoredOverload @MainActor @preconcurrency public func controlWidgetActionHint<S: StringProtocol>(
    _ hint: S
  ) -> some View {
    modified(.silent(.controlWidgetActionHint))
  }
}
