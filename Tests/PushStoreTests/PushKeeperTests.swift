import Conversations
import Foundation
import GRDB
import MessageBus
import Testing
import Timekeeping

@testable import PushStore

private let host = Address.host("iphone")
private let bundle = "com.example.A"
private let widgets = PushSubject(device: "iphone", bundle: bundle, use: .widgets)

/// A push server without a front, on a bus in memory, and a device.
private struct Scene {
  let bus = InMemoryBus()
  let database: DatabaseQueue
  let clock = HeldClock()

  init() throws { database = try DatabaseQueue() }

  /// A life of the push server.
  func server(_ settings: PushSettings = PushSettings()) async throws -> (keeper: PushKeeper, line: Connection) {
    let line = bus.connection(.pushServer)
    let keeper = try PushKeeper(database: database, bus: line, clock: clock, settings: settings) { reason in
      Issue.record("broken: \(reason)")
    }
    keeper.listen()
    _ = try await line.start()
    await keeper.begin()
    return (keeper, line)
  }

  /// A device that tells of what arrives, and acknowledges it.
  func device(online: Bool = true) async throws -> (line: Connection, delivered: AsyncStream<PushedNotification>) {
    let line = bus.connection(host)
    let (stream, continuation) = AsyncStream.makeStream(of: PushedNotification.self)
    line.onEvent(DeliverPush.self) { event, _ in continuation.yield(event.notification) }
    line.onEvent(TokenReplaced.self) { _, _ in }
    _ = try await line.start()
    try await line.deliver(DeviceReach(isOnline: online, isAwake: true), to: .pushServer)
    return (line, stream)
  }

  func token(_ line: Connection, _ use: PushTokenUse = .widgets) async throws -> String {
    let issue = IssueToken(bundle: bundle, use: use, environment: .development)
    return try await line.request(issue, to: .pushServer).token
  }

  func accept(_ keeper: PushKeeper, _ token: String, expiration: Date? = nil) async throws -> UUID {
    let arrival = arrival(token, expiration: expiration)
    let promise = await withCheckedContinuation { continuation in
      keeper.take(arrival) { continuation.resume(returning: $0) }
    }
    #expect(promise == .kept)
    return arrival.uniqueID
  }

  func arrival(_ token: String, expiration: Date? = nil) -> PushArrival {
    let id = UUID()
    let notification = PushedNotification(
      uniqueID: id, apnsID: id.uuidString, subject: widgets, type: .widgets, priority: 10, collapseID: nil,
      payload: #"{"aps":{"content-changed":true}}"#, acceptedAt: clock.now, expiration: expiration, isFromStorage: false
    )
    return PushArrival(
      uniqueID: id, apnsID: id.uuidString, subject: widgets, token: token, type: "widgets",
      verdict: .accepted(notification, remark: nil))
  }

  func stations(_ keeper: PushKeeper, _ id: UUID) async throws -> [PushStation.Name] {
    try await keeper.page(ListPushes(uniqueID: id)).pushes.first?.stations.map(\.name) ?? []
  }

