public import AppIntents
import Archive
public import SwiftUI

/// Says what a control shows. Source: `WidgetKit.ControlValueProvider`.
public protocol ControlValueProvider {
  /// What it shows.
  associatedtype Value
  /// In the gallery.
  var previewValue: Self.Value { get }
  /// Now.
  func currentValue() async throws -> Self.Value
}

/// Says what a configured control shows. Source: `WidgetKit.AppIntentControlValueProvider`.
public protocol AppIntentControlValueProvider {
  /// What a person can choose.
  associatedtype Configuration: ControlConfigurationIntent
  /// What it shows.
  associatedtype Value
  /// In the gallery.
  func previewValue(configuration: Self.Configuration) -> Self.Value
  /// Now.
  func currentValue(configuration: Self.Configuration) async throws -> Self.Value
}

/// A control that a person cannot configure. Source: `WidgetKit.StaticControlConfiguration`.
@MainActor @preconcurrency
public struct StaticControlConfiguration<Content: ControlWidgetTemplate>: ControlWidgetConfiguration, DescribedControl,
  Sendable
{
  /// There is none.
  public typealias Body = Never
  private let kind: String

  /// A control without a value.
  public init(kind: String, @ControlWidgetTemplateBuilder content: @escaping () -> Content) { self.kind = kind }
  /// A control with a value.
  public init<Provider: ControlValueProvider>(
    kind: String, provider: Provider, @ControlWidgetTemplateBuilder content: @escaping (Provider.Value) -> Content
  ) { self.kind = kind }

  package func describe(_ description: inout WidgetDescription) {
    description.declaration = WidgetDeclaration(control: kind)
  }
}

/// A control that a person can configure. Source: `WidgetKit.AppIntentControlConfiguration`.
@MainActor @preconcurrency
public struct AppIntentControlConfiguration<Configuration: ControlConfigurationIntent, Content: ControlWidgetTemplate>:
  ControlWidgetConfiguration, DescribedControl, Sendable
{
  /// There is none.
  public typealias Body = Never
  private let kind: String

  /// A control without a value.
  public init(
    kind: String, intent: Configuration.Type = Configuration.self,
    @ControlWidgetTemplateBuilder content: @escaping (Configuration) -> Content
  ) { self.kind = kind }
  /// A control with a value.
  public init<Provider: AppIntentControlValueProvider>(
    kind: String, intent: Configuration.Type = Configuration.self, provider: Provider,
    @ControlWidgetTemplateBuilder content: @escaping (Provider.Value) -> Content
  ) where Configuration == Provider.Configuration { self.kind = kind }

  package func describe(_ description: inout WidgetDescription) {
    description.declaration = WidgetDeclaration(control: kind)
  }
}

extension WidgetDeclaration {
  fileprivate init(control kind: String) {
    self.init(kind: kind)
    isControl = true
  }
}

extension ControlWidgetConfiguration {
  /// The control's name in the gallery.
  @MainActor @preconcurrency public func displayName(
    _ displayName: LocalizedStringResource
  ) -> some ControlWidgetConfiguration {
    described { $0.declaration?.displayName = displayName.resolved() }
  }
  /// What the gallery says of the control.
  @MainActor @preconcurrency public func description(
    _ description: LocalizedStringResource
  ) -> some ControlWidgetConfiguration {
    described { $0.declaration?.description = description.resolved() }
  }
  /// The system asks for the configuration as soon as the control is placed.
  @MainActor @preconcurrency public func promptsForUserConfiguration() -> some ControlWidgetConfiguration {
    described { $0.declaration?.promptsForUserConfiguration = true }
  }
  /// Who is told of the token for pushes.
  @MainActor @preconcurrency public func pushHandler(
    _ pushHandlerType: any ControlPushHandler.Type
  ) -> some ControlWidgetConfiguration {
    described { $0.declaration?.pushHandler = "\(pushHandlerType)" }
  }
}
