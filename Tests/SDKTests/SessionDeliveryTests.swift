// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

@Suite(.timeLimit(.minutes(1))) struct `The events of a background session` {
  private func deliver(_ outcomes: [TaskOutcome], wakes: Bool = true, on fixture: SDKFixture, id: UUID = UUID())
    async throws
  {
    let events = SessionEvents(session: "daily", wakesHandler: wakes, outcomes: outcomes)
    try await fixture.host.connection.deliver(events, to: SDKFixture.widget, id: id, context: .none)
  }

  private var isOnMainThread: Bool { Thread.isMainThread }

  private let calls = [
    "handler.called 1", "didFinishDownloadingTo 1", "didCompleteWithError 1", "didCompleteWithError 2",
    "urlSessionDidFinishEvents", "completion.called 0",
  ]

  private func outcomes(_ fixture: SDKFixture) throws -> [TaskOutcome] {
    [
      try fixture.success(1),
      TaskOutcome(
        task: SDKFixture.snapshot(2), response: nil, file: nil,
        failure: TransferFailure(code: -999, message: "cancelled")),
    ]
  }

  @Test(.rule("DELIVERY-02", "DELIVERY-18")) func `a session made in the handler gets its events in Apple's order`()
    async throws
  {
    let fixture = try SDKFixture()
    let made = Mutex<URLSession?>(nil)
    let delegate = Delegate()
    let handler = await Handler { [process = fixture.process] in
      made.withLock { $0 = process.session(delegate) }
    }
    try await fixture.begin([await handler.handler(for: "daily")])
    async let acknowledged: Void = deliver(outcomes(fixture), on: fixture)
    await delegate.waitFor("finish")
    await handler.complete()
    try await acknowledged
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "end 2 -999", "finish"])
    #expect(await fixture.journaledCalls() == calls)
    #expect(await handler.identifiers == ["daily"])
  }

  @Test(.rule("DELIVERY-18", "DELIVERY-22")) func `a session that exists already gets its events in the same order`()
    async throws
  {
    let fixture = try SDKFixture()
    let (delegate, handler) = (Delegate(), await Handler())
    try await fixture.begin([await handler.handler()])
    let session = fixture.session(delegate)
    async let acknowledged: Void = deliver(outcomes(fixture), on: fixture)
    await delegate.waitFor("finish")
    await handler.complete()
    try await acknowledged
    #expect(await fixture.journaledCalls() == calls)
    withExtendedLifetime(session) {}
  }

  @Test func `events wait for a session that is created after the handler was called`() async throws {
    let fixture = try SDKFixture()
    let (delegate, handler) = (Delegate(), await Handler())
    try await fixture.begin([await handler.handler()])
    async let acknowledged: Void = deliver(outcomes(fixture), on: fixture)
    await fixture.waitFor(HandlerCalled.self)
    #expect(delegate.calls.isEmpty)
    let session = fixture.session(delegate)
    await delegate.waitFor("finish")
    await handler.complete()
    try await acknowledged
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "end 2 -999", "finish"])
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-28"))
  func `events are unclaimed when the handler completes without the session, and can be sent again`() async throws {
    let fixture = try SDKFixture()
    let (delegate, handler) = (Delegate(), await Handler())
    try await fixture.begin([await handler.handler()])
    let (outcomes, id) = (try outcomes(fixture), UUID())
    let refused = Task { try await deliver(outcomes, on: fixture, id: id) }
    await fixture.waitFor(HandlerCalled.self)
    await handler.complete()
    let error = await #expect(throws: BusError.self) { try await refused.value }
    #expect(error?.code == .unclaimed)
    let session = fixture.session(delegate)
    try await deliver(outcomes, wakes: false, on: fixture, id: id)
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "end 2 -999"])
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-20"))
  func `events that arrive while a completion is awaited are delivered at once, after the earlier ones`() async throws {
    let fixture = try SDKFixture()
    let (delegate, handler) = (Delegate(), await Handler())
    try await fixture.begin([await handler.handler()])
    let session = fixture.session(delegate)
    async let first: Void = deliver([try fixture.success(1)], on: fixture)
    await delegate.waitFor("end 1")
    try await deliver([try fixture.success(2)], wakes: false, on: fixture)
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "finish", "file 2 figures", "end 2 0"])
    #expect(await handler.identifiers == ["daily"])
    await handler.complete()
    try await first
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-22"))
  func `in the observed order, an existing session receives its events before the handler is called`() async throws {
    let fixture = try SDKFixture()
    let (delegate, handler) = (Delegate(), await Handler())
    try await fixture.begin([await handler.handler()])
    let session = fixture.session(delegate)
    let events = SessionEvents(
      session: "daily", wakesHandler: true, handlerComesLast: true, outcomes: [try fixture.success(1)])
    async let acknowledged: Void = fixture.host.connection.deliver(events, to: SDKFixture.widget)
    await fixture.waitFor(HandlerCalled.self)
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "finish"])
    await handler.complete()
    try await acknowledged
    #expect(
      await fixture.journaledCalls() == [
        "didFinishDownloadingTo 1", "didCompleteWithError 1", "urlSessionDidFinishEvents", "handler.called 1",
        "completion.called 0",
      ])
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-22")) func `in the observed order, events finish without a handler too`() async throws {
    let fixture = try SDKFixture()
    let delegate = Delegate()
    try await fixture.begin()
    let session = fixture.session(delegate)
    let events = SessionEvents(
      session: "daily", wakesHandler: false, finishes: true, outcomes: [try fixture.success(1)])
    try await fixture.host.connection.deliver(events, to: SDKFixture.widget)
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "finish"])
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-29")) func `events are acknowledged when the background task's action returns`() async throws {
    let fixture = try SDKFixture()
    let made = Mutex<URLSession?>(nil)
    let delegate = Delegate()
    let handler = BackgroundEventsHandler(matches: { $0 == "daily" }) { [process = fixture.process] identifier in
      #expect(identifier == "daily")
      #expect(!isOnMainThread)
      made.withLock { $0 = process.session(delegate) }
      await delegate.waitFor("finish")
    }
    try await fixture.begin([handler])
    try await deliver(outcomes(fixture), on: fixture)
    #expect(await fixture.journaledCalls() == calls)
  }

  @Test(.rule("DELIVERY-30"))
  func `an action's task is cancelled when its time runs out, and its return acknowledges the events`() async throws {
    let fixture = try SDKFixture()
    let delegate = Delegate()
    let isCancelled = Mutex(false)
    let handler = BackgroundEventsHandler(
      matches: { _ in true },
      action: { _ in
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        withExtendedLifetime(continuation) { isCancelled.withLock { $0 = Task.isCancelled } }
      })
    try await fixture.begin([handler])
    let (session, id) = (fixture.session(delegate), UUID())
    async let acknowledged: Void = deliver(outcomes(fixture), on: fixture, id: id)
    await delegate.waitFor("finish")
    let wasCancelled = isCancelled.withLock { $0 }
    #expect(!wasCancelled)
    fixture.host.connection.notify(ExpireEvents(session: "daily", delivery: id), to: SDKFixture.widget, context: .none)
    try await acknowledged
    let isNowCancelled = isCancelled.withLock { $0 }
    #expect(isNowCancelled)
    withExtendedLifetime(session) {}
  }

  @Test func `events call only the delegate and no handler while the process runs`() async throws {
    let fixture = try SDKFixture()
    let (delegate, handler) = (Delegate(), await Handler())
    try await fixture.begin([await handler.handler()])
    let session = fixture.session(delegate)
    try await deliver(outcomes(fixture), wakes: false, on: fixture)
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "end 2 -999"])
    #expect(await handler.identifiers.isEmpty)
    withExtendedLifetime(session) {}
  }

  @Test func `events for a session that only an earlier process instance had call the handler`() async throws {
    let fixture = try SDKFixture()
    let made = Mutex<URLSession?>(nil)
    let delegate = Delegate()
    let handler = await Handler { [process = fixture.process] in
      made.withLock { $0 = process.session(delegate) }
    }
    try await fixture.begin([await handler.handler()])
    async let acknowledged: Void = deliver(outcomes(fixture), wakes: false, on: fixture)
    await delegate.waitFor("finish")
    await handler.complete()
    try await acknowledged
    #expect(await handler.identifiers == ["daily"])
  }

  @Test(.rule("DELIVERY-24")) func `events are acknowledged only when both matching handlers complete`() async throws {
    let fixture = try SDKFixture()
    let (delegate, one, two, other) = (Delegate(), await Handler(), await Handler(), await Handler())
    try await fixture.begin([
      await one.handler(for: "daily"), await other.handler(for: "weekly"), await two.handler(),
    ])
    let session = fixture.session(delegate)
    async let acknowledged: Void = deliver(outcomes(fixture), on: fixture)
    await delegate.waitFor("finish")
    await one.complete()
    await fixture.waitFor(CompletionCalled.self)
    #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != SessionEvents.kind.answered(.acknowledged) })
    await two.complete()
    try await acknowledged
    #expect(await fixture.sent(HandlerCalled.self).map(\.matching) == [2])
    #expect(await fixture.sent(CompletionCalled.self).map(\.outstanding) == [1, 0])
    #expect(await other.identifiers.isEmpty)
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-25"), arguments: [false, true])
  func `with firstCompletionCounts, events are acknowledged at the first of two completions, else at both`(
    isSo: Bool
  ) async throws {
    var rules = ProcessRules.waiting(60)
    rules.firstCompletionCounts = isSo
    let fixture = try SDKFixture(rules: rules)
    let (delegate, one, two) = (Delegate(), await Handler(), await Handler())
    try await fixture.begin([await one.handler(), await two.handler()])
    let session = fixture.session(delegate)
    async let acknowledged: Void = deliver(outcomes(fixture), on: fixture)
    await delegate.waitFor("finish")
    await two.complete()
    await fixture.waitFor(CompletionCalled.self)
    #expect(await fixture.sent(CompletionCalled.self).map(\.outstanding) == [isSo ? 0 : 1])
    if !isSo { await one.complete() }
    try await acknowledged
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-24")) func `a completion handler that is called twice counts once`() async throws {
    let fixture = try SDKFixture()
    let (delegate, one, two) = (Delegate(), await Handler(), await Handler())
    try await fixture.begin([await one.handler(), await two.handler()])
    let session = fixture.session(delegate)
    async let acknowledged: Void = deliver(outcomes(fixture), on: fixture)
    await delegate.waitFor("finish")
    await one.complete()
    await one.complete()
    await two.complete()
    await two.complete()
    try await acknowledged
    #expect(await fixture.sent(CompletionCalled.self).map(\.outstanding) == [1, 0])
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-28"))
  func `events are unclaimed when no handler matches, and are delivered once the session exists`() async throws {
    let fixture = try SDKFixture()
    let (delegate, handler) = (Delegate(), await Handler())
    try await fixture.begin([await handler.handler(for: "weekly")])
    let (outcomes, id) = (try outcomes(fixture), UUID())
    let error = await #expect(throws: BusError.self) { try await deliver(outcomes, on: fixture, id: id) }
    #expect(error?.code == .unclaimed)
    #expect(error?.isDefinite == true)
    #expect(await fixture.sent(HandlerCalled.self).isEmpty)
    let session = fixture.session(delegate)
    try await deliver(outcomes, wakes: false, on: fixture, id: id)
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "end 2 -999"])
    #expect(await handler.identifiers.isEmpty)
    withExtendedLifetime(session) {}
  }

  @Test func `events that are too many for one message are read from a file`() async throws {
    let fixture = try SDKFixture()
    let delegate = Delegate()
    try await fixture.begin()
    let session = fixture.session(delegate)
    let file = fixture.folder.appendingPathComponent("outcomes.json")
    try BodyCoding.lines(try outcomes(fixture)).write(to: file)
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [], outcomesFile: file.path), to: SDKFixture.widget
    )
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "end 2 -999"])
    withExtendedLifetime(session) {}
  }

  @Test func `urlSessionDidFinishEvents is journaled before the reload that it requests`() async throws {
    let fixture = try SDKFixture()
    let delegate = Delegate { [process = fixture.process] in
      process.deliver(ReloadTimelines(widgetKind: "Trial"), context: HostedProcess.currentContext)
    }
    let handler = await Handler()
    try await fixture.begin([await handler.handler()])
    let session = fixture.session(delegate)
    async let acknowledged: Void = deliver([try fixture.success(1)], on: fixture)
    await delegate.waitFor("finish")
    await handler.complete()
    try await acknowledged
    let kinds = await fixture.bus.sentEnvelopes.map(\.header.kind)
    let finish = try #require(kinds.lastIndex(of: DelegateCalled.kind))
    let reload = try #require(kinds.firstIndex(of: ReloadTimelines.kind))
    let completion = try #require(kinds.firstIndex(of: CompletionCalled.kind))
    #expect(finish < reload)
    #expect(reload < completion)
    withExtendedLifetime(session) {}
  }

  @Test func `events that are delivered again after the acknowledgement are ignored`() async throws {
    let fixture = try SDKFixture()
    let delegate = Delegate()
    try await fixture.begin()
    let session = fixture.session(delegate)
    let (outcomes, id) = (try outcomes(fixture), UUID())
    try await deliver(outcomes, wakes: false, on: fixture, id: id)
    try await deliver(outcomes, wakes: false, on: fixture, id: id)
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "end 2 -999"])
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-03")) func `a download that the delegate does not move is deleted afterwards`() async throws {
    for keeps in [false, true] {
      let (fixture, delegate) = (try SDKFixture(), Delegate(keepsFiles: keeps))
      try await fixture.begin()
      let session = fixture.session(delegate)
      try await deliver([try fixture.success(1)], wakes: false, on: fixture)
      let file = try #require(delegate.files.withLock { $0.first })
      #expect(!FileManager.default.fileExists(atPath: file.path))
      #expect(FileManager.default.fileExists(atPath: file.appendingPathExtension("kept").path) == keeps)
      #expect(await fixture.sent(DelegateCalled.self).first?.bytes == 7)
      withExtendedLifetime(session) {}
    }
  }

  @Test(.rule("TIMELINE-26")) func `events are acknowledged after the reload that a delegate sends`() async throws {
    let fixture = try SDKFixture()
    let delegate = Delegate { [process = fixture.process] in
      process.deliver(ReloadTimelines(widgetKind: "Trial"), context: HostedProcess.currentContext)
    }
    let handler = await Handler()
    try await fixture.begin([await handler.handler()])
    let session = fixture.session(delegate)
    async let acknowledged: Void = deliver([try fixture.success(1)], on: fixture)
    await delegate.waitFor("finish")
    await handler.complete()
    try await acknowledged
    let sentEnvelopes = await fixture.bus.sentEnvelopes
    let reload = try #require(
      sentEnvelopes.firstIndex { $0.header.kind == ReloadTimelines.kind.answered(.acknowledged) })
    let end = try #require(sentEnvelopes.firstIndex { $0.header.kind == SessionEvents.kind.answered(.acknowledged) })
    #expect(reload < end)
    let words = sentEnvelopes.map(\.header.kind).filter { $0 == ReloadTimelines.kind || $0 == CompletionCalled.kind }
    #expect(words == [ReloadTimelines.kind, CompletionCalled.kind])
    let asked = sentEnvelopes.first { $0.header.kind == ReloadTimelines.kind }
    #expect(asked?.header.correlation == MessageContext.correlation(ofSession: "daily", of: SDKFixture.widget))
    withExtendedLifetime(session) {}
  }
}