  /// Returns when a notification has reached this station.
  func reached(_ name: PushStation.Name, _ id: UUID) async {
    _ = await bus.first { envelope in
      guard envelope.header.kind == PushLogged.kind else { return false }
      let logged = try? BodyCoding.decode(PushLogged.self, from: envelope.body)
      return logged?.uniqueID == id && logged?.station.name == name
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct `the keeper of the push server` {
  @Test func `what is accepted is delivered once, and the log has every station`() async throws {
    let scene = try Scene()
    let (keeper, _) = try await scene.server()
    let (line, delivered) = try await scene.device()
    let token = try await scene.token(line)
    let id = try await scene.accept(keeper, token)
    var arrivals = delivered.makeAsyncIterator()
    #expect(await arrivals.next()?.uniqueID == id)
    await scene.reached(.delivered, id)
    let progress = PushProgress(
      uniqueID: id, station: PushStation(.reloaded, at: scene.clock.now, detail: "placement 1"))
    try await line.deliver(progress, to: .pushServer)
    try await line.deliver(progress, to: .pushServer)
    #expect(try await scene.stations(keeper, id) == [.accepted, .sent, .delivered, .reloaded])
    #expect(await keeper.count == 0)
  }

  @Test func `what a life accepted and did not deliver, the next one delivers, with its tokens and its log`()
    async throws
  {
    let scene = try Scene()
    let token: String
    let id: UUID
    do {
      let (keeper, line) = try await scene.server()
      let (device, _) = try await scene.device(online: false)
      token = try await scene.token(device)
      id = try await scene.accept(keeper, token)
      #expect(try await scene.stations(keeper, id) == [.accepted, .storedOffline])
      await device.leave()
      await line.leave()
    }
    let (keeper, _) = try await scene.server()
    #expect(keeper.tokens[token]?.state == .active)
    let (line, delivered) = try await scene.device()
    var arrivals = delivered.makeAsyncIterator()
    let arrived = await arrivals.next()
    #expect(arrived?.uniqueID == id && arrived?.isFromStorage == true)
    await scene.reached(.delivered, id)
    #expect(try await scene.stations(keeper, id) == [.accepted, .storedOffline, .sent, .delivered])
    #expect(try await scene.token(line) == token)
  }

  @Test func `what was handed over and not acknowledged is handed over again under the same id`() async throws {
    let scene = try Scene()
    let id: UUID
    do {
      let (keeper, server) = try await scene.server()
      let line = scene.bus.connection(host)
      let (stream, continuation) = AsyncStream.makeStream(of: UUID.self)
      line.onEvent(DeliverPush.self) { event, from in
        continuation.yield(from.id)
        // The device dies before it is on its disk.
        try await Task.sleep(for: .seconds(1_000))
      }
      _ = try await line.start()
      try await line.deliver(DeviceReach(isOnline: true, isAwake: true), to: .pushServer)
      let token = try await scene.token(line)
      id = try await scene.accept(keeper, token)
      var envelopes = stream.makeAsyncIterator()
      #expect(await envelopes.next() == id, "the envelope has the notification's id")
      await server.leave()
      await line.leave()
    }
    let (keeper, _) = try await scene.server()
    let (line, delivered) = try await scene.device()
    var arrivals = delivered.makeAsyncIterator()
    #expect(await arrivals.next()?.uniqueID == id)
    await scene.reached(.delivered, id)
    #expect(try await scene.stations(keeper, id) == [.accepted, .sent, .sent, .delivered])
    // The bus holds no connection.
    withExtendedLifetime(line) {}
  }

  @Test func `a rotated token is 410 for providers, and its device is told until it has heard`() async throws {
    let scene = try Scene()
    let token: String
    let tool = scene.bus.connection(.operator("1"))
    _ = try await tool.start()
    let changed: [DeviceToken]
    do {
      let (keeper, server) = try await scene.server()
      let (line, _) = try await scene.device()
      token = try await scene.token(line)
      await line.leave()
      changed = try await tool.request(ChangeToken(subject: widgets, change: .rotate), to: .pushServer).tokens
      #expect(changed.map(\.state) == [.unregistered, .active])
      #expect(keeper.tokens[token]?.state == .unregistered)
      await server.leave()
    }
    let (later, _) = try await scene.server()
    let line = scene.bus.connection(host)
    let (stream, continuation) = AsyncStream.makeStream(of: TokenReplaced.self)
    line.onEvent(TokenReplaced.self) { event, _ in continuation.yield(event) }
    _ = try await line.start()
    try await line.deliver(DeviceReach(isOnline: true, isAwake: true), to: .pushServer)
    var events = stream.makeAsyncIterator()
    #expect(await events.next()?.token == changed.last?.token)
    #expect(try await scene.token(line) == changed.last?.token)
    #expect(later.tokens[token]?.state == .unregistered)
    await #expect(throws: BusError.self) {
      try await tool.request(
        ChangeToken(subject: PushSubject(device: "ipad", bundle: bundle, use: .app), change: .expire), to: .pushServer)
    }
  }

  @Test func `what waits for its device is forgotten when its time has come`() async throws {
    let scene = try Scene()
    let (keeper, _) = try await scene.server()
    let (line, _) = try await scene.device(online: false)
    let token = try await scene.token(line)
    let id = try await scene.accept(keeper, token, expiration: scene.clock.now.addingTimeInterval(60))
    await keeper.caughtUp()
    scene.clock.advance(by: 61)
    await scene.reached(.expired, id)
    #expect(try await scene.stations(keeper, id) == [.accepted, .storedOffline, .expired])
  }

  @Test func `many requests at once share transactions, and all of them are on disk`() async throws {
    let scene = try Scene()
    let (keeper, _) = try await scene.server()
    let (line, _) = try await scene.device(online: false)
    let token = try await scene.token(line)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2_000 {
        group.addTask {
          await withCheckedContinuation { done in keeper.take(scene.arrival(token)) { _ in done.resume() } }
        }
      }
    }
    let page = try await keeper.page(ListPushes(limit: 1))
    #expect(page.count == 2_000)
    let kept = try await scene.database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM kept") }
    #expect(kept == 1, "one is stored of a subject")
  }

  @Test func `a request over the bound is turned away and leaves nothing`() async throws {
    let scene = try Scene()
    var settings = PushSettings()
    settings.queueLimit = 0
    let (keeper, _) = try await scene.server(settings)
    let (line, _) = try await scene.device()
    let token = try await scene.token(line)
    let promise = await withCheckedContinuation { continuation in
      keeper.take(scene.arrival(token)) { continuation.resume(returning: $0) }
    }
    #expect(promise == .full)
    #expect(try await keeper.page(ListPushes()).count == 0)
  }

  @Test func `the log keeps the newest, and what is not delivered yet`() async throws {
    let scene = try Scene()
    var settings = PushSettings()
    settings.logLimit = 100
    let (keeper, _) = try await scene.server(settings)
    let (line, _) = try await scene.device(online: false)
    let token = try await scene.token(line)
    let first = try await scene.accept(keeper, token)
    for index in 0..<500 {
      let refused = PushArrival(
        uniqueID: UUID(), apnsID: "\(index)", subject: nil, token: "00", type: nil,
        verdict: .refused(status: 400, reason: "BadDeviceToken", explanation: "it is not known"))
      keeper.take(refused) { _ in }
      if index % 50 == 0 { await keeper.caughtUp() }
    }
    let count = try await keeper.page(ListPushes(limit: 1)).count
    #expect((101...302).contains(count), "\(count)")
    #expect(try await scene.stations(keeper, first) == [.accepted, .storedOffline])
    let last = try await keeper.page(ListPushes(limit: 1)).pushes.last
    #expect(last?.apnsID == "499" && last?.stations.first?.detail == "BadDeviceToken: it is not known")
    let pages = try await keeper.page(ListPushes(after: 450, limit: 10)).pushes
    #expect(pages.map(\.number) == (451...460).map { Int64($0) })
  }

  @Test func `a token that ended a moment ago takes nothing any more, though the provider was answered 200`()
    async throws
  {
    let scene = try Scene()
    let (keeper, _) = try await scene.server()
    let (line, _) = try await scene.device()
    let token = try await scene.token(line)
    _ = try await line.request(ReleaseToken(bundle: bundle, use: .widgets), to: .pushServer)
    let id = try await scene.accept(keeper, token)
    #expect(try await scene.stations(keeper, id) == [.accepted, .tokenUnregistered])
    let next = try await scene.token(line)
    #expect(next != token)
  }
}

@Suite struct `lines of the journal` {
  @Test func `so many in a second, and again in the next`() {
    var share = JournalShare(rate: 2)
    let now = Date(timeIntervalSince1970: 10.25)
    let taken = [now, now, now, now + 0.8].map { share.takes(at: $0) }
    #expect(taken == [true, true, false, true])
  }
}
