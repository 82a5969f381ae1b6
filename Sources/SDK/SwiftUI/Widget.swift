// SPDX-License-Identifier: Apache-2.0

package import Archive
@_exported public import Foundation
package import Messages
@_exported public import Observation
@_exported public import UIKit
// The modules that an author's file gets from `import SwiftUI`.
@_exported public import URLSessionAPI

@_exported public import protocol OpenCombine.ObservableObject
// What SwiftUI exports of Combine. Archived views observe no changes: the system requests new views.
@_exported public import class OpenCombine.ObservableObjectPublisher
@_exported public import struct OpenCombine.Published

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

/// Several widgets as one.
@MainActor struct TupleWidget: Widget {
  let widgets: [any Widget]

  init() { widgets = [] }
  init(_ widgets: [any Widget]) { self.widgets = widgets }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}

/// Source: `SwiftUI._LimitedAvailabilityWidgetMarker`.
@_marker public protocol _LimitedAvailabilityWidgetMarker {}

/// A widget in `if #available`. On Linux every version is available.
@MainActor struct LimitedAvailabilityWidget: Widget, _LimitedAvailabilityWidgetMarker {
  let widgets: [any Widget]

  init() { widgets = [] }
  init(_ widget: any Widget) { widgets = [widget] }
  var body: EmptyWidgetConfiguration { EmptyWidgetConfiguration() }
}

/// Source: `SwiftUI.WidgetBundleBuilder`. The only condition that it accepts is `if #available`.
@MainActor @resultBuilder public struct WidgetBundleBuilder {
  public static func buildExpression<Content: Widget>(_ content: Content) -> Content { content }
  public static func buildExpression<Content: ControlWidget>(_ content: Content) -> some Widget {
    ControlInBundle(content)
  }
  public static func buildBlock() -> some Widget { TupleWidget([]) }
  public static func buildBlock<Content: Widget>(_ content: Content) -> some Widget { content }
  public static func buildBlock<each Content: Widget>(_ content: repeat each Content) -> some Widget {
    var widgets: [any Widget] = []
    for widget in repeat each content { widgets.append(widget) }
    return TupleWidget(widgets)
  }
  public static func buildOptional(_ widget: (any Widget & _LimitedAvailabilityWidgetMarker)?) -> some Widget {
    TupleWidget(widget.map { [$0] } ?? [])
  }
  /// Any other `if`.
  @available(*, unavailable, message: "a widget bundle accepts no condition except `if #available`")
  public static func buildOptional<W: Widget>(_ widget: W?) -> some Widget { TupleWidget([]) }
  public static func buildLimitedAvailability(
    _ widget: some Widget
  ) -> any Widget & _LimitedAvailabilityWidgetMarker {
    LimitedAvailabilityWidget(widget)
  }
}

/// A widget's configuration, read once when the process starts.
@MainActor package struct WidgetDescription {
  /// The declaration that the host receives; `nil` for a configuration without content.
  package var declaration: WidgetDeclaration?
  package var handlers: [BackgroundEventsHandler] = []
  /// Requests a timeline or a snapshot from the provider and archives its views. `nil` for a configuration without
  /// content.
  package var timeline: (@Sendable (RequestTimeline) async throws -> RequestTimeline.Reply)?
  /// Calls the author's type of a widget's `pushHandler(_:)`.
  package var pushHandler: PushHandlerCall<(token: Data, widgets: [Placement])>?
  /// Calls the author's type of a control's `pushHandler(_:)`.
  package var controlPushHandler: PushHandlerCall<[(control: Placement, token: Data)]>?
  /// The parameters that the user can configure, with or without results of the author's queries:
  /// `AppIntent.declaration(asking:)`. `nil` for a widget without configuration.
  package var configuration: (@Sendable (DescribeIntent?) async -> IntentDeclaration)?
  /// The Live Activities that it shows; `nil` for a widget.
  package var activity: ActivityDeclaration?
  /// Archives the views of a Live Activity. `nil` for a widget.
  package var activityViews: (@Sendable (ArchiveActivity) async throws -> ActivityViews)?

  init() {}
}

/// A type of `pushHandler(_:)`, which the system creates and calls.
package struct PushHandlerCall<Arguments>: Sendable {
  /// Identifies the type: each type is called once.
  package let type: ObjectIdentifier
  package let name: String
  /// Creates an instance, and passes it the tokens and the placed widgets or controls that support pushes.
  package let call: @MainActor (Arguments) -> Void
  package init(type: ObjectIdentifier, name: String, call: @escaping @MainActor (Arguments) -> Void) {
    self.type = type
    self.name = name
    self.call = call
  }
}

/// Holds the description to which a configuration adds. Not in Apple's API: a requirement of a public protocol cannot name
/// an internal type. A requirement, and not a cast to a protocol, because each type of a configuration would cost the
/// process a search in all conformances at its start, 0.05 ms each.
@MainActor public final class _DescriptionHolder {
  package var description: WidgetDescription

  init(_ description: WidgetDescription) { self.description = description }

  /// Passes a description to a configuration.
  static func add(to description: inout WidgetDescription, _ describe: (_DescriptionHolder) -> Void) {
    let holder = _DescriptionHolder(description)
    describe(holder)
    description = holder.description
  }
}

extension WidgetConfiguration {
  /// Adds what the body contributes.
  public func _describe(in holder: _DescriptionHolder) {
    guard Body.self != Never.self else {
      fatalError("\(Self.self) has neither a body nor a description")
    }
    body._describe(in: holder)
  }

  /// Adds what this configuration or its body contributes.
  package func add(to description: inout WidgetDescription) {
    _DescriptionHolder.add(to: &description, _describe)
  }
}

extension Widget {
  /// The descriptions of this widget, or of the widgets it consists of, in order.
  package var descriptions: [WidgetDescription] {
    // Casts to types: a cast to a protocol searches all conformances of the process, once for each type of widget.
    if let group = self as? TupleWidget { return group.widgets.flatMap { $0.descriptions } }
    if let group = self as? LimitedAvailabilityWidget { return group.widgets.flatMap { $0.descriptions } }
    if let control = self as? ControlInBundle { return [control.described] }
    var description = WidgetDescription()
    body.add(to: &description)
    description.declaration?.handlesBackgroundEvents = !description.handlers.isEmpty
    return [description]
  }
}

/// A configuration with an addition to its description.
nonisolated package struct ModifiedConfiguration<Content: WidgetConfiguration>: WidgetConfiguration {
  private let content: Content
  private let modify: (inout WidgetDescription) -> Void

  package init(content: Content, modify: @escaping (inout WidgetDescription) -> Void) {
    self.content = content
    self.modify = modify
  }

  @MainActor package var body: Never { fatalError("a modified configuration has no body") }

  @MainActor package func _describe(in holder: _DescriptionHolder) {
    content._describe(in: holder)
    modify(&holder.description)
  }
}
