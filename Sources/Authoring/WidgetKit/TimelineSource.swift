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
  typealias Ask = (TimelineProviderContext, @escaping @Sendable (Any) -> Void) -> Void

  private let queue: DispatchQueue
  // Hold the author's provider, which is made for being called by the system: on one serial queue and nowhere else.
  private nonisolated(unsafe) let getTimeline: Ask
  // Likewise.
  private nonisolated(unsafe) let getSnapshot: Ask
  // Made on the main actor, and called there alone.
  private nonisolated(unsafe) let read: (Any) -> ReadTimeline?

  /// - Parameters:
  ///   - getTimeline: calls the provider.
  ///   - getSnapshot: the same.
  ///   - read: makes the views of the timeline, or of the one entry, that the provider gave.
  @MainActor init(
    kind: String, getTimeline: @escaping Ask, getSnapshot: @escaping Ask, read: @escaping (Any) -> ReadTimeline?
  ) {
    self.getTimeline = getTimeline
    self.getSnapshot = getSnapshot
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
          let isSnapshot = request.purpose == .snapshot
          let ask = isSnapshot ? self.getSnapshot : self.getTimeline
          ask(TimelineProviderContext(request)) { timeline in
            guard first.isNow() else {
              let method = isSnapshot ? "getSnapshot" : "getTimeline"
              process?.log("\(method) of \(request.widgetKind) called its completion again; the first call counts")
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
      family: WidgetFamily(request.family), isPreview: request.purpose == .snapshot,
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
