import Archive
import AuthoredProcess
import Conversations
import Foundation
import SwiftUI
import Synchronization

/// A timeline with the views of its entries.
struct ReadTimeline {
  let entries: [(date: Date, view: any View)]
  let policy: ReloadPolicy
}

/// A completion for a value of a type that only the author's code knows. No closure of the generic code itself: that
/// would ask the author's types for conformances that hold on every thread.
func erasing<Value>(_ done: @escaping @Sendable (Any) -> Void) -> @Sendable (Value) -> Void {
  { done($0) }
}

/// A provider and the view of its entries.
final class TimelineSource: Sendable {
  private let queue: DispatchQueue
  // Holds the author's provider, which is made for being called by the system: on one serial queue and nowhere else.
  private nonisolated(unsafe) let ask: (TimelineProviderContext, @escaping @Sendable (Any) -> Void) -> Void
  // Made on the main actor, and called there alone.
  private nonisolated(unsafe) let read: (Any) -> ReadTimeline?

  /// - Parameters:
  ///   - ask: calls the provider.
  ///   - read: makes the views of the timeline that the provider gave.
  @MainActor init(
    kind: String, ask: @escaping (TimelineProviderContext, @escaping @Sendable (Any) -> Void) -> Void,
    read: @escaping (Any) -> ReadTimeline?
  ) {
    self.ask = ask
    self.read = read
    queue = DispatchQueue(label: "timeline provider of \(kind)")
  }

  /// What the provider gives, with its views archived. Returns when the author has called the completion.
  func timeline(_ request: RequestTimeline) async -> RequestTimeline.Reply {
    let process = HostedProcess.current
    let story = HostedProcess.currentStory
    return await withCheckedContinuation { continuation in
      let first = FirstCall()
      queue.async {
        let call = {
          self.ask(TimelineProviderContext(request)) { timeline in
            guard first.isNow() else {
              process?.log("getTimeline of \(request.widgetKind) called its completion again; the first call counts")
              return
            }
            // Handed over by the author, who keeps a value of it at most.
            nonisolated(unsafe) let timeline = timeline
            Task { @MainActor in continuation.resume(returning: self.archive(timeline)) }
          }
        }
        if let process { process.asCurrent(story, call) } else { call() }
      }
    }
  }

  @MainActor private func archive(_ timeline: Any) -> RequestTimeline.Reply {
    guard let timeline = read(timeline) else { preconditionFailure("a provider gave \(type(of: timeline))") }
    return RequestTimeline.Reply(
      entries: timeline.entries.map { ArchivedEntry(date: $0.date, view: $0.view.archived) },
      policy: timeline.policy)
  }
}

extension TimelineProviderContext {
  /// What the host asks for.
  init(_ request: RequestTimeline) {
    self.init(
      family: WidgetFamily(request.family), isPreview: false,
      displaySize: CGSize(width: request.displayWidth, height: request.displayHeight))
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
