// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import FaultPoints
import Foundation
import MessageBus
import Messages
import Synchronization

extension SessionRegistry {
  /// Delivers a session's events to the author. Returns when they can be acknowledged: the delegate has received all of
  /// them, each called handler has called its completion, and the host has acknowledged the requests that the author's
  /// code made in the meantime.
  ///
  /// Events that arrive while an earlier completion is awaited are delivered after the earlier delegate calls.
  ///
  /// - Throws: `unclaimed` when the author's code does not create the session: no handler matches, or all have
  ///   completed without creating it. The host keeps the events until a session is created. Also errors of
  ///   `allOutcomes`.
  func deliver(_ events: SessionEvents, cause: UUID) async throws(BusError) {
    FaultPoint.authorBeforeEventsHandled.reached()
    await takeTurn(events.session)
    defer { setWake(cause, nil) }
    let completions: Completions?
    do throws(BusError) {
      completions = try await callDelegate(events, cause)
    } catch {
      endTurn(events.session)
      throw error
    }
    endTurn(events.session)
    await completions?.allCalled()
    await process.settled()
    FaultPoint.authorAfterEventsHandled.reached()
  }

  /// Calls the handlers first. The delegate receives the events once a session with the identifier exists, whether it
  /// was created before the handler was called, during the call or later.
  private func callDelegate(_ events: SessionEvents, _ delivery: UUID) async throws(BusError) -> Completions? {
    var outcomes = try events.allOutcomes()
    let context = process.context(ofSession: events.session, cause: delivery)
    let isOpen = has(events.session)
    // The host may assume a session that an earlier process instance had. Then the handler must create it again.
    let wakesHandler = events.wakesHandler || !isOpen
    // A session that is open needs no handler, and no change to the main thread.
    let matching = wakesHandler || !has(events.session) ? await handlers(for: events.session) : []
    if matching.isEmpty, !has(events.session) { throw unclaimed(events.session, "no handler matches it") }
    var completions: Completions?
    if wakesHandler, !(events.handlerComesLast && isOpen) {
      completions = await call(matching, identifier: events.session, context: context)
      setWake(delivery, completions)
    }
    guard let session = await session(events.session, unless: completions) else {
      throw unclaimed(events.session, "its handlers have called their completion")
    }
    while let outcome = try outcomes.next() { await session.report(outcome, context) }
    if wakesHandler || events.finishes { await session.finishEvents(context) }
    if wakesHandler, completions == nil {
      completions = await call(matching, identifier: events.session, context: context)
      setWake(delivery, completions)
    }
    return completions
  }

  private func unclaimed(_ identifier: String, _ why: String) -> BusError {
    process.log("session \(identifier) is not open, and \(why); its events wait until it is created")
    return BusError(.unclaimed, "session \(identifier) is not open, and \(why)")
  }

  @MainActor func call(
    _ matching: [BackgroundEventsHandler], identifier: String, context: MessageContext
  ) -> Completions {
    process.connection.record(
      HandlerCalled(
        session: identifier, pid: ProcessInfo.processInfo.processIdentifier, matching: matching.count),
      context: context)
    let completions = Completions(identifier, count: matching.count, in: process) { [process] outstanding in
      process.connection.record(CompletionCalled(session: identifier, outstanding: outstanding), context: context)
    }
    for (number, handler) in matching.enumerated() {
      let expire = process.asCurrent(context) { handler.begin(identifier) { completions.called(number) } }
      if let expire { completions.whenExpired(expire) }
    }
    return completions
  }
}

/// The completions of the author's handlers for one wake.
final class Completions: Sendable {
  private struct State {
    var outstanding: Set<Int>
    /// All were called, and the last call is recorded.
    var isDone: Bool
    var whenAllCalled: [@Sendable () -> Void] = []
    var whenExpired: [@Sendable () -> Void] = []
    var isExpired = false
  }

  private let identifier: String
  private let process: HostedProcess
  /// Writes a call into the journal, with the number of completions that are outstanding.
  private let record: @Sendable (Int) -> Void
  private let state: Mutex<State>

  init(_ identifier: String, count: Int, in process: HostedProcess, record: @escaping @Sendable (Int) -> Void) {
    self.identifier = identifier
    self.process = process
    self.record = record
    state = Mutex(State(outstanding: Set(0..<count), isDone: count == 0))
  }

  /// The author called a completion. Any thread.
  func called(_ number: Int) {
    let left = state.withLock { state in
      guard state.outstanding.remove(number) != nil else { return nil as Int? }
      if process.rules.firstCompletionCounts { state.outstanding = [] }
      return state.outstanding.count
    }
    guard let left else {
      return process.log("the completion handler of session \(identifier) was called again; it counts once")
    }
    record(left)
    guard left == 0 else { return }
    // Not before: the acknowledgement must follow the last call in the journal.
    let waiting = state.withLock { state in
      state.isDone = true
      defer { state.whenAllCalled = [] }
      return state.whenAllCalled
    }
    for work in waiting { work() }
  }

  /// Calls `work` after the last completion; at once when all were called.
  func whenAllCalled(_ work: @escaping @Sendable () -> Void) {
    let isDone = state.withLock { state in
      if !state.isDone { state.whenAllCalled.append(work) }
      return state.isDone
    }
    if isDone { work() }
  }

  func allCalled() async {
    await withCheckedContinuation { continuation in whenAllCalled { continuation.resume() } }
  }

  /// The time limit for the completions is near. Called once.
  func expire() {
    let waitingCalls = state.withLock { state -> [@Sendable () -> Void]? in
      guard !state.isExpired, !state.outstanding.isEmpty else { return nil }
      state.isExpired = true
      return state.whenExpired
    }
    guard let waitingCalls else { return }
    process.log("the time to handle the events of session \(identifier) is running out")
    for work in waitingCalls { work() }
  }

  /// Calls `work` when the time limit is near; at once when it is.
  func whenExpired(_ work: @escaping @Sendable () -> Void) {
    let isExpired = state.withLock { state in
      state.whenExpired.append(work)
      return state.isExpired
    }
    if isExpired { work() }
  }
}

extension SessionRegistry {
  /// Registers the handlers for progress notices and the host's requests about tasks.
  func answerQuestions() {
    process.connection.onNotice(TransferCounted.self) { counts, _ in
      self.existing(counts.session)?.counted(counts)
    }
    process.connection.onRequest(BeginDelayedRequest.self) { question, received in
      guard let session = self.existing(question.session) else {
        throw BusError(.unclaimed, "session \(question.session) is not open")
      }
      return await session.ask(question, self.process.context(ofSession: question.session, cause: received.id))
    }
    process.connection.onRequest(AnswerChallenge.self) { question, received in
      try await self.answer(question, cause: received.id)
    }
  }

  /// Passes a challenge to the author's delegate. In a process that was woken for it, the handlers are called first to
  /// create the session, as for events.
  ///
  /// - Throws: `unclaimed` when no handler matches and the session does not exist.
  private func answer(_ question: AnswerChallenge, cause: UUID) async throws(BusError) -> AnswerChallenge.Reply {
    let context = process.context(ofSession: question.session, cause: cause)
    let matching = await handlers(for: question.session)
    guard !matching.isEmpty || has(question.session) else {
      throw BusError(.unclaimed, "no handler matches session \(question.session), and it is not open")
    }
    let wakesHandler = question.wakesHandler || !has(question.session)
    if wakesHandler { _ = await call(matching, identifier: question.session, context: context) }
    let session = await session(question.session)
    let reply = await session.ask(question, context)
    if wakesHandler { await session.finishEvents(context) }
    return reply
  }
}
