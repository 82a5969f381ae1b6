// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Stores
import Synchronization
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let app = PushSamples.app
private let widget = PushSamples.widget

/// A push service on an in-memory bus, with a push server and author processes that the test controls.
private struct PushServiceFixture {
  let bus = InMemoryBus()
  let database: DatabaseQueue
  private let keptConnections = Kept()

  init() throws { database = try DatabaseQueue() }

  /// Starts a host process whose extension has one placed widget.
  func host(
    _ widgets: [String: PushWidgets] = widgets([1]), activities: Set<TokenKey> = [], isOnline: Bool = true
  ) async throws -> PushService {
    let connection = keptConnections.connection(.host(device), bus)
    let storedState = try PushService.Stored(
      DeviceTransactions(immediate: database), device: device, products: products(), hasWidgetPushes: true)
    let state = DeviceStateMachine {
      $0.launching = LaunchStateMachine(agents: [app: .agent(device, 1), widget: .agent(device, 1)], suspendAfter: 1)
      $0.apps = AppLifecycleStateMachine(apps: [InstalledApp(address: app, extensions: [widget])])
      $0.tokens = storedState.tokens
      $0.notifications = storedState.notifications
    }
    let lone = await LoneDevice(state, clock: ManualClock())
    let service = PushService(storedState, core: lone.core, bus: connection, deadline: .seconds(3600))
    await lone.core.connect(service)
    connection.onEvent(DeliverPush.self) { event, _ in try await service.received(event.notification) }
    connection.onEvent(TokenReplaced.self) { event, _ in
      try await service.core.record(.tokens(.replaced(TokenKey(event.bundle, event.use), event.token)))
    }
    connection.onRequest(AskPushInfo.self) { _, from in await service.info(from) }
    connection.onRequest(RegisterForPushes.self) { request, from in try await service.register(request, from) }
    _ = try await connection.start()
    await service.begin(widgets, reloads: [], activities: activities, isOnline: isOnline)
    return service
  }

  /// Starts a push server that issues these tokens in order.
  func pushServer(_ tokens: String...) async throws -> Connection {
    let connection = keptConnections.connection(.pushServer, bus)
    let left = Left(tokens)
    connection.onRequest(IssueToken.self) { _, _ in IssueToken.Reply(token: await left.next()) }
    connection.onRequest(ReleaseToken.self) { _, _ in Done() }
    connection.onEvent(PushProgress.self) { _, _ in }
    _ = try await connection.start()
    return connection
  }

  /// Starts an extension or an app that accepts all messages.
  func author(_ address: Address = widget) async throws -> Connection {
    let connection = keptConnections.connection(address, bus)
    connection.onRequest(TellPushHandlers.self) { _, _ in TellPushHandlers.Reply(handlers: ["Handler"]) }
    connection.onRequest(TellControlPushHandlers.self) { _, _ in TellPushHandlers.Reply(handlers: ["Doors"]) }
    connection.onEvent(AppTokenChanged.self) { _, _ in }
    connection.onRequest(ReceiveNotification.self) { _, _ in ReceiveNotification.Reply(result: .newData) }
    _ = try await connection.start()
    return connection
  }

  /// Waits for the n-th message of a type and returns it. Past messages count.
  func received<C: Message>(_ type: C.Type, _ number: Int = 1) async -> C? {
    var count = 0
    for await envelope in await bus.watch() where envelope.header.kind == C.kind {
      count += 1
      if count == number { return try? BodyCoding.decode(C.self, from: envelope.body) }
    }
    return nil
  }

  /// Returns all messages of a type that were sent so far.
  func sent<C: Message>(_ type: C.Type) async -> [C] {
    await bus.sentEnvelopes.filter { $0.header.kind == C.kind }
      .compactMap { try? BodyCoding.decode(C.self, from: $0.body) }
  }
}

extension PushService {
  fileprivate func awake(_ address: Address) {
    core.handle(.asked(.awake(address, ProcessInstance(generation: 1, pid: 1), woken: true)))
  }

  fileprivate func ended(_ address: Address) {
    core.handle(.asked(.ended(address, ProcessInstance(generation: 1, pid: 1), .exited(code: 0))))
  }

  fileprivate func reported(_ report: PlacementReloadReport) { core.handle(.asked(.reported(report))) }
}

/// The connections of a fixture, retained as long as the fixture: the bus retains none, and messages to a deallocated
/// connection are lost.
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

/// Waits for the first matching request and returns it.
private func firstRequest(of service: PushService, where fits: (DeviceRequest) -> Bool) async -> DeviceRequest? {
  for await request in LoneDevice.of(service.core).requests where fits(request) { return request }
  return nil
}

/// Waits for the next process action and returns it.
private func processAction(of service: PushService) async -> ProcessAction? {
  var actions = LoneDevice.of(service.core).processes.makeAsyncIterator()
  return await actions.next()
}

