package import AuthoredProcess
import BackgroundURLSession
package import Conversations
import ForegroundURLSession
import Foundation
import MessageBus
public import SwiftUI

extension Widget {
  /// Runs an extension of one widget.
  @MainActor @preconcurrency public static func main() {
    let process = HostedProcess.begin()
    let descriptions = Self().descriptions
    serve(descriptions, in: process)
    process.run(widgetKinds: descriptions.compactMap(\.kind))
  }
}

extension WidgetBundle {
  /// Runs an extension of several widgets.
  @MainActor @preconcurrency public static func main() {
    let process = HostedProcess.begin()
    let descriptions = Self().body.descriptions
    serve(descriptions, in: process)
    process.run(widgetKinds: descriptions.compactMap(\.kind))
  }
}

/// Answers for the widgets of a process: their timelines and their background sessions' events. Before it is announced.
@MainActor package func serve(_ descriptions: [WidgetDescription], in process: HostedProcess) {
  var providers: [String: @Sendable (RequestTimeline) async throws -> RequestTimeline.Reply] = [:]
  for description in descriptions {
    guard let kind = description.kind, let timeline = description.timeline else { continue }
    if providers.updateValue(timeline, forKey: kind) != nil {
      process.log("two widgets of the kind \(kind): the last one of the bundle answers for it")
    }
  }
  let known = providers
  process.connection.onRequest(RequestTimeline.self) { request, received in
    guard let timeline = known[request.widgetKind] else {
      throw BusError(.unknownWidgetKind, "this extension has no widget of the kind \(request.widgetKind)")
    }
    return try await process.asCurrent(received.story) { try await timeline(request) }
  }
  ForegroundPerformer.serve(process)
  SessionRegistry.of(process).serve(descriptions.flatMap(\.handlers))
}

extension BusError.Code {
  /// The extension has no widget of this kind. Definite.
  package static let unknownWidgetKind = BusError.Code("unknown-widget-kind")
}
