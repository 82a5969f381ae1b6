import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Synchronization

extension SessionRegistry {
  /// Hands a session's events to the author, and returns when they may be forgotten: the delegate has been told of all
  /// and, where the handlers were called, each has called its completion; what the author asked the host for meanwhile
  /// has been acknowledged.
  ///
  /// The handlers come first. Then the delegate is told as soon as there is a session of the identifier, whether it was
  /// made before the handler was called, in it or later.
  ///
  /// - Throws: `unclaimed` when no handler matches and there is no such session: the host keeps the events until one is
  ///   made; what `allOutcomes` throws.
  func deliver(_ events: SessionEvents, cause: UUID) async throws(BusError) {
    let outcomes = try events.allOutcomes()
    let story = process.story(ofSession: events.session, cause: cause)
    // The host may think of a session that an earlier life had: then this life has to be asked to make it.
    let wakesHandler = events.wakesHandler || !has(events.session)
    let matching = await handlers(for: events.session)
    if matching.isEmpty, !has(events.session) {
      let reason = "no handler matches session \(events.session), and it is not open"
      process.log("\(reason); its events wait until the session is created")
      throw BusError(.unclaimed, reason)
    }
    let completions = wakesHandler ? await call(matching, events.session, story) : nil
    let session = await session(events.session)
    for outcome in outcomes { await session.replay(outcome, story) }
    if wakesHandler { await session.finishEvents(story) }
    await completions?.allCalled()
    await process.settled()
  }

  @MainActor func call(
    _ matching: [BackgroundEventsHandler], _ identifier: String, _ story: Story
  ) -> Completions {
    process.connection.record(
      HandlerCalled(
        session: identifier, pid: ProcessInfo.processInfo.processIdentifier, matching: matching.count),
      story: story)
    let completions = Completions(identifier, count: matching.count, story, in: process)
    for (number, handler) in matching.enumerated() {
      process.asCurrent(story) { handler.call(identifier) { completions.called(number) } }
    }
    return completions
  }
}

/// The completions that the author's handlers were given for one wake.
final class Completions: Sendable {
  private struct State {
    var outstanding: Set<Int>
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let identifier: String
  private let story: Story
  private let process: HostedProcess
  private let state: Mutex<State>

  init(_ identifier: String, count: Int, _ story: Story, in process: HostedProcess) {
    self.identifier = identifier
    self.story = story
    self.process = process
    state = Mutex(State(outstanding: Set(0..<count)))
  }

  /// The author called one. Any thread.
  func called(_ number: Int) {
    let left = state.withLock { state in
      state.outstanding.remove(number) == nil ? nil : state.outstanding.count
    }
    guard let left else {
      return process.log("the completion handler of session \(identifier) was called again; it counts once")
    }
    process.connection.record(CompletionCalled(session: identifier, outstanding: left), story: story)
    guard left == 0 else { return }
    state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting
    }?.resume()
  }

  func allCalled() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if !state.outstanding.isEmpty { state.waiting = continuation }
        return state.outstanding.isEmpty
      }
      if isDone { continuation.resume() }
    }
  }
}
