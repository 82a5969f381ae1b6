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
