// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import AuthorRuntime
import Foundation
import MessageBus
import Messages
import SwiftUI
import Synchronization

/// The result of a provider. Views are built on demand.
struct GivenTimeline {
  let entries: Int
  let entry: (Int) -> any TimelineEntry
  let view: (Int) -> any View
  let policy: ReloadPolicy
}

/// A completion for a value of a type that only the author's code has. This is not a closure in generic code, which
/// would require the author's conformances to be nonisolated.
func erasing<Value>(_ done: @escaping @Sendable (Any) -> Void) -> @Sendable (Value) -> Void {
  { done($0) }
}

/// A provider and the view of its entries.
final class TimelineSource: Sendable {
  /// Calls the author's provider. `done` is called with an entry, a timeline, or a `BusError`, at any time and on any
  /// thread.
  typealias Ask = (RequestTimeline, TimelineProviderContext, _ done: @escaping @Sendable (Any) -> Void) -> Void

  private let provider: String
  private let queue: DispatchQueue
  // Holds the author's provider. Called only on one serial queue, or, with a setting, on several threads, as phones do:
  // then the author's code must be safe.
  private nonisolated(unsafe) let ask: Ask
  // Created and called only on the main actor.
  private nonisolated(unsafe) let read: (Any) -> GivenTimeline?

  /// - Parameters:
  ///   - provider: the name of the author's type.
  ///   - ask: calls the provider.
  ///   - read: converts the provider's result, with the author's view closure.
  init(kind: String, provider: String, ask: @escaping Ask, read: @escaping (Any) -> GivenTimeline?) {
    self.provider = provider
    self.ask = ask
    self.read = read
    queue = DispatchQueue(label: "timeline provider of \(kind)")
  }

  /// The provider's result, with archived views. Returns after the author has called the completion.
  ///
  /// - Throws: `archive-too-large`, or `bad-configuration` when the configuration does not match the intent.
  func timeline(_ request: RequestTimeline) async throws -> RequestTimeline.Reply {
    let process = HostedProcess.current
    let context = HostedProcess.currentContext
    // Transferred by the author's code, which keeps at most a copy of the value.
    nonisolated(unsafe) let givenTimeline: Any = await withCheckedContinuation { continuation in
      let first = FirstCall()
      let queue = process?.rules.callsProvidersConcurrently == true ? DispatchQueue.global() : queue
      queue.async {
        let call = {
          self.ask(request, TimelineProviderContext(request)) { value in
            guard first.isNow() else { return self.completedAgain(request, process) }
            // The same.
            nonisolated(unsafe) let givenTimeline = value
            continuation.resume(returning: givenTimeline)
          }
        }
        if let process { process.asCurrent(context, within: request.purpose.method, call) } else { call() }
      }
    }
    return try await archive(givenTimeline, request: request, process: process)
  }

  private func completedAgain(_ request: RequestTimeline, _ process: HostedProcess?) {
    let details =
      "\(request.purpose.method) of \(request.widgetKind) called its completion again; the first call counts"
    process?.log(details)
    process?.connection.record(FaultNoticed(.completedAgain, subject: provider, details: details))
  }

  @MainActor private func archive(
    _ givenValue: Any, request: RequestTimeline, process: HostedProcess?
  ) throws -> RequestTimeline.Reply {
    if let error = givenValue as? BusError { throw error }
    guard let timeline = read(givenValue) else { fatalError("\(provider) gave \(type(of: givenValue))") }
    let archive = try TimelineArchive(timeline, request)
    process?.part(ViewFaults.self) { _ in ViewFaults() }
      .notice(
        archive.entries, of: request.widgetKind, isControl: request.environment.family == .control, in: process)
    let number = archive.hasClosures ? process.map { KeptTimelines.of($0).keep(timeline, request) } : nil
    return try archive.reply(below: process?.container, closures: number)
  }
}

extension RequestTimeline.Purpose {
  /// The name of the `TimelineProvider` method.
  fileprivate var method: String {
    switch self {
    case .placeholder: "placeholder"
    case .snapshot: "getSnapshot"
    case .timeline: "getTimeline"
    }
  }
}

/// Detects the first call.
private final class FirstCall: Sendable {
  private let called = Mutex(false)

  func isNow() -> Bool {
    called.withLock { called in
      defer { called = true }
      return !called
    }
  }
}
