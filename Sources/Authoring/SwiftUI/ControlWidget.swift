// Controls are declared and listed; no screen of the device shows them. Source of all: `SwiftUI` of the iOS 18 SDK.

/// A control: a kind with its configuration. Source: `SwiftUI.ControlWidget`.
@MainActor @preconcurrency public protocol ControlWidget {
  /// The kind of the configuration.
  associatedtype Body: ControlWidgetConfiguration
  /// The system makes the control anew in each process.
  init()
  /// The control's kind and template.
  @ControlWidgetConfigurationBuilder var body: Self.Body { get }
}

/// A control's content. Source: `SwiftUI.ControlWidgetConfiguration`.
@MainActor @preconcurrency public protocol ControlWidgetConfiguration {
  /// What the configuration is made of.
  associatedtype Body: ControlWidgetConfiguration
  /// What the configuration is made of.
  @ControlWidgetConfigurationBuilder var body: Self.Body { get }
}

/// A control's look. Source: `SwiftUI.ControlWidgetTemplate`.
@MainActor @preconcurrency public protocol ControlWidgetTemplate {
  /// What the template is made of.
  associatedtype Body: ControlWidgetTemplate
  /// What the template is made of.
  @ControlWidgetTemplateBuilder var body: Self.Body { get }
}

extension Never: ControlWidgetConfiguration, ControlWidgetTemplate {}

extension ControlWidgetConfiguration where Body == Never {
  /// There is none.
  public var body: Never { fatalError("\(Self.self) has no body") }
}

extension ControlWidgetTemplate where Body == Never {
  /// There is none.
  public var body: Never { fatalError("\(Self.self) has no body") }
}

/// Makes a control's configuration. Source: `SwiftUI.ControlWidgetConfigurationBuilder`.
@resultBuilder public struct ControlWidgetConfigurationBuilder {
  /// A configuration as it stands.
  public static func buildBlock<Content: ControlWidgetConfiguration>(_ content: Content) -> Content { content }
}

/// Makes a control's template. Source: `SwiftUI.ControlWidgetTemplateBuilder`.
@resultBuilder public struct ControlWidgetTemplateBuilder {
  /// No template.
  public static func buildBlock() -> EmptyControlWidgetTemplate { EmptyControlWidgetTemplate() }
  /// A template as it stands.
  public static func buildBlock<Content: ControlWidgetTemplate>(_ content: Content) -> Content { content }
}

/// A control without content. Source: `SwiftUI.EmptyControlWidgetConfiguration`.
@MainActor @preconcurrency @frozen public struct EmptyControlWidgetConfiguration: ControlWidgetConfiguration {
  /// There is none.
  public typealias Body = Never
  /// A control without content.
  public init() {}
}

/// A template that shows nothing. Source: `SwiftUI.EmptyControlWidgetTemplate`.
@MainActor @preconcurrency @frozen public struct EmptyControlWidgetTemplate: ControlWidgetTemplate {
  /// There is none.
  public typealias Body = Never
  /// A template that shows nothing.
  public nonisolated init() {}
}

/// A control's configuration that says itself what it adds to the description.
@MainActor package protocol DescribedControl {
  func describe(_ description: inout WidgetDescription)
}

extension ControlWidgetConfiguration {
  /// Adds what this configuration says, or what its body says.
  package func add(to description: inout WidgetDescription) {
    if let described = self as? any DescribedControl { return described.describe(&description) }
    if Body.self != Never.self { body.add(to: &description) }
  }

  /// A configuration with something added to its description.
  package func described(
    _ modify: @escaping (inout WidgetDescription) -> Void
  ) -> some ControlWidgetConfiguration {
    ModifiedControl(content: self, modify: modify)
  }
}

extension ControlWidget {
  /// The control's description.
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

/// A control in a bundle of widgets.
@MainActor struct ControlInBundle: Widget, DescribedWidget {
  let described: WidgetDescription

  init() { described = WidgetDescription() }
  init(_ control: any ControlWidget) { described = control.description }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}
