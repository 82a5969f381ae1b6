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
  /// Adds to the description of the control. The default adds what the body contributes. Not in Apple's API.
  func _describeControl(in holder: _DescriptionHolder)
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

extension ControlWidgetConfiguration {
  /// Adds what the body contributes.
  public func _describeControl(in holder: _DescriptionHolder) {
    if Body.self != Never.self { body._describeControl(in: holder) }
  }

  /// Adds what this configuration or its body contributes.
  package func add(to description: inout WidgetDescription) {
    _DescriptionHolder.add(to: &description, _describeControl)
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
private struct ModifiedControl<Content: ControlWidgetConfiguration>: ControlWidgetConfiguration {
  typealias Body = Never
  let content: Content
  let modify: (inout WidgetDescription) -> Void

  func _describeControl(in holder: _DescriptionHolder) {
    content._describeControl(in: holder)
    modify(&holder.description)
  }
}

/// A control in a widget bundle.
@MainActor struct ControlInBundle: Widget {
  let described: WidgetDescription

  init() { described = WidgetDescription() }
  init(_ control: any ControlWidget) { described = control.description }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}
