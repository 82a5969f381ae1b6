import AppIntents
import Archive
import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import SwiftUI
import Synchronization

/// What a provider gave, with views that are made when they are asked for.
struct GivenTimeline {
  let entries: Int
  let entry: (Int) -> any TimelineEntry
  let view: (Int) -> any View
  let policy: ReloadPolicy
}

/// A completion for a value of a type that only the author's code knows. No closure of the generic code itself: that
/// would ask the author's types for conformances that hold on every thread.
func erasing<Value>(_ done: @escaping @Sendable (Any) -> Void) -> @Sendable (Value) -> Void {
  { done($0) }
}

/// A provider and the view of its entries.
final class TimelineSource: Sendable {
  /// Calls the author. `done` is called with an entry, a timeline, or a `BusError`: at any time and on any thread.
  typealias Ask = (RequestTimeline, TimelineProviderContext, _ done: @escaping @Sendable (Any) -> Void) -> Void

  private let provider: String
  private let queue: DispatchQueue
  // Holds the author's provider, which is made for being called by the system: on one serial queue and nowhere else.
  private nonisolated(unsafe) let ask: Ask
  // Made on the main actor, and called there alone.
  private nonisolated(unsafe) let read: (Any) -> GivenTimeline?

  /// - Parameters:
  ///   - provider: the author's type.
  ///   - ask: calls the provider.
  ///   - read: what the provider gave, with the views that the author's closure makes of it.
  init(kind: String, provider: String, ask: @escaping Ask, read: @escaping (Any) -> GivenTimeline?) {
    self.provider = provider
    self.ask = ask
    self.read = read
    queue = DispatchQueue(label: "timeline provider of \(kind)")
  }

  /// What the provider gives, with its views archived. Returns when the author has called the completion.
  ///
  /// - Throws: `archive-too-large`, or `bad-configuration` when what a person chose is no value of the intent.
  func timeline(_ request: RequestTimeline) async throws -> RequestTimeline.Reply {
    let process = HostedProcess.current
    let story = HostedProcess.currentStory
    return try await withCheckedThrowingContinuation { continuation in
      let first = FirstCall()
      queue.async {
        let call = {
          self.ask(request, TimelineProviderContext(request)) { given in
            guard first.isNow() else { return self.completedAgain(request, process) }
            // Handed over by the author, who keeps a value of it at most.
            nonisolated(unsafe) let given = given
            Task { @MainActor in
              continuation.resume(with: Result { try self.archive(given, request, process) })
            }
          }
        }
        if let process { process.asCurrent(story, within: request.purpose.method, call) } else { call() }
      }
    }
  }

  private func completedAgain(_ request: RequestTimeline, _ process: HostedProcess?) {
    let details =
      "\(request.purpose.method) of \(request.widgetKind) called its completion again; the first call counts"
    process?.log(details)
    process?.connection.record(FaultNoticed(.completedAgain, subject: provider, details: details))
  }

  @MainActor private func archive(
    _ given: Any, _ request: RequestTimeline, _ process: HostedProcess?
  ) throws -> RequestTimeline.Reply {
    if let error = given as? BusError { throw error }
    guard let timeline = read(given) else { preconditionFailure("\(provider) gave \(type(of: given))") }
    let archive = try TimelineArchive(timeline, request)
    process?.part(ViewFaults.self) { _ in ViewFaults() }.notice(archive.entries, of: request.widgetKind, in: process)
    return try archive.reply(below: process?.container)
  }
}

extension RequestTimeline.Purpose {
  /// The provider's method, in the words of `TimelineProvider`.
  fileprivate var method: String {
    switch self {
    case .placeholder: "placeholder"
    case .snapshot: "getSnapshot"
    case .timeline: "getTimeline"
    }
  }
}

/// Whether a call is the first.
private final class FirstCall: Sendable {
  private let called = Mutex(false)

  func isNow() -> Bool {
    called.withLock { called in
      defer { called = true }
      return !called
    }
  }
}