@Suite(.timeLimit(.minutes(1))) struct `Push service` {
  @Test
  func `the push service requests the token, has the extension launched and calls its handlers once`() async throws {
    let fixture = try PushServiceFixture()
    _ = try await fixture.pushServer("aa")
    let service = try await fixture.host()
    #expect(await processAction(of: service) == .want(widget, because: TokenStateMachine.assertion))
    _ = try await fixture.author()
    await service.awake(widget)
    let call = await fixture.received(TellPushHandlers.self)
    #expect(call?.token == "aa")
    #expect(call?.widgets == [placement(1)])
    #expect(await processAction(of: service) == .release(widget, because: TokenStateMachine.assertion))
    await service.awake(widget)
    #expect(await fixture.sent(TellPushHandlers.self).count == 1)
  }

  @Test(.rule("CONTROL-09", "CONTROL-10"))
  func `the push service requests a token for each control, and calls the control push handlers once`() async throws {
    let fixture = try PushServiceFixture()
    _ = try await fixture.pushServer("aa")
    let service = try await fixture.host(controls([3]))
    #expect(await processAction(of: service) == .want(widget, because: TokenStateMachine.assertion))
    _ = try await fixture.author()
    await service.awake(widget)
    let call = await fixture.received(TellControlPushHandlers.self)
    #expect(call?.controls.map(\.placement.id) == [3])
    #expect(call?.controls.map(\.token) == ["aa"])
    #expect(await fixture.received(IssueToken.self)?.use == .control(3))
    #expect(await processAction(of: service) == .release(widget, because: TokenStateMachine.assertion))
    #expect(await fixture.sent(TellPushHandlers.self).isEmpty)
  }

  @Test func `the push service waits for an absent push server and continues when it connects`() async throws {
    let fixture = try PushServiceFixture()
    let service = try await fixture.host()
    _ = await fixture.received(IssueToken.self)
    _ = try await fixture.pushServer("aa")
    #expect(await processAction(of: service) == .want(widget, because: TokenStateMachine.assertion))
    withExtendedLifetime(fixture) {}
  }

  @Test(.rule("PUSH-17"))
  func `the push service requests no token without a network`() async throws {
    let fixture = try PushServiceFixture()
    _ = try await fixture.pushServer("aa")
    let service = try await fixture.host(isOnline: false)
    #expect(await fixture.sent(IssueToken.self).isEmpty)
    await service.setOnline(true)
    #expect(await fixture.received(IssueToken.self)?.bundle == coffee)
  }

  @Test func `push progress is reported in order to a push server that connects later, and deleted when acknowledged`()
    async throws
  {
    let fixture = try PushServiceFixture()
    let service = try await fixture.host()
    try await service.received(notification(1, type: .widgets, payload: "{}"))
    try await service.received(notification(2, type: .background, payload: "{}"))
    _ = await fixture.received(PushProgress.self, 2)
    _ = try await fixture.pushServer("aa")
    // Acknowledged progress is deleted.
    let left = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM pushSteps") ?? 0 }
    for try await count in left.values(in: fixture.database) where count == 0 { break }
    let names = await fixture.sent(PushProgress.self).map(\.step.name)
    #expect(names.suffix(2) == [.noContentChanged, .discarded])
  }

  @Test(.rule("PUSH-15"))
  func `the push service accepts a notification once, also across a host restart`() async throws {
    #expect(TakenNotifications.remembered == 20_000)
    let fixture = try PushServiceFixture()
    let first = try await fixture.host()
    try await first.received(notification(1))
    #expect(await firstRequest(of: first) { $0 == .reload(.push(1), placements: [1]) } != nil)
    for outcome in [ReloadOutcome.pending, .stored] {
      await first.reported(PlacementReloadReport(push: .push(1), placement: 1, outcome: outcome))
    }
    try await first.received(notification(1))
    #expect(await first.notifications.open.isEmpty)
    let second = try await fixture.host()
    try await second.received(notification(1))
    #expect(await second.notifications.open.isEmpty)
  }

  @Test(.rule("APNS-26"))
  func `a notification that expires in transit is refused, unless it was expired when it was accepted`()
    async throws
  {
    let fixture = try PushServiceFixture()
    let service = try await fixture.host()
    let past = Date(timeIntervalSinceNow: -60)
    let late = notification(1, acceptedAt: past - 60, expiration: past)
    let refusal = BusError(.expired, "its expiration passed before it arrived")
    await #expect(throws: refusal) { try await service.received(late) }
    // It is still attempted once.
    try await service.received(notification(2, acceptedAt: past, expiration: past))
    try await service.received(notification(3, acceptedAt: past, expiration: past + 3_600))
    #expect(await service.notifications.open.map(\.id).contains(.push(1)) == false)
    #expect(await firstRequest(of: service) { $0 == .reload(.push(3), placements: [1]) } != nil)
  }

  @Test(.rule("PUSH-15"))
  func `concurrent notifications are accepted once each, and the newest supersedes the others`() async throws {
    let fixture = try PushServiceFixture()
    _ = try await fixture.pushServer("aa")
    let service = try await fixture.host()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...100 {
        for _ in 0..<2 { group.addTask { try await service.received(notification(number)) } }
      }
      try await group.waitForAll()
    }
    let open = await service.notifications.open
    #expect(open.count == 1)
    let takenIDs = try await fixture.database.read {
      try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM takenPushes") ?? 0
    }
    #expect(takenIDs == 100)
    _ = await fixture.received(PushProgress.self, 99)
    let sent = await fixture.sent(PushProgress.self)
    #expect(Set(sent.map(\.uniqueID)).count == 99 && sent.allSatisfy { $0.step.name == .supersededOnDevice })
    let again = try await fixture.host()
    #expect(await again.notifications.open.map(\.id) == open.map(\.id))
  }

  @Test func `a stored push continues after a host restart`() async throws {
    let fixture = try PushServiceFixture()
    let former = try await fixture.host()
    try await former.received(notification(1))
    let service = try await fixture.host()
    #expect(await firstRequest(of: service) { $0 == .reload(.push(1), placements: [1]) } != nil)
  }

  @Test func `the tokens of widgets and Live Activities are kept when the host starts again`() async throws {
    let fixture = try PushServiceFixture()
    let activities: Set = [TokenKey(coffee, .liveActivity(1)), TokenKey(coffee, .liveActivityStarts("Ride"))]
    let formerHost = try await fixture.host(activities: activities)
    _ = try await fixture.pushServer("aa", "bb", "cc")
    _ = await fixture.received(IssueToken.self, 3)
    while await formerHost.tokens.state.tokens.values.contains(where: { $0.phase != .held }) {
      try Task.checkCancellation()
      await Task.yield()
    }
    let service = try await fixture.host(activities: activities)
    #expect(await service.tokens.state == formerHost.tokens.state)
    await service.core.handle(.tokens(.activities([])))
    #expect(await fixture.received(ReleaseToken.self) != nil)
  }

  @Test func `an app that registers receives its reply when the token is issued`() async throws {
    let fixture = try PushServiceFixture()
    _ = try await fixture.host([:])
    let author = try await fixture.author(app)
    async let reply = author.request(RegisterForPushes(), to: .host(device))
    _ = await fixture.received(IssueToken.self)
    _ = try await fixture.pushServer("cc")
    #expect(try await reply.token == "cc")
    let known = try await author.request(RegisterForPushes(.ask), to: .host(device))
    #expect(known.token == "cc")
    let none = try await author.request(RegisterForPushes(.unregister), to: .host(device))
    #expect(none.token == nil)
    #expect(await fixture.received(ReleaseToken.self)?.use == .app)
  }

  @Test func `a running app receives its replaced token`() async throws {
    let fixture = try PushServiceFixture()
    let server = try await fixture.pushServer("cc")
    _ = try await fixture.host([:])
    let author = try await fixture.author(app)
    _ = try await author.request(RegisterForPushes(), to: .host(device))
    try await server.deliver(TokenReplaced(bundle: coffee, use: .app, token: "dd"), to: .host(device))
    #expect(await fixture.received(AppTokenChanged.self)?.token == "dd")
  }

  @Test func `a background push is delivered to the woken app, and its completion result is reported`() async throws {
    let fixture = try PushServiceFixture()
    let server = try await fixture.pushServer("cc")
    let service = try await fixture.host([:])
    _ = try await fixture.author(app)
    let push = notification(1, type: .background, payload: #"{"aps":{"content-available":1}}"#)
    try await server.deliver(DeliverPush(notification: push), to: .host(device))
    #expect(await firstRequest(of: service) { _ in true } == .offer(.push(1), to: app, wakes: true))
    await service.awake(app)
    #expect(await fixture.received(ReceiveNotification.self)?.payload == push.payload)
    let progress = await fixture.received(PushProgress.self)
    #expect(progress?.step.name == .handled)
    #expect(progress?.step.detail == "newData")
  }

  @Test func `an ended push service has no running task, and the next instance does the rest`() async throws {
    let fixture = try PushServiceFixture()
    let service = try await fixture.host()
    try await service.received(notification(1))
    let author = try await fixture.author(app)
    async let reply = author.request(
      RegisterForPushes(), to: .host(device), within: .seconds(3600), whenUnreachable: .wait)
    _ = await fixture.received(RegisterForPushes.self)
    _ = await fixture.received(IssueToken.self, 2)
    await service.leave()
    #expect(await service.tasks.count == 0)
    let error = await #expect(throws: BusError.self) { try await service.received(notification(2)) }
    #expect(error?.code == .closed)
    await fixture.bus.disconnect(.host(device))
    _ = try await fixture.pushServer("aa")
    let next = try await fixture.host()
    #expect(try await reply.token == "aa")
    #expect(await next.notifications.open.map(\.id) == [.push(1)])
  }

  @Test func `push info has the token only while a widget is placed`() async throws {
    let fixture = try PushServiceFixture()
    _ = try await fixture.pushServer("aa")
    let service = try await fixture.host()
    _ = await processAction(of: service)
    let author = try await fixture.author()
    #expect(try await author.request(AskPushInfo(), to: .host(device)).token == "aa")
    await service.core.handle(.pushWidgets(widgets([])))
    #expect(try await author.request(AskPushInfo(), to: .host(device)).token == nil)
  }
}
