// SPDX-License-Identifier: Apache-2.0

// Controls, which the user places in Control Center. Source of all: `SwiftUI` of the iOS 18 SDK.

/// Source: `SwiftUI.ControlWidget`.
@MainActor @preconcurrency public protocol ControlWidget {
  associatedtype Body: ControlWidgetConfiguration
  /// Called by the system once in each process.
  init()
  @ControlWidgetConfigurationBuilder var body: Self.Body { get }
}

/// Source: `SwiftUI.ControlWidgetConfiguration`.
@MainActor @preconcurrency public protocol ControlWidgetConfiguration {
  associatedtype Body: ControlWidgetConfiguration
  @ControlWidgetConfigurationBuilder var body: Self.Body { get }
}

/// Source: `SwiftUI.ControlWidgetTemplate`.
@MainActor @preconcurrency public protocol ControlWidgetTemplate {
  associatedtype Body: ControlWidgetTemplate
  @ControlWidgetTemplateBuilder var body: Self.Body { get }
}

extension Never: ControlWidgetConfiguration, ControlWidgetTemplate {}

extension ControlWidgetConfiguration where Body == Never {
  public var body: Never { fatalError("\(Self.self) has no body") }
}

extension ControlWidgetTemplate where Body == Never {
  public var body: Never { fatalError("\(Self.self) has no body") }
}

/// Source: `SwiftUI.ControlWidgetConfigurationBuilder`.
@resultBuilder public struct ControlWidgetConfigurationBuilder {
  public static func buildBlock<Content: ControlWidgetConfiguration>(_ content: Content) -> Content { content }
}

/// Source: `SwiftUI.ControlWidgetTemplateBuilder`.
@resultBuilder public struct ControlWidgetTemplateBuilder {
  public static func buildBlock() -> EmptyControlWidgetTemplate { EmptyControlWidgetTemplate() }
  public static func buildBlock<Content: ControlWidgetTemplate>(_ content: Content) -> Content { content }
}

/// Source: `SwiftUI.EmptyControlWidgetConfiguration`.
@MainActor @preconcurrency @frozen public struct EmptyControlWidgetConfiguration: ControlWidgetConfiguration {
  public typealias Body = Never
  public init() {}
}

/// Source: `SwiftUI.EmptyControlWidgetTemplate`.
@MainActor @preconcurrency @frozen public struct EmptyControlWidgetTemplate: ControlWidgetTemplate {
  public typealias Body = Never
  public nonisolated init() {}
}

/// A configuration that adds to the control's description itself.
@MainActor package protocol DescribedControl {
  func describe(_ description: inout WidgetDescription)
}

extension ControlWidgetConfiguration {
  /// Adds what this configuration or its body contributes.
  package func add(to description: inout WidgetDescription) {
    if let described = self as? any DescribedControl { return described.describe(&description) }
    if Body.self != Never.self { body.add(to: &description) }
  }

  /// Returns the configuration with an addition to its description.
  package func described(
    _ modify: @escaping (inout WidgetDescription) -> Void
  ) -> some ControlWidgetConfiguration {
    ModifiedControl(content: self, modify: modify)
  }
}

extension ControlWidget {
  package var description: WidgetDescription {
    var description = WidgetDescription()
    body.add(to: &description)
    return description
  }
}

@MainActor
private struct ModifiedControl<Content: ControlWidgetConfiguration>: ControlWidgetConfiguration,
  DescribedControl
{
  typealias Body = Never
  let content: Content
  let modify: (inout WidgetDescription) -> Void

  func describe(_ description: inout WidgetDescription) {
    content.add(to: &description)
    modify(&description)
  }
}

/// A control in a widget bundle.
@MainActor struct ControlInBundle: Widget {
  let described: WidgetDescription

  init() { described = WidgetDescription() }
  init(_ control: any ControlWidget) { described = control.description }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}
