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
  /// What is handed over while an earlier completion is awaited is told as soon as the earlier messages have been.
  ///
  /// - Throws: `unclaimed` when nobody makes the session: no handler matches, or all have completed without it. The host
  ///   keeps the events until one is made. What `allOutcomes` throws.
  func deliver(_ events: SessionEvents, cause: UUID) async throws(BusError) {
    await takeTurn(events.session)
    defer { setWake(cause, nil) }
    let completions: Completions?
    do throws(BusError) {
      completions = try await tell(events, cause)
    } catch {
      endTurn(events.session)
      throw error
    }
    endTurn(events.session)
    await completions?.allCalled()
    await process.settled()
  }

  /// The handlers come first. Then the delegate is told as soon as there is a session of the identifier, whether it was
  /// made before the handler was called, in it or later.
  private func tell(_ events: SessionEvents, _ delivery: UUID) async throws(BusError) -> Completions? {
    var outcomes = try events.allOutcomes()
    let story = process.story(ofSession: events.session, cause: delivery)
    let isOpen = has(events.session)
    // The host may think of a session that an earlier life had: then this life has to be asked to make it.
    let wakesHandler = events.wakesHandler || !isOpen
    let matching = await handlers(for: events.session)
    if matching.isEmpty, !has(events.session) { throw unclaimed(events.session, "no handler matches it") }
    var completions: Completions?
    if wakesHandler, !(events.handlerComesLast && isOpen) {
      completions = await call(matching, events.session, story)
      setWake(delivery, completions)
    }
    guard let session = await session(events.session, unless: completions) else {
      throw unclaimed(events.session, "its handlers have called their completion")
    }
    while let outcome = try outcomes.next() { await session.replay(outcome, story) }
    if wakesHandler || events.finishes { await session.finishEvents(story) }
    if wakesHandler, completions == nil {
      completions = await call(matching, events.session, story)
      setWake(delivery, completions)
    }
    return completions
  }

  private func unclaimed(_ identifier: String, _ why: String) -> BusError {
    process.log("session \(identifier) is not open, and \(why); its events wait until it is created")
    return BusError(.unclaimed, "session \(identifier) is not open, and \(why)")
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
      let expire = process.asCurrent(story) { handler.begin(identifier) { completions.called(number) } }
      if let expire { completions.whenExpired(expire) }
    }
    return completions
  }
}

/// The completions that the author's handlers were given for one wake.
final class Completions: Sendable {
  private struct State {
    var outstanding: Set<Int>
    var whenAllCalled: [@Sendable () -> Void] = []
    var whenExpired: [@Sendable () -> Void] = []
    var isExpired = false
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
      guard state.outstanding.remove(number) != nil else { return nil as Int? }
      if process.rules.firstCompletionCounts { state.outstanding = [] }
      return state.outstanding.count
    }
    guard let left else {
      return process.log("the completion handler of session \(identifier) was called again; it counts once")
    }
    process.connection.record(CompletionCalled(session: identifier, outstanding: left), story: story)
    guard left == 0 else { return }
    let waiting = state.withLock { state in
      defer { state.whenAllCalled = [] }
      return state.whenAllCalled
    }
    for work in waiting { work() }
  }

  /// Does this when the last has been called; at once when it has been.
  func whenAllCalled(_ work: @escaping @Sendable () -> Void) {
    let isDone = state.withLock { state in
      if !state.outstanding.isEmpty { state.whenAllCalled.append(work) }
      return state.outstanding.isEmpty
    }
    if isDone { work() }
  }

  func allCalled() async {
    await withCheckedContinuation { continuation in whenAllCalled { continuation.resume() } }
  }

  /// The time to call them runs out. Once.
  func expire() {
    let waiting = state.withLock { state -> [@Sendable () -> Void]? in
      guard !state.isExpired, !state.outstanding.isEmpty else { return nil }
      state.isExpired = true
      return state.whenExpired
    }
    guard let waiting else { return }
    process.log("the time to handle the events of session \(identifier) is running out")
    for work in waiting { work() }
  }

  /// Does this when the time runs out; at once when it has.
  func whenExpired(_ work: @escaping @Sendable () -> Void) {
    let isExpired = state.withLock { state in
      state.whenExpired.append(work)
      return state.isExpired
    }
    if isExpired { work() }
  }
}
