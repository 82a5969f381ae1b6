// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation
package import Messages
package import URLSessionAPI

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
