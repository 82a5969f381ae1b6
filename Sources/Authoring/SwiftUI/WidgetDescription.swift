package import Archive
package import BackgroundURLSession
package import Conversations

/// A widget's configuration, read once when the process begins.
@MainActor package struct WidgetDescription {
  /// What the host is told of the widget; `nil` for a configuration without content.
  package var declaration: WidgetDeclaration?
  package var handlers: [BackgroundEventsHandler] = []
  /// Asks the provider for a timeline or a snapshot and archives its views. `nil` for a configuration without content.
  package var timeline: (@Sendable (RequestTimeline) async throws -> RequestTimeline.Reply)?
  /// What a person can choose, without a word of the author's queries or with them: `AppIntent.declaration(asking:)`. `nil` for
  /// a widget without configuration.
  package var configuration: (@Sendable (_ searches: [String: String]?) async -> IntentDeclaration)?

  init() {}
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
