// SPDX-License-Identifier: Apache-2.0

/// Source: `SwiftUI.Widget`.
@MainActor @preconcurrency public protocol Widget {
  associatedtype Body: WidgetConfiguration
  /// Called by the system once in each process.
  init()
  var body: Self.Body { get }
}

/// Source: `SwiftUI.WidgetBundle`.
@MainActor @preconcurrency public protocol WidgetBundle {
  associatedtype Body: Widget
  /// Called by the system once in each process.
  init()
  @WidgetBundleBuilder var body: Self.Body { get }
}

/// Source: `SwiftUI.WidgetConfiguration`.
@MainActor @preconcurrency public protocol WidgetConfiguration {
  associatedtype Body: WidgetConfiguration
  var body: Self.Body { get }
  /// Adds to the description of the widget. The default adds what the body contributes. Not in Apple's API.
  func _describe(in holder: _DescriptionHolder)
}

extension Never: WidgetConfiguration {}

/// Source: `SwiftUI.EmptyWidgetConfiguration`.
@MainActor @preconcurrency @frozen public struct EmptyWidgetConfiguration: WidgetConfiguration {
  public init() {}
  public var body: Never { fatalError("EmptyWidgetConfiguration has no body") }
  public func _describe(in holder: _DescriptionHolder) {}
}
