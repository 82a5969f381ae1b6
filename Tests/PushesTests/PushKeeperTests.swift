import Archive
import Conversations
import Foundation
import GRDB
import MessageBus
import Synchronization
import Testing
import Timekeeping

@testable import Pushes

/// A keeper on a bus in memory, with a push server and authors that do what a test says.
private struct Scene {
  let bus = InMemoryBus()
  let database: DatabaseQueue
  private let kept = Kept()

  init() throws { database = try DatabaseQueue() }

  /// A life of the host, whose extension has one widget placed.
  func host(_ widgets: [String: PushWidgets] = widgets([1]), isOnline: Bool = true) async throws -> PushKeeper {
    let connection = kept.connection(.host(device), bus)
    let keeper = try PushKeeper(
      device: device, products: products(), hasWidgetPushes: true, database: database, bus: connection,
      clock: HeldClock(), deadline: .seconds(3600))
    connection.onEvent(DeliverPush.self) { event, _ in try await keeper.received(event.notification) }
    connection.onEvent(TokenReplaced.self) { event, _ in try await keeper.replaced(event) }
    connection.onRequest(AskPushInfo.self) { _, from in await keeper.info(from) }
    connection.onRequest(RegisterForPushes.self) { request, from in try await keeper.register(request, from) }
    _ = try await connection.start()
    await keeper.begin(widgets, reloads: [], isOnline: isOnline)
    return keeper
  }

  /// A push server that gives out these tokens, one after the other.
  func pushServer(_ tokens: String...) async throws -> Connection {
    let connection = kept.connection(.pushServer, bus)
    let left = Left(tokens)
    connection.onRequest(IssueToken.self) { _, _ in IssueToken.Reply(token: await left.next()) }
    connection.onRequest(ReleaseToken.self) { _, _ in Done() }
    connection.onEvent(PushProgress.self) { _, _ in }
    _ = try await connection.start()
    return connection
  }

  /// An extension or an app that takes what it is told.
  func author(_ address: Address = widget) async throws -> Connection {
    let connection = kept.connection(address, bus)
    connection.onRequest(TellPushHandlers.self) { _, _ in TellPushHandlers.Reply(handlers: ["Handler"]) }
    connection.onEvent(AppTokenChanged.self) { _, _ in }
    connection.onRequest(ReceiveNotification.self) { _, _ in ReceiveNotification.Reply(result: .newData) }
    _ = try await connection.start()
    return connection
  }

  /// The n-th of a kind, of the past or to come.
  func heard<C: Conversation>(_ type: C.Type, _ number: Int = 1) async -> C? {
    var count = 0
    for await envelope in await bus.watch() where envelope.header.kind == C.kind {
      count += 1
      if count == number { return try? BodyCoding.decode(C.self, from: envelope.body) }
    }
    return nil
  }

  /// All of a kind that was said so far.
  func said<C: Conversation>(_ type: C.Type) async -> [C] {
    await bus.said.filter { $0.header.kind == C.kind }
      .compactMap { try? BodyCoding.decode(C.self, from: $0.body) }
  }
}

/// The connections of a scene, which live as long as it does: the bus holds none, and what is said to one that nobody
/// holds is lost.
private final class Kept: Sendable {
  private let connections = Mutex<[Connection]>([])

  func connection(_ address: Address, _ bus: InMemoryBus) -> Connection {
    let connection = bus.connection(address)
    connections.withLock { $0.append(connection) }
    return connection
  }
}

private actor Left {
  private var tokens: [String]
  init(_ tokens: [String]) { self.tokens = tokens }
  func next() -> String { tokens.count > 1 ? tokens.removeFirst() : tokens[0] }
}

/// The first intent that fits.
private func first(_ keeper: PushKeeper, where fits: (PushIntent) -> Bool) async -> PushIntent? {
  for await intent in keeper.intents where fits(intent) { return intent }
  return nil
}

