import Archive
import Conversations
import Foundation
import GRDB
import MessageBus
import Synchronization
import Testing
import Timekeeping
import ZeroMQ

@testable import Timelines

@Suite(.timeLimit(.minutes(1))) struct `the keeper of timelines` {
  private let awake = TimelineIntent.wantAwake(widget, because: "timeline")
  private let release = TimelineIntent.release(widget, because: "timeline")

  @Test func `wakes the extension of what is placed, asks it and stores what it gives`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host()
    var intents = keeper.intents.makeAsyncIterator()
    #expect(await intents.next() == awake)
    let process = try await scene.startExtension("95 mg")
    await keeper.awake(widget)
    let stored = try #require(await scene.heard(TimelineStored.self))
    #expect(stored.text == ["Coffee: 95 mg"] && stored.placement == 1 && stored.because == .added)
    #expect(stored.entries == 1 && stored.bytes > 0 && stored.digest.count == 16 && stored.note == nil)
    #expect(await scene.heard(EntryShown.self)?.text == ["Coffee: 95 mg"])
    #expect(await intents.next() == release)
    #expect(await keeper.status().map(\.widgetKind) == ["Coffee"])
    let shown = try #require(try await keeper.shown(1))
    #expect(shown.entry.view == .text("Coffee: 95 mg") && !shown.isPlaceholder)
    await process.leave()
  }

  @Test func `shows the placeholder until there is a timeline`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host()
    let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
    let silence = AsyncStream.makeStream(of: Void.self)
    let process = try await scene.startExtension { _ in
      continuation.yield()
      for await _ in silence.stream {}
      return oneEntry("95 mg")
    }
    await keeper.awake(widget)
    _ = await asked.first { _ in true }
    #expect(try await keeper.shown(1)?.isPlaceholder == true)
    silence.continuation.finish()
    _ = await scene.heard(EntryShown.self)
    #expect(try await keeper.shown(1)?.isPlaceholder == false)
    await process.leave()
  }

  @Test func `shows the last entry while a new placeholder is asked for, and keeps the newest`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host()
    let gate = AsyncStream.makeStream(of: Void.self)
    let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
    let count = Mutex(0)
    let process = scene.bus.connection(widget)
    process.onRequest(RequestTimeline.self) { request, _ in
      guard request.purpose == .placeholder else { return oneEntry("95 mg") }
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 2 {
        continuation.yield()
        for await _ in gate.stream {}
      }
      return oneEntry("placeholder \(number)")
    }
    _ = try await process.start()
    await keeper.awake(widget)
    _ = await scene.heard(TimelineStored.self)
    #expect(try await keeper.placeholder(1)?.view == .text("placeholder 1"))
    try await keeper.systemChanged("text-size")
    await keeper.awake(widget)
    _ = await asked.first { _ in true }
    #expect(try await keeper.shown(1)?.entry.view == .text("95 mg"))
    #expect(try await keeper.placeholder(1)?.view == .text("placeholder 1"))
    gate.continuation.finish()
    _ = await scene.heard(TimelineStored.self, 2)
    #expect(try await keeper.placeholder(1)?.view == .text("placeholder 2"))
    await process.leave()
  }

  @Test func `gives a snapshot to who asked, and does not store it`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host(kinds: [])
    try await keeper.knows(widget, [WidgetDeclaration(kind: "Coffee")])
    let process = try await scene.startExtension("95 mg")
    async let snapshot = keeper.snapshot(TakeSnapshot(widgetKind: "Coffee"))
    var intents = keeper.intents.makeAsyncIterator()
    #expect(await intents.next() == awake)
    await keeper.awake(widget)
    #expect(try await snapshot.text == ["Coffee: 95 mg"])
    #expect(await keeper.status().isEmpty)
    await process.leave()
  }

  @Test func `leaves the last timeline where it is when the provider fails, and says why`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host()
    let process = try await scene.startExtension("95 mg")
    await keeper.awake(widget)
    _ = await scene.heard(TimelineStored.self)
    await scene.bus.disconnect(widget)
    let failing = try await scene.startExtension { _ in throw BusError(.failed, "the provider failed") }
    try await scene.reload("Coffee")
    await keeper.awake(widget)
    let failed = try #require(await scene.heard(ReloadFailed.self))
    #expect(failed.reason == "failed: the provider failed" && failed.nextTry == origin + 60)
    let status = await keeper.status()
    #expect(status.map(\.text) == [["Coffee: 95 mg"]])
    #expect(status.first?.note == "the last reload came to nothing: failed: the provider failed")
    #expect(await keeper.lastFailure(1) == "failed: the provider failed")
    await process.leave()
    await failing.leave()
  }

  @Test func `owes a reload over the host's death, and shows what came due meanwhile`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host()
    let process = try await scene.startExtension { _ in
      let entries = [0.0, 600, 1200].map { ArchivedEntry(date: origin + $0, view: .text("\($0)")) }
      return RequestTimeline.Reply(entries: entries, policy: .atEnd)
    }
    await keeper.awake(widget)
    #expect(await scene.heard(EntryShown.self)?.text == ["0.0"])
    try await scene.reload("Coffee")
    await scene.bus.disconnect(.host("iphone"))
    let second = try await scene.host(kinds: [], clock: HeldClock(origin + 700))
    var intents = second.intents.makeAsyncIterator()
    #expect(await scene.heard(EntryShown.self, 2)?.text == ["600.0"])
    #expect(await intents.next() == awake)
    #expect(try await second.shown(1)?.entry.view == .text("600.0"))
    let lines = try await second.list(ListBudget()).entries
    #expect(lines.map(\.rule) == ["added", "operator"])
    await process.leave()
  }

  @Test func `keeps the entry on the screen until the first of a new timeline comes`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host()
    let process = try await scene.startExtension("old")
    await keeper.awake(widget)
    _ = await scene.heard(TimelineStored.self)
    await scene.bus.disconnect(widget)
    let next = try await scene.startExtension { _ in oneEntry("new", origin + 600) }
    try await scene.reload("Coffee")
    await keeper.awake(widget)
    _ = await scene.heard(TimelineStored.self, 2)
    #expect(try await keeper.shown(1)?.entry.view == .text("Coffee: old"))
    scene.clock.advance(by: 600)
    _ = await scene.heard(EntryShown.self, 2)
    #expect(try await keeper.shown(1)?.entry.view == .text("new"))
    await process.leave()
    await next.leave()
  }

  @Test func `does not acknowledge a reload that cannot be recorded`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host(kinds: [])
    var intents = keeper.intents.makeAsyncIterator()
    try await scene.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON timelineFacts BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    let error = await #expect(throws: BusError.self) { try await scene.reload("Coffee") }
    #expect(error?.code == .failed)
    guard case .broken = await intents.next() else {
      Issue.record("the host goes on")
      return
    }
  }

  @Test(arguments: [30, 4])
  func `halts an extension that does not answer in the machine's time`(limit: Int) async throws {
    var scene = try KeeperScene()
    scene.settings.deadline = Double(limit)
    let keeper = try await scene.host()
    var intents = keeper.intents.makeAsyncIterator()
    let silence = AsyncStream.makeStream(of: Void.self)
    let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
    let hanging = try await scene.startExtension { _ in
      continuation.yield()
      for await _ in silence.stream {}
      return oneEntry("late")
    }
    await keeper.awake(widget)
    _ = await asked.first { _ in true }
    await scene.machine.whenSomebodySleeps(within: Double(limit))
    scene.machine.advance(by: Double(limit))
    #expect(await scene.heard(ReloadFailed.self)?.reason.hasPrefix("no timeline within \(limit) s") == true)
    while let intent = await intents.next(), intent != .halt(widget, because: "timeline") {}
    silence.continuation.finish()
    await hanging.leave()
  }

  @Test func `advances no further while it asks, so that a day has its reloads at their time`() async throws {
    var scene = try KeeperScene()
    scene.policy.perDay = nil
    let clock = AdjustableClock(.held(origin), patience: .seconds(3600))
    let process = scene.bus.connection(widget)
    process.onRequest(RequestTimeline.self) { request, _ in
      let now = clock.now
      for _ in 0..<20 { await Task.yield() }
      let entries = [0.0, 900].map {
        ArchivedEntry(date: now + $0, view: .text("\(now.timeIntervalSince(origin) + $0)"))
      }
      return RequestTimeline.Reply(entries: entries, policy: .after(now + 1800))
    }
    _ = try await process.start()
    let connection = scene.bus.connection(.host("iphone"))
    let keeper = try TimelineKeeper(
      extensions: [widget], database: scene.database, bus: connection, clock: clock, policy: scene.policy,
      environment: { WidgetEnvironment(family: $0.family, width: 1, height: 1) })
    _ = try await connection.start()
    let awaking = Task { for await case .wantAwake(let address, _) in keeper.intents { await keeper.awake(address) } }
    try await scene.learn(keeper)
    _ = await scene.heard(EntryShown.self)
    try await clock.advance(by: 86_400)
    let shown = await scene.bus.said.filter { $0.header.kind == EntryShown.kind }
      .compactMap { try? BodyCoding.decode(EntryShown.self, from: $0.body).text.first }
    #expect(shown == (0...96).map { "\(Double($0) * 900)" })
    awaking.cancel()
    await process.leave()
  }

  @Test func `does its work on no thread of the bus`() async throws {
    let scene = try KeeperScene()
    let keeper = try await scene.host()
    let loop = scene.bus.loop
    let isOnLoop = await withCheckedContinuation { continuation in
      loop.task { continuation.resume(returning: await keeper.isOn(loop)) }
    }
    #expect(!isOnLoop)
  }
}

extension TimelineKeeper {
  fileprivate func isOn(_ loop: Loop) -> Bool { loop.isCurrent }
}
