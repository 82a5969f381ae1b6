/// A widget: a kind with its configuration. Source: `SwiftUI.Widget`.
@MainActor @preconcurrency public protocol Widget {
  /// The kind of the configuration.
  associatedtype Body: WidgetConfiguration
  /// The system makes the widget anew in each process.
  init()
  /// The widget's kind, provider and view.
  var body: Self.Body { get }
}

/// Several widgets of one extension. Source: `SwiftUI.WidgetBundle`.
@MainActor @preconcurrency public protocol WidgetBundle {
  /// The widgets.
  associatedtype Body: Widget
  /// The system makes the bundle anew in each process.
  init()
  /// The widgets.
  @WidgetBundleBuilder var body: Self.Body { get }
}

/// A widget's content. Source: `SwiftUI.WidgetConfiguration`.
@MainActor @preconcurrency public protocol WidgetConfiguration {
  /// What the configuration is made of.
  associatedtype Body: WidgetConfiguration
  /// What the configuration is made of.
  var body: Self.Body { get }
}

extension Never: WidgetConfiguration {}

/// A configuration without content. Source: `SwiftUI.EmptyWidgetConfiguration`.
@MainActor @preconcurrency @frozen public struct EmptyWidgetConfiguration: WidgetConfiguration, DescribedConfiguration {
  /// A configuration without content.
  public init() {}
  /// There is none.
  public var body: Never { fatalError("EmptyWidgetConfiguration has no body") }
  package func describe(_ description: inout WidgetDescription) {}
}