@Suite(.timeLimit(.minutes(1))) struct `the keeper of pushes` {
  @Test func `asks for the token, has the extension launched for its handlers, and calls them once`() async throws {
    let scene = try Scene()
    _ = try await scene.pushServer("aa")
    let keeper = try await scene.host()
    #expect(await first(keeper) { $0 != .broken("") } == .wantAwake(widget, because: TokenDecision.assertion))
    _ = try await scene.author()
    await keeper.awake(widget)
    let call = await scene.heard(TellPushHandlers.self)
    #expect(call?.token == "aa")
    #expect(call?.widgets == [placement(1)])
    #expect(await first(keeper) { $0 != .broken("") } == .release(widget, because: TokenDecision.assertion))
    await keeper.awake(widget)
    #expect(await scene.said(TellPushHandlers.self).count == 1)
  }

  @Test func `waits for a push server that is not there, and goes on when it comes`() async throws {
    let scene = try Scene()
    let keeper = try await scene.host()
    _ = await scene.heard(IssueToken.self)
    _ = try await scene.pushServer("aa")
    #expect(await first(keeper) { $0 != .broken("") } == .wantAwake(widget, because: TokenDecision.assertion))
    withExtendedLifetime(scene) {}
  }

  @Test func `asks for nothing without a network`() async throws {
    let scene = try Scene()
    _ = try await scene.pushServer("aa")
    let keeper = try await scene.host(isOnline: false)
    await #expect(throws: BusError.self) { try await keeper.received(notification(1)) }
    #expect(await scene.said(IssueToken.self).isEmpty)
    await keeper.setOnline(true)
    #expect(await scene.heard(IssueToken.self)?.bundle == coffee)
  }

  @Test func `tells the push server each station in order, again when it comes, and forgets what it has`()
    async throws
  {
    let scene = try Scene()
    let keeper = try await scene.host()
    try await keeper.received(notification(1, .widgets, "{}"))
    try await keeper.received(notification(2, .background, "{}"))
    _ = await scene.heard(PushProgress.self, 2)
    _ = try await scene.pushServer("aa")
    // What was acknowledged is forgotten.
    let left = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM pushStations") ?? 0 }
    for try await count in left.values(in: scene.database) where count == 0 { break }
    let names = await scene.said(PushProgress.self).map(\.station.name)
    #expect(names.suffix(2) == [.noContentChanged, .discarded])
  }

  @Test func `takes a notification once, also after its own death`() async throws {
    let scene = try Scene()
    let first = try await scene.host()
    try await first.received(notification(1))
    #expect(await first.begin(.push(1)) == [1])
    for outcome in [ReloadOutcome.owed, .stored] {
      await first.reported(PlacementReport(push: .push(1), placement: 1, outcome: outcome))
    }
    try await first.received(notification(1))
    #expect(await first.notifications.open.isEmpty)
    let second = try await scene.host()
    try await second.received(notification(1))
    #expect(await second.notifications.open.isEmpty)
  }

  @Test func `does not take a notification whose expiration passed on its way, but one that was late from the start`()
    async throws
  {
    let scene = try Scene()
    let keeper = try await scene.host()
    let past = Date(timeIntervalSinceNow: -60)
    let late = notification(1, acceptedAt: past - 60, expiration: past)
    let refusal = BusError(.expired, "its expiration passed before it came")
    await #expect(throws: refusal) { try await keeper.received(late) }
    // It is attempted once all the same.
    try await keeper.received(notification(2, acceptedAt: past, expiration: past))
    try await keeper.received(notification(3, acceptedAt: past, expiration: past + 3_600))
    #expect(await keeper.notifications.open.map(\.id).contains(.push(1)) == false)
    #expect(await keeper.begin(.push(3)) == [1])
  }

  @Test func `takes notifications that come together once each, and the newest counts`() async throws {
    let scene = try Scene()
    _ = try await scene.pushServer("aa")
    let keeper = try await scene.host()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...100 {
        for _ in 0..<2 { group.addTask { try await keeper.received(notification(number)) } }
      }
      try await group.waitForAll()
    }
    let open = await keeper.notifications.open
    #expect(open.count == 1)
    let taken = try await scene.database.read {
      try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM takenPushes") ?? 0
    }
    #expect(taken == 100)
    _ = await scene.heard(PushProgress.self, 99)
    let said = await scene.said(PushProgress.self)
    #expect(Set(said.map(\.uniqueID)).count == 99 && said.allSatisfy { $0.station.name == .supersededOnDevice })
    let again = try await scene.host()
    #expect(await again.notifications.open.map(\.id) == open.map(\.id))
  }

  @Test func `goes on in its next life with a push that it had on disk`() async throws {
    let scene = try Scene()
    let former = try await scene.host()
    try await former.received(notification(1))
    let keeper = try await scene.host()
    #expect(await first(keeper) { $0 == .reload(.push(1)) } != nil)
    #expect(await keeper.begin(.push(1)) == [1])
  }

  @Test func `answers an app that registers when there is a token`() async throws {
    let scene = try Scene()
    _ = try await scene.host([:])
    let author = try await scene.author(app)
    async let reply = author.request(RegisterForPushes(), to: .host(device))
    _ = await scene.heard(IssueToken.self)
    _ = try await scene.pushServer("cc")
    #expect(try await reply.token == "cc")
    let known = try await author.request(RegisterForPushes(.ask), to: .host(device))
    #expect(known.token == "cc")
    let none = try await author.request(RegisterForPushes(.unregister), to: .host(device))
    #expect(none.token == nil)
    #expect(await scene.heard(ReleaseToken.self)?.use == .app)
  }

  @Test func `tells a process that lives of another token of the app`() async throws {
    let scene = try Scene()
    let server = try await scene.pushServer("cc")
    _ = try await scene.host([:])
    let author = try await scene.author(app)
    _ = try await author.request(RegisterForPushes(), to: .host(device))
    try await server.deliver(TokenReplaced(bundle: coffee, use: .app, token: "dd"), to: .host(device))
    #expect(await scene.heard(AppTokenChanged.self)?.token == "dd")
  }

  @Test func `hands a background push to the app that was woken, and says with what it completed`() async throws {
    let scene = try Scene()
    let server = try await scene.pushServer("cc")
    let keeper = try await scene.host([:])
    _ = try await scene.author(app)
    let push = notification(1, .background, #"{"aps":{"content-available":1}}"#)
    try await server.deliver(DeliverPush(notification: push), to: .host(device))
    #expect(await first(keeper) { $0 != .broken("") } == .handOver(.push(1), to: app, wakes: true))
    await keeper.expect(.push(1))
    await keeper.awake(app)
    #expect(await scene.heard(ReceiveNotification.self)?.payload == push.payload)
    let progress = await scene.heard(PushProgress.self)
    #expect(progress?.station.name == .handled)
    #expect(progress?.station.detail == "newData")
  }

  @Test func `gives the token as push info while it has one`() async throws {
    let scene = try Scene()
    _ = try await scene.pushServer("aa")
    let keeper = try await scene.host()
    _ = await first(keeper) { $0 != .broken("") }
    let author = try await scene.author()
    #expect(try await author.request(AskPushInfo(), to: .host(device)).token == "aa")
    await keeper.know(widgets([]))
    #expect(try await author.request(AskPushInfo(), to: .host(device)).token == nil)
  }
}
