import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing

@testable import AuthoredProcess
@testable import BackgroundURLSession

/// How a session's events reach the author.
@Suite(.timeLimit(.minutes(1))) struct `The events of a background session` {
  private func deliver(_ outcomes: [TaskOutcome], wakes: Bool = true, on stage: Stage, id: UUID = UUID()) async throws {
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: wakes, outcomes: outcomes), to: Stage.widget, id: id, story: .none)
  }

  private let story = [
    "handler.called 1", "didFinishDownloadingTo 1", "didCompleteWithError 1", "didCompleteWithError 2",
    "urlSessionDidFinishEvents", "completion.called 0",
  ]

  /// What the journal has of handlers, delegates and completions, in order.
  private func journal(_ stage: Stage) async -> [String] {
    await stage.bus.said.compactMap { envelope in
      switch envelope.header.kind {
      case HandlerCalled.kind:
        (try? BodyCoding.decode(HandlerCalled.self, from: envelope.body)).map { "handler.called \($0.matching)" }
      case DelegateCalled.kind:
        (try? BodyCoding.decode(DelegateCalled.self, from: envelope.body)).map {
          "\($0.method)\($0.taskIdentifier.map { " \($0)" } ?? "")"
        }
      case CompletionCalled.kind:
        (try? BodyCoding.decode(CompletionCalled.self, from: envelope.body)).map {
          "completion.called \($0.outstanding)"
        }
      default: nil
      }
    }
  }

  private func outcomes(_ stage: Stage) throws -> [TaskOutcome] {
    [
      try stage.success(1),
      TaskOutcome(
        task: Stage.snapshot(2), response: nil, file: nil, failure: TransferFailure(code: -999, message: "cancelled")),
    ]
  }

  @Test func `are told in Apple's order to a session that is made in the handler`() async throws {
    let stage = try Stage()
    let made = Mutex<URLSession?>(nil)
    let delegate = Delegate()
    let handler = await Handler { [process = stage.process] in
      made.withLock { $0 = process.session(delegate) }
    }
    try await stage.begin([await handler.handler(for: "daily")])
    async let acknowledged: Void = deliver(outcomes(stage), on: stage)
    await delegate.hears("finish")
    await handler.complete()
    try await acknowledged
    #expect(delegate.told == ["file 1 figures", "end 1 0", "end 2 -999", "finish"])
    #expect(await journal(stage) == story)
    #expect(await handler.identifiers == ["daily"])
  }

  @Test func `are told in the same order to a session that was there before`() async throws {
    let stage = try Stage()
    let (delegate, handler) = (Delegate(), await Handler())
    try await stage.begin([await handler.handler()])
    let session = stage.session(delegate)
    async let acknowledged: Void = deliver(outcomes(stage), on: stage)
    await delegate.hears("finish")
    await handler.complete()
    try await acknowledged
    #expect(await journal(stage) == story)
    withExtendedLifetime(session) {}
  }

  @Test func `wait for a session that is made after the handler`() async throws {
    let stage = try Stage()
    let (delegate, handler) = (Delegate(), await Handler())
    try await stage.begin([await handler.handler()])
    async let acknowledged: Void = deliver(outcomes(stage), on: stage)
    await stage.record(HandlerCalled.self)
    #expect(delegate.told.isEmpty)
    let session = stage.session(delegate)
    await delegate.hears("finish")
    await handler.complete()
    try await acknowledged
    #expect(delegate.told == ["file 1 figures", "end 1 0", "end 2 -999", "finish"])
    withExtendedLifetime(session) {}
  }

  @Test func `are unclaimed where the handler completes and nobody has made the session`() async throws {
    let stage = try Stage()
    let (delegate, handler) = (Delegate(), await Handler())
    try await stage.begin([await handler.handler()])
    let (outcomes, id) = (try outcomes(stage), UUID())
    let refused = Task { try await deliver(outcomes, on: stage, id: id) }
    await stage.record(HandlerCalled.self)
    await handler.complete()
    let error = await #expect(throws: BusError.self) { try await refused.value }
    #expect(error?.code == .unclaimed)
    let session = stage.session(delegate)
    try await deliver(outcomes, wakes: false, on: stage, id: id)
    #expect(delegate.told == ["file 1 figures", "end 1 0", "end 2 -999"])
    withExtendedLifetime(session) {}
  }

  @Test func `that come while a completion is awaited are told at once, after the earlier ones`() async throws {
    let stage = try Stage()
    let (delegate, handler) = (Delegate(), await Handler())
    try await stage.begin([await handler.handler()])
    let session = stage.session(delegate)
    async let first: Void = deliver([try stage.success(1)], on: stage)
    await delegate.hears("end 1")
    try await deliver([try stage.success(2)], wakes: false, on: stage)
    #expect(delegate.told == ["file 1 figures", "end 1 0", "finish", "file 2 figures", "end 2 0"])
    #expect(await handler.identifiers == ["daily"])
    await handler.complete()
    try await first
    withExtendedLifetime(session) {}
  }

  @Test func `in the order that developers saw come before the handler, where the session is there`() async throws {
    let stage = try Stage()
    let (delegate, handler) = (Delegate(), await Handler())
    try await stage.begin([await handler.handler()])
    let session = stage.session(delegate)
    let events = SessionEvents(
      session: "daily", wakesHandler: true, handlerComesLast: true, outcomes: [try stage.success(1)])
    async let acknowledged: Void = stage.host.connection.deliver(events, to: Stage.widget)
    await stage.record(HandlerCalled.self)
    #expect(delegate.told == ["file 1 figures", "end 1 0", "finish"])
    await handler.complete()
    try await acknowledged
    #expect(
      await journal(stage) == [
        "didFinishDownloadingTo 1", "didCompleteWithError 1", "urlSessionDidFinishEvents", "handler.called 1",
        "completion.called 0",
      ])
    withExtendedLifetime(session) {}
  }

  @Test func `in the order that developers saw are finished without a handler too`() async throws {
    let stage = try Stage()
    let delegate = Delegate()
    try await stage.begin()
    let session = stage.session(delegate)
    let events = SessionEvents(
      session: "daily", wakesHandler: false, finishes: true, outcomes: [try stage.success(1)])
    try await stage.host.connection.deliver(events, to: Stage.widget)
    #expect(delegate.told == ["file 1 figures", "end 1 0", "finish"])
    withExtendedLifetime(session) {}
  }

  @Test func `are acknowledged when an action returns`() async throws {
    let stage = try Stage()
    let made = Mutex<URLSession?>(nil)
    let delegate = Delegate()
    let handler = BackgroundEventsHandler(matches: { $0 == "daily" }) { [process = stage.process] identifier in
      #expect(identifier == "daily")
      made.withLock { $0 = process.session(delegate) }
      await delegate.hears("finish")
    }
    try await stage.begin([handler])
    try await deliver(outcomes(stage), on: stage)
    #expect(await journal(stage) == story)
  }

  @Test func `have their action's task cancelled when the time runs out, and are acknowledged when it returns`()
    async throws
  {
    let stage = try Stage()
    let delegate = Delegate()
    let isCancelled = Mutex(false)
    let handler = BackgroundEventsHandler(
      matches: { _ in true },
      action: { _ in
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        withExtendedLifetime(continuation) { isCancelled.withLock { $0 = Task.isCancelled } }
      })
    try await stage.begin([handler])
    let (session, id) = (stage.session(delegate), UUID())
    async let acknowledged: Void = deliver(outcomes(stage), on: stage, id: id)
    await delegate.hears("finish")
    let wasCancelled = isCancelled.withLock { $0 }
    #expect(!wasCancelled)
    stage.host.connection.notify(ExpireEvents(session: "daily", delivery: id), to: Stage.widget, story: .none)
    try await acknowledged
    let isNowCancelled = isCancelled.withLock { $0 }
    #expect(isNowCancelled)
    withExtendedLifetime(session) {}
  }

  @Test func `have no time that runs out for a completion that is not awaited`() async throws {
    let stage = try Stage()
    let completions = Completions("daily", count: 1, .none, in: stage.process)
    let expirations = Mutex(0)
    completions.whenExpired { expirations.withLock { $0 += 1 } }
    completions.expire()
    completions.expire()
    completions.whenExpired { expirations.withLock { $0 += 1 } }
    let count = expirations.withLock { $0 }
    #expect(count == 2)
    completions.called(0)
    let done = Completions("daily", count: 0, .none, in: stage.process)
    done.whenExpired { Issue.record("nobody waits for it") }
    done.expire()
  }

  @Test func `go to the delegate alone while the process runs`() async throws {
    let stage = try Stage()
    let (delegate, handler) = (Delegate(), await Handler())
    try await stage.begin([await handler.handler()])
    let session = stage.session(delegate)
    try await deliver(outcomes(stage), wakes: false, on: stage)
    #expect(delegate.told == ["file 1 figures", "end 1 0", "end 2 -999"])
    #expect(await handler.identifiers.isEmpty)
    withExtendedLifetime(session) {}
  }

  @Test func `call the handler when the host thinks of a session that only an earlier life had`() async throws {
    let stage = try Stage()
    let made = Mutex<URLSession?>(nil)
    let delegate = Delegate()
    let handler = await Handler { [process = stage.process] in
      made.withLock { $0 = process.session(delegate) }
    }
    try await stage.begin([await handler.handler()])
    async let acknowledged: Void = deliver(outcomes(stage), wakes: false, on: stage)
    await delegate.hears("finish")
    await handler.complete()
    try await acknowledged
    #expect(await handler.identifiers == ["daily"])
  }

  @Test func `are acknowledged when each of two matching handlers has completed`() async throws {
    let stage = try Stage()
    let (delegate, one, two, other) = (Delegate(), await Handler(), await Handler(), await Handler())
    try await stage.begin([
      await one.handler(for: "daily"), await other.handler(for: "weekly"), await two.handler(),
    ])
    let session = stage.session(delegate)
    async let acknowledged: Void = deliver(outcomes(stage), on: stage)
    await delegate.hears("finish")
    await one.complete()
    await stage.record(CompletionCalled.self)
    #expect(await stage.bus.said.allSatisfy { $0.header.kind != SessionEvents.kind.answered(.acknowledged) })
    await two.complete()
    try await acknowledged
    #expect(await stage.records(HandlerCalled.self).map(\.matching) == [2])
    #expect(await stage.records(CompletionCalled.self).map(\.outstanding) == [1, 0])
    #expect(await other.identifiers.isEmpty)
    withExtendedLifetime(session) {}
  }

  @Test(arguments: [false, true])
  func `are acknowledged when the first of two handlers has completed where the setting says so`(
    isSo: Bool
  ) async throws {
    var rules = ProcessRules.waiting(60)
    rules.firstCompletionCounts = isSo
    let stage = try Stage(rules: rules)
    let (delegate, one, two) = (Delegate(), await Handler(), await Handler())
    try await stage.begin([await one.handler(), await two.handler()])
    let session = stage.session(delegate)
    async let acknowledged: Void = deliver(outcomes(stage), on: stage)
    await delegate.hears("finish")
    await two.complete()
    await stage.record(CompletionCalled.self)
    #expect(await stage.records(CompletionCalled.self).map(\.outstanding) == [isSo ? 0 : 1])
    if !isSo { await one.complete() }
    try await acknowledged
    withExtendedLifetime(session) {}
  }

  @Test func `count a completion once, however often it is called`() async throws {
    let stage = try Stage()
    let (delegate, one, two) = (Delegate(), await Handler(), await Handler())
    try await stage.begin([await one.handler(), await two.handler()])
    let session = stage.session(delegate)
    async let acknowledged: Void = deliver(outcomes(stage), on: stage)
    await delegate.hears("finish")
    await one.complete()
    await one.complete()
    await two.complete()
    await two.complete()
    try await acknowledged
    #expect(await stage.records(CompletionCalled.self).map(\.outstanding) == [1, 0])
    withExtendedLifetime(session) {}
  }

  @Test func `are unclaimed where no handler matches, and told when somebody has made the session`() async throws {
    let stage = try Stage()
    let (delegate, handler) = (Delegate(), await Handler())
    try await stage.begin([await handler.handler(for: "weekly")])
    let (outcomes, id) = (try outcomes(stage), UUID())
    let error = await #expect(throws: BusError.self) { try await deliver(outcomes, on: stage, id: id) }
    #expect(error?.code == .unclaimed)
    #expect(error?.isDefinite == true)
    #expect(await stage.records(HandlerCalled.self).isEmpty)
    let session = stage.session(delegate)
    try await deliver(outcomes, wakes: false, on: stage, id: id)
    #expect(delegate.told == ["file 1 figures", "end 1 0", "end 2 -999"])
    #expect(await handler.identifiers.isEmpty)
    withExtendedLifetime(session) {}
  }

  @Test func `are read from a file where they are too many for an envelope`() async throws {
    let stage = try Stage()
    let delegate = Delegate()
    try await stage.begin()
    let session = stage.session(delegate)
    let file = stage.folder.appendingPathComponent("outcomes.json")
    try BodyCoding.lines(try outcomes(stage)).write(to: file)
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [], outcomesFile: file.path), to: Stage.widget)
    #expect(delegate.told == ["file 1 figures", "end 1 0", "end 2 -999"])
    withExtendedLifetime(session) {}
  }

  @Test func `are finished in the journal before what the author does when it is told so`() async throws {
    let stage = try Stage()
    let delegate = Delegate { [process = stage.process] in
      process.deliver(ReloadTimelines(widgetKind: "Trial"), story: HostedProcess.currentStory)
    }
    let handler = await Handler()
    try await stage.begin([await handler.handler()])
    let session = stage.session(delegate)
    async let acknowledged: Void = deliver([try stage.success(1)], on: stage)
    await delegate.hears("finish")
    await handler.complete()
    try await acknowledged
    let kinds = await stage.bus.said.map(\.header.kind)
    let finish = try #require(kinds.lastIndex(of: DelegateCalled.kind))
    let reload = try #require(kinds.firstIndex(of: ReloadTimelines.kind))
    let completion = try #require(kinds.firstIndex(of: CompletionCalled.kind))
    #expect(finish < reload)
    #expect(reload < completion)
    withExtendedLifetime(session) {}
  }

  @Test func `are not told again when they come again after the acknowledgement`() async throws {
    let stage = try Stage()
    let delegate = Delegate()
    try await stage.begin()
    let session = stage.session(delegate)
    let (outcomes, id) = (try outcomes(stage), UUID())
    try await deliver(outcomes, wakes: false, on: stage, id: id)
    try await deliver(outcomes, wakes: false, on: stage, id: id)
    #expect(delegate.told == ["file 1 figures", "end 1 0", "end 2 -999"])
    withExtendedLifetime(session) {}
  }

  @Test func `leave no file behind that the delegate did not take`() async throws {
    for keeps in [false, true] {
      let stage = try Stage()
      let delegate = Delegate(keepsFiles: keeps)
      try await stage.begin()
      let session = stage.session(delegate)
      try await deliver([try stage.success(1)], wakes: false, on: stage)
      let file = try #require(delegate.files.withLock { $0.first })
      #expect(!FileManager.default.fileExists(atPath: file.path))
      #expect(FileManager.default.fileExists(atPath: file.appendingPathExtension("kept").path) == keeps)
      #expect(await stage.records(DelegateCalled.self).first?.bytes == 7)
      withExtendedLifetime(session) {}
    }
  }

  @Test func `are acknowledged after the reload that the delegate asked for is on record`() async throws {
    let stage = try Stage()
    let delegate = Delegate { [process = stage.process] in
      process.deliver(ReloadTimelines(widgetKind: "Trial"), story: HostedProcess.currentStory)
    }
    let handler = await Handler()
    try await stage.begin([await handler.handler()])
    let session = stage.session(delegate)
    async let acknowledged: Void = deliver([try stage.success(1)], on: stage)
    await delegate.hears("finish")
    await handler.complete()
    try await acknowledged
    let said = await stage.bus.said
    let reload = try #require(said.firstIndex { $0.header.kind == ReloadTimelines.kind.answered(.acknowledged) })
    let end = try #require(said.firstIndex { $0.header.kind == SessionEvents.kind.answered(.acknowledged) })
    #expect(reload < end)
    let words = said.map(\.header.kind).filter { $0 == ReloadTimelines.kind || $0 == CompletionCalled.kind }
    #expect(words == [ReloadTimelines.kind, CompletionCalled.kind])
    let asked = said.first { $0.header.kind == ReloadTimelines.kind }
    #expect(asked?.header.correlation == Story.session(Stage.widget, "daily"))
    withExtendedLifetime(session) {}
  }
}
