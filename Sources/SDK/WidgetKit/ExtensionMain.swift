// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
package import AuthorRuntime
@_exported public import Foundation
import MessageBus
import Messages
public import SwiftUI
// The modules that `import WidgetKit` makes visible to an author's file.
@_exported public import URLSessionAPI

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

/// Runs an extension. Does not return.
@MainActor private func run(_ describe: () -> [WidgetDescription]) -> Never {
  let process = HostedProcess.begin()
  // The author's initializers may already use `URLSession.shared`.
  CurlPerformer.serve(process)
  EnvironmentValues.provideTraits()
  let descriptions = describe()
  serve(descriptions, in: process)
  let kinds = descriptions.compactMap { description in
    description.declaration.map { DeclaredKind(declaration: $0, configuration: description.configuration) }
  }
  process.run { await kinds.declared() }
}

/// A kind and its configuration intent.
private struct DeclaredKind: Sendable {
  let declaration: WidgetDeclaration
  let configuration: (@Sendable (DescribeIntent?) async -> IntentDeclaration)?
}

extension [DeclaredKind] {
  /// Declares the kinds without calling the author's queries, which can be slow: they run when the user configures a
  /// widget.
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

/// Registers the handlers of a process's widgets: timelines and background sessions' events. Call before the process is
/// announced.
@MainActor package func serve(_ descriptions: [WidgetDescription], in process: HostedProcess) {
  var configurations: [String: @Sendable (DescribeIntent?) async -> IntentDeclaration] = [:]
  var providers: [String: @Sendable (RequestTimeline) async throws -> RequestTimeline.Reply] = [:]
  for description in descriptions {
    if let kind = description.declaration?.kind { configurations[kind] = description.configuration }
    guard let kind = description.declaration?.kind, let timeline = description.timeline else { continue }
    if providers.updateValue(timeline, forKey: kind) != nil {
      let details = "two widgets of the kind \(kind): the last one in the bundle is used"
      process.log(details)
      process.connection.record(FaultNoticed(.kindTwice, subject: kind, details: details))
    }
  }
  let knownProviders = providers
  process.connection.onRequest(RequestTimeline.self) { request, received in
    guard let timeline = knownProviders[request.widgetKind] else {
      throw BusError(.unknownWidgetKind, "this extension has no widget of the kind \(request.widgetKind)")
    }
    return try await process.asCurrent(received.context) { try await timeline(request) }
  }
  process.connection.onRequest(CallClosures.self) { request, received in
    try await process.asCurrent(received.context) {
      try await KeptTimelines.of(process).archive(request, below: process.container)
    }
  }
  let configurable = configurations
  process.connection.onRequest(DescribeIntent.self) { request, received in
    guard let configuration = configurable[request.widgetKind] else {
      throw BusError(.unknownWidgetKind, "this extension has no configurable widget of the kind \(request.widgetKind)")
    }
    return await process.asCurrent(received.context) { await configuration(request) }
  }
  serveActivities(descriptions, in: process)
  PushHandlers(descriptions).serve(process)
  IntentPerformer.serve(process)
  SessionRegistry.of(process).serve(descriptions.flatMap(\.handlers))
}

/// Registers the handler for the views of Live Activities, if the extension shows any.
@MainActor private func serveActivities(_ descriptions: [WidgetDescription], in process: HostedProcess) {
  let shown = descriptions.compactMap(\.activity)
  guard !shown.isEmpty else { return }
  process.declare(shown)
  var archivers: [String: @Sendable (ArchiveActivity) async throws -> ActivityViews] = [:]
  for description in descriptions {
    if let type = description.activity?.attributesType { archivers[type] = description.activityViews }
  }
  let knownArchivers = archivers
  process.connection.onRequest(ArchiveActivity.self) { request, received in
    guard let archive = knownArchivers[request.attributesType] else {
      throw BusError(
        .badActivityContent, "this extension has no ActivityConfiguration for \(request.attributesType)")
    }
    return try await process.asCurrent(received.context) { try await archive(request) }
  }
}

/// The latest timelines of a process whose views have closures that need a size. The host lays out the views while it
/// handles the reply, and has their closures called again.
@MainActor final class KeptTimelines {
  private struct Kept {
    let number: Int
    let timeline: GivenTimeline
    let request: RequestTimeline
    /// By the number of the entry.
    var sizes: [Int: FormSizes] = [:]
  }

  /// Ours. The host asks for the closures of one reply before it requests the next timeline of the placement.
  private static let limit = 8

  private var keptTimelines: [Kept] = []
  /// Starts anywhere, so that a number of an earlier process is not one of this process.
  private var last = Int.random(in: 0..<1 << 40)

  nonisolated private init() {}

  nonisolated static func of(_ process: HostedProcess) -> KeptTimelines {
    process.part(KeptTimelines.self) { _ in KeptTimelines() }
  }

  /// Keeps a timeline instead of an earlier one of its placement. The oldest one is released when there are more than
  /// eight.
  ///
  /// - Returns: the number for `CallClosures`.
  func keep(_ timeline: GivenTimeline, _ request: RequestTimeline) -> Int {
    keptTimelines.removeAll { $0.request.placement == request.placement && request.placement != nil }
    last += 1
    keptTimelines.append(Kept(number: last, timeline: timeline, request: request))
    if keptTimelines.count > Self.limit { keptTimelines.removeFirst() }
    return last
  }

  /// Archives entries again, with closures that are called with the sizes of the layout.
  ///
  /// - Throws: a `BusError`: `views-released`, or `archive-too-large`; errors of the file system.
  func archive(_ call: CallClosures, below container: String?) throws -> CallClosures.Reply {
    guard let place = keptTimelines.firstIndex(where: { $0.number == call.number }) else {
      throw BusError(.viewsReleased, "this process no longer has the views with the number \(call.number)")
    }
    let count = keptTimelines[place].timeline.entries
    for entry in call.entries where 0..<count ~= entry.index {
      keptTimelines[place].sizes[entry.index, default: FormSizes()].add(entry.closures)
    }
    let own = keptTimelines[place]
    let indices = call.entries.map(\.index).filter { 0..<count ~= $0 }
    return try TimelineArchive(own.timeline, own.request, only: indices, sizes: own.sizes)
      .reply(below: container, closures: call.number)
  }
}
