import Archive
import Conversations
import Foundation
import GRDB
import MessageBus
import Testing
import Timekeeping

@testable import Timelines

private let widget = Address.widgetExtension("iphone", "com.example.Widget")

private struct Scene {
  let bus = InMemoryBus()
  let database: DatabaseQueue
  let clock = HeldClock()

  init() throws { database = try DatabaseQueue() }

  func host(limit: Double = 30) async throws -> TimelineKeeper {
    let connection = bus.connection(.host("iphone"))
    let keeper = try TimelineKeeper(
      extensions: [widget], database: database, bus: connection, clock: clock, limit: limit)
    connection.onEvent(ReloadTimelines.self) { event, from in try await keeper.reload(event, from) }
    _ = try await connection.start()
    await keeper.begin()
    return keeper
  }

  /// An extension that gives a timeline with one text, or fails.
  func startExtension(_ text: String?) async throws -> Connection {
    let connection = bus.connection(widget)
    connection.onRequest(RequestTimeline.self) { request, _ in
      guard let text else { throw BusError(.failed, "the provider failed") }
      let entry = ArchivedEntry(date: Date(timeIntervalSince1970: 0), view: .text("\(request.widgetKind): \(text)"))
      return RequestTimeline.Reply(entries: [entry], policy: .never)
    }
    _ = try await connection.start()
    return connection
  }

  func reload(_ kind: String?) async throws {
    let person = bus.connection(.operator("1"))
    _ = try await person.start()
    try await person.deliver(ReloadTimelines(widgetKind: kind), to: .host("iphone"))
  }

  func heard<N: Notice>(_ type: N.Type) async -> N? {
    let envelope = await bus.first { $0.header.kind == N.kind }
    return envelope.flatMap { try? BodyCoding.decode(N.self, from: $0.body) }
  }
}

@Suite(.timeLimit(.minutes(1))) struct TimelineKeeperTests {
  @Test func `a reload wakes the extension, asks it and stores what it gives`() async throws {
    let scene = try Scene()
    let keeper = try await scene.host()
    var intents = keeper.intents.makeAsyncIterator()
    try await scene.reload("Coffee")
    #expect(await intents.next() == .wantAwake(widget, because: "timeline"))
    let process = try await scene.startExtension("95 mg")
    try await keeper.learned(widget, kinds: ["Coffee"])
    await keeper.awake(widget)
    let stored = await scene.heard(TimelineStored.self)
    #expect(stored?.text == ["Coffee: 95 mg"])
    #expect(stored?.note == nil)
    #expect(await intents.next() == .release(widget, because: "timeline"))
    #expect(try await keeper.status().map(\.widgetKind) == ["Coffee"])
    await process.leave()
  }

  @Test func `a snapshot is given to who asked, and not stored`() async throws {
    let scene = try Scene()
    let keeper = try await scene.host()
    try await keeper.learned(widget, kinds: ["Coffee"])
    let process = try await scene.startExtension("95 mg")
    async let snapshot = keeper.snapshot(TakeSnapshot(widgetKind: "Coffee"))
    var intents = keeper.intents.makeAsyncIterator()
    #expect(await intents.next() == .wantAwake(widget, because: "timeline"))
    await keeper.awake(widget)
    #expect(try await snapshot.text == ["Coffee: 95 mg"])
    #expect(try await keeper.status().isEmpty)
    await process.leave()
  }

  @Test func `a provider that fails leaves the last timeline where it is`() async throws {
    let scene = try Scene()
    let keeper = try await scene.host()
    try await keeper.learned(widget, kinds: ["Coffee"])
    try await scene.reload("Coffee")
    let process = try await scene.startExtension("95 mg")
    await keeper.awake(widget)
    _ = await scene.heard(TimelineStored.self)
    await scene.bus.disconnect(widget)
    let failing = try await scene.startExtension(nil)
    try await scene.reload("Coffee")
    await keeper.awake(widget)
    #expect(await scene.heard(ReloadFailed.self)?.reason == "failed: the provider failed")
    #expect(try await keeper.status().map(\.text) == [["Coffee: 95 mg"]])
    await process.leave()
    await failing.leave()
  }

  @Test func `an extension that dies while it is asked is asked once more in its next life`() async throws {
    let scene = try Scene()
    let keeper = try await scene.host()
    try await keeper.learned(widget, kinds: ["Coffee"])
    try await scene.reload("Coffee")
    let hanging = scene.bus.connection(widget)
    let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
    let silence = AsyncStream.makeStream(of: Void.self)
    hanging.onRequest(RequestTimeline.self) { _, _ in
      continuation.yield()
      for await _ in silence.stream {}
      silence.continuation.finish()
      throw BusError(.failed, "never")
    }
    _ = try await hanging.start()
    await keeper.awake(widget)
    _ = await asked.first { _ in true }
    await scene.bus.disconnect(widget)
    await keeper.ended(widget)
    let process = try await scene.startExtension("95 mg")
    await keeper.awake(widget)
    #expect(await scene.heard(TimelineStored.self)?.text == ["Coffee: 95 mg"])
    await process.leave()
  }

  @Test func `a reload that is owed outlives the host`() async throws {
    let scene = try Scene()
    let keeper = try await scene.host()
    try await scene.reload("Coffee")
    var first = keeper.intents.makeAsyncIterator()
    _ = await first.next()
    await scene.bus.disconnect(.host("iphone"))
    let second = try await scene.host()
    var intents = second.intents.makeAsyncIterator()
    #expect(await intents.next() == .wantAwake(widget, because: "timeline"))
  }

  @Test func `a reload that cannot be recorded is not acknowledged`() async throws {
    let scene = try Scene()
    let keeper = try await scene.host()
    var intents = keeper.intents.makeAsyncIterator()
    try await scene.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON reloads BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    let error = await #expect(throws: BusError.self) { try await scene.reload("Coffee") }
    #expect(error?.code == .failed)
    guard case .broken = await intents.next() else {
      Issue.record("the host goes on")
      return
    }
  }

  @Test(arguments: [30, 4])
  func `an extension that does not answer in time is halted, and the last timeline stays`(limit: Int) async throws {
    let scene = try Scene()
    let keeper = try await scene.host(limit: Double(limit))
    var intents = keeper.intents.makeAsyncIterator()
    try await keeper.learned(widget, kinds: ["Coffee"])
    try await scene.reload("Coffee")
    let process = try await scene.startExtension("95 mg")
    await keeper.awake(widget)
    _ = await scene.heard(TimelineStored.self)
    await scene.bus.disconnect(widget)
    let hanging = scene.bus.connection(widget)
    let silence = AsyncStream.makeStream(of: Void.self)
    hanging.onRequest(RequestTimeline.self) { _, _ in
      for await _ in silence.stream {}
      silence.continuation.finish()
      throw BusError(.failed, "never")
    }
    _ = try await hanging.start()
    try await scene.reload("Coffee")
    await keeper.awake(widget)
    await scene.clock.whenSomebodySleeps(within: Double(limit))
    scene.clock.advance(by: Double(limit))
    #expect(await scene.heard(ReloadFailed.self)?.reason.hasPrefix("no timeline within \(limit) s") == true)
    while let intent = await intents.next(), intent != .halt(widget, because: "timeline") {}
    #expect(try await keeper.status().map(\.text) == [["Coffee: 95 mg"]])
    await process.leave()
    await hanging.leave()
  }
}
