package import Archive
package import BackgroundURLSession
package import Conversations
import Foundation

/// A widget's configuration, read once when the process begins.
@MainActor package struct WidgetDescription {
  /// What the host is told of the widget; `nil` for a configuration without content.
  package var declaration: WidgetDeclaration?
  package var handlers: [BackgroundEventsHandler] = []
  /// Asks the provider for a timeline or a snapshot and archives its views. `nil` for a configuration without content.
  package var timeline: (@Sendable (RequestTimeline) async throws -> RequestTimeline.Reply)?
  /// Calls the author's type of `pushHandler(_:)`.
  package var pushHandler: PushHandlerCall?
  /// What a person can choose, without a word of the author's queries or with them: `AppIntent.declaration(asking:)`. `nil` for
  /// a widget without configuration.
  package var configuration: (@Sendable (_ searches: [String: String]?) async -> IntentDeclaration)?

  init() {}
}

/// A type of `pushHandler(_:)`, which the system makes and calls.
package struct PushHandlerCall: Sendable {
  /// Its identity, by which each is called once.
  package let type: ObjectIdentifier
  package let name: String
  /// Makes one, and tells it of the token and of the placed widgets that support pushes.
  package let call: @MainActor (Data, [Placement]) -> Void
  package init(
    type: ObjectIdentifier, name: String, call: @escaping @MainActor (Data, [Placement]) -> Void
  ) {
    self.type = type
    self.name = name
    self.call = call
  }
}

/// A configuration that says itself what it adds to the description.
@MainActor package protocol DescribedConfiguration {
  func describe(_ description: inout WidgetDescription)
}

/// A widget that stands for several.
@MainActor protocol WidgetGroup {
  var widgets: [any Widget] { get }
}

/// A widget that is described already.
@MainActor protocol DescribedWidget {
  var described: WidgetDescription { get }
}

extension WidgetConfiguration {
  /// Adds what this configuration says, or what its body says.
  package func add(to description: inout WidgetDescription) {
    if let described = self as? any DescribedConfiguration { return described.describe(&description) }
    guard Body.self != Never.self else {
      preconditionFailure("\(Self.self) has neither a body nor a description")
    }
    body.add(to: &description)
  }
}

extension Widget {
  /// The descriptions of this widget, or of those that it stands for, in their order.
  package var descriptions: [WidgetDescription] {
    if let group = self as? any WidgetGroup { return group.widgets.flatMap { $0.descriptions } }
    if let widget = self as? any DescribedWidget { return [widget.described] }
    var description = WidgetDescription()
    body.add(to: &description)
    description.declaration?.handlesBackgroundEvents = !description.handlers.isEmpty
    return [description]
  }
}
