import AppIntents
import Archive
package import AuthoredProcess
import BackgroundURLSession
import Conversations
import ForegroundURLSession
import Foundation
import MessageBus
public import SwiftUI

extension Widget {
  /// Runs an extension of one widget.
  @MainActor @preconcurrency public static func main() { run { Self().descriptions } }
}

extension WidgetBundle {
  /// Runs an extension of several widgets.
  @MainActor @preconcurrency public static func main() { run { Self().body.descriptions } }
}

extension ControlWidget {
  /// Runs an extension of one control.
  @MainActor @preconcurrency public static func main() { run { [Self().description] } }
}

/// Runs an extension for ever.
@MainActor private func run(_ describe: () -> [WidgetDescription]) -> Never {
  let process = HostedProcess.begin()
  let descriptions = describe()
  serve(descriptions, in: process)
  let kinds = descriptions.compactMap { description in
    description.declaration.map { DeclaredKind(declaration: $0, configuration: description.configuration) }
  }
  process.run { await kinds.declared() }
}

/// A kind and what a person can choose of it.
private struct DeclaredKind: Sendable {
  let declaration: WidgetDeclaration
  let configuration: (@Sendable ([String: String]?) async -> IntentDeclaration)?
}

extension [DeclaredKind] {
  /// What is known without the author's queries, which may take their time: they are asked when a person configures a widget.
  fileprivate func declared() async -> [WidgetDeclaration] {
    var declarations: [WidgetDeclaration] = []
    for kind in self {
      var declaration = kind.declaration
      declaration.configuration = await kind.configuration?(nil)
      declarations.append(declaration)
    }
    return declarations
  }
}

/// Answers for the widgets of a process: their timelines and their background sessions' events. Before it is announced.
@MainActor package func serve(_ descriptions: [WidgetDescription], in process: HostedProcess) {
  var configurations: [String: @Sendable ([String: String]?) async -> IntentDeclaration] = [:]
  var providers: [String: @Sendable (RequestTimeline) async throws -> RequestTimeline.Reply] = [:]
  for description in descriptions {
    if let kind = description.declaration?.kind { configurations[kind] = description.configuration }
    guard let kind = description.declaration?.kind, let timeline = description.timeline else { continue }
    if providers.updateValue(timeline, forKey: kind) != nil {
      let details = "two widgets of the kind \(kind): the last one of the bundle answers for it"
      process.log(details)
      process.connection.record(FaultNoticed(.kindTwice, subject: kind, details: details))
    }
  }
  let known = providers
  process.connection.onRequest(RequestTimeline.self) { request, received in
    guard let timeline = known[request.widgetKind] else {
      throw BusError(.unknownWidgetKind, "this extension has no widget of the kind \(request.widgetKind)")
    }
    return try await process.asCurrent(received.story) { try await timeline(request) }
  }
  let configurable = configurations
  process.connection.onRequest(DescribeIntent.self) { request, received in
    guard let configuration = configurable[request.widgetKind] else {
      throw BusError(.unknownWidgetKind, "this extension has nothing to choose of the kind \(request.widgetKind)")
    }
    return await process.asCurrent(received.story) { await configuration(request.searches) }
  }
  PushHandlers(descriptions).serve(process)
  IntentPerformer.serve(process)
  ForegroundPerformer.serve(process)
  SessionRegistry.of(process).serve(descriptions.flatMap(\.handlers))
}
