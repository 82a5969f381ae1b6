// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Testing
import Timekeeping
import WidgetLabTesting

@testable import PushDelivery
@testable import PushRules

private let host = PushDeliveryFixture.host
private let bundle = PushDeliveryFixture.bundle
private let widgets = PushDeliveryFixture.widgets

@Suite(.timeLimit(.minutes(1)), .postgres) struct `The push delivery service` {
  @Test(arguments: PushStoreKind.all) func `an accepted notification is delivered once, and the log has all its steps`(
    _ kind: PushStoreKind
  ) async throws {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let (line, delivered) = try await fixture.device()
    let token = try await fixture.token(line)
    let id = try await fixture.accept(service, token)
    var arrivals = delivered.makeAsyncIterator()
    #expect(await arrivals.next()?.uniqueID == id)
    await fixture.reached(.delivered, id)
    let progress = PushProgress(
      uniqueID: id, step: PushStep(.reloaded, at: fixture.clock.now, detail: "placement 1"))
    try await line.deliver(progress, to: .pushServer)
    try await line.deliver(progress, to: .pushServer)
    #expect(try await fixture.steps(service, id) == [.accepted, .sent, .delivered, .reloaded])
    #expect(await service.stateMachine.count == 0)
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `a restarted push server delivers stored notifications and keeps its tokens and log`(_ kind: PushStoreKind)
    async throws
  {
    let fixture = try PushDeliveryFixture(kind)
    let token: String
    let id: UUID
    do {
      let (service, line) = try await fixture.server()
      let (device, _) = try await fixture.device(online: false)
      token = try await fixture.token(device)
      id = try await fixture.accept(service, token)
      #expect(try await fixture.steps(service, id) == [.accepted, .storedOffline])
      await device.leave()
      await line.leave()
    }
    let (service, _) = try await fixture.server()
    #expect(try service.tokens[token]?.state == .active)
    let (line, delivered) = try await fixture.device()
    var arrivals = delivered.makeAsyncIterator()
    let arrived = await arrivals.next()
    #expect(arrived?.uniqueID == id && arrived?.isFromStorage == true)
    await fixture.reached(.delivered, id)
    #expect(try await fixture.steps(service, id) == [.accepted, .storedOffline, .sent, .delivered])
    #expect(try await fixture.token(line) == token)
    await fixture.end()
  }

  @Test(.rule("APNS-30"), arguments: PushStoreKind.all)
  func `an unacknowledged notification is sent again with the same envelope id`(_ kind: PushStoreKind) async throws {
    let fixture = try PushDeliveryFixture(kind)
    let id: UUID
    do {
      let (service, server) = try await fixture.server()
      let line = fixture.bus.connection(host)
      let (stream, continuation) = AsyncStream.makeStream(of: UUID.self)
      line.onEvent(DeliverPush.self) { event, from in
        continuation.yield(from.id)
        // The device exits before the notification is on its disk.
        try await Task.sleep(for: .seconds(1_000))
      }
      _ = try await line.start()
      try await line.deliver(DeviceReach(isOnline: true, isAwake: true), to: .pushServer)
      let token = try await fixture.token(line)
      id = try await fixture.accept(service, token)
      var envelopes = stream.makeAsyncIterator()
      #expect(await envelopes.next() == id, "the envelope has the notification's id")
      await server.leave()
      await line.leave()
    }
    let (service, _) = try await fixture.server()
    let (line, delivered) = try await fixture.device()
    var arrivals = delivered.makeAsyncIterator()
    #expect(await arrivals.next()?.uniqueID == id)
    await fixture.reached(.delivered, id)
    #expect(try await fixture.steps(service, id) == [.accepted, .sent, .sent, .delivered])
    // The bus does not retain connections.
    withExtendedLifetime(line) {}
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `a rotated token is unregistered, and its device receives the new token also from a restarted server`(
    _ kind: PushStoreKind
  )
    async throws
  {
    let fixture = try PushDeliveryFixture(kind)
    let token: String
    let tool = fixture.bus.connection(.operator("1"))
    _ = try await tool.start()
    let changed: [DeviceToken]
    do {
      let (service, server) = try await fixture.server()
      let (line, _) = try await fixture.device()
      token = try await fixture.token(line)
      await line.leave()
      changed = try await tool.request(ChangeToken(subject: widgets, change: .rotate), to: .pushServer).tokens
      #expect(changed.map(\.state) == [.unregistered, .active])
      #expect(try service.tokens[token]?.state == .unregistered)
      await server.leave()
    }
    let (later, _) = try await fixture.server()
    let line = fixture.bus.connection(host)
    let (stream, continuation) = AsyncStream.makeStream(of: TokenReplaced.self)
    line.onEvent(TokenReplaced.self) { event, _ in continuation.yield(event) }
    _ = try await line.start()
    try await line.deliver(DeviceReach(isOnline: true, isAwake: true), to: .pushServer)
    var events = stream.makeAsyncIterator()
    #expect(await events.next()?.token == changed.last?.token)
    #expect(try await fixture.token(line) == changed.last?.token)
    #expect(try later.tokens[token]?.state == .unregistered)
    await #expect(throws: BusError.self) {
      try await tool.request(
        ChangeToken(subject: PushSubject(device: "ipad", bundle: bundle, use: .app), change: .expire), to: .pushServer)
    }
    await fixture.end()
  }

  @Test(.rule("APNS-22", "APNS-31"), arguments: PushStoreKind.all)
  func `the tokens and stored notifications of controls survive a restart of the push server`(_ kind: PushStoreKind)
    async throws
  {
    let fixture = try PushDeliveryFixture(kind)
    let (service, first) = try await fixture.server()
    let (line, delivered) = try await fixture.device(online: false)
    let tokens = try await [fixture.token(line, .control(1)), fixture.token(line, .control(2))]
    var ids: [UUID] = []
    for (number, token) in tokens.enumerated() {
      let control = PushSubject(device: "iphone", bundle: bundle, use: .control(number + 1))
      ids.append(try await fixture.accept(service, token, for: control))
    }
    await first.leave()
    let (later, _) = try await fixture.server()
    #expect(try await fixture.token(line, .control(2)) == tokens[1])
    #expect(try later.tokens[tokens[0]]?.subject.use == .control(1))
    try await line.deliver(DeviceReach(isOnline: true, isAwake: true), to: .pushServer)
    var arrived: Set<UUID> = []
    for await notification in delivered {
      arrived.insert(notification.uniqueID)
      if arrived.count == ids.count { break }
    }
    #expect(arrived == Set(ids))
    _ = try await line.request(ReleaseToken(bundle: bundle, use: .control(1)), to: .pushServer)
    #expect(try later.tokens[tokens[0]]?.state == .unregistered && later.tokens[tokens[1]]?.state == .active)
    await fixture.end()
  }

  @Test(.rule("APNS-25"), arguments: PushStoreKind.all)
  func `a notification that waits for its device is dropped at its expiration`(_ kind: PushStoreKind) async throws {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let (line, _) = try await fixture.device(online: false)
    let token = try await fixture.token(line)
    let id = try await fixture.accept(service, token, expiration: fixture.clock.now.addingTimeInterval(60))
    await service.caughtUp()
    fixture.clock.advance(by: 61)
    await fixture.reached(.expired, id)
    #expect(try await fixture.steps(service, id) == [.accepted, .storedOffline, .expired])
    await fixture.end()
  }

  @Test(.rule("APNS-23", "APNS-24"), arguments: PushStoreKind.all)
  func `many concurrent requests are all logged, and one notification is stored for their subject`(
    _ kind: PushStoreKind
  ) async throws {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let (line, _) = try await fixture.device(online: false)
    let token = try await fixture.token(line)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2_000 {
        group.addTask {
          await withCheckedContinuation { done in service.handle(fixture.arrival(token)) { _ in done.resume() } }
        }
      }
    }
    #expect(PushSettings().gathering == 0.003 && PushSettings().busy == 8)
    let page = try await service.page(ListPushes(limit: 1))
    #expect(page.count == 2_000)
    #expect(try await fixture.keptCount() == 1, "one notification is stored per subject")
    await fixture.end()
  }

  @Test func `an ended push delivery service has written what it accepted, and accepts nothing more`() async throws {
    let fixture = try PushDeliveryFixture()
    var settings = PushSettings()
    // The worker waits for a day after each transaction.
    (settings.busy, settings.gathering) = (0, 86_400)
    let (service, server) = try await fixture.server(settings)
    let (waitingReceipts, accepted) = AsyncStream.makeStream(of: PushReceipt.self)
    service.handle(fixture.arrival("unknown")) { accepted.yield($0) }
    await service.leave()
    #expect(service.tasks.count == 0)
    #expect(await waitingReceipts.first { _ in true } == .kept)
    service.handle(fixture.arrival("unknown")) { accepted.yield($0) }
    #expect(await waitingReceipts.first { _ in true } == .broken)
    #expect(try await service.page(ListPushes()).count == 1)
    await server.leave()
  }

  @Test(.rule("APNS-35"), arguments: [1, 3])
  func `a request above the queue limit is refused and not logged`(queueLimit: Int) async throws {
    let fixture = try PushDeliveryFixture()
    var settings = PushSettings()
    settings.queueLimit = queueLimit
    // The worker waits for a day after each transaction, so it takes the queue once before it is full, or not at all.
    (settings.busy, settings.gathering) = (0, 86_400)
    let (service, _) = try await fixture.server(settings)
    let (promises, promised) = AsyncStream.makeStream(of: PushReceipt.self)
    let sentCount = 2 * queueLimit + 2
    for _ in 1...sentCount { service.handle(fixture.arrival("unknown")) { promised.yield($0) } }
    await service.leave()
    promised.finish()
    let receipts = await promises.reduce(into: []) { $0.append($1) }
    let kept = receipts.count { $0 == .kept }
    #expect(receipts.count == sentCount && receipts.allSatisfy { $0 == .kept || $0 == .full })
    #expect((queueLimit...2 * queueLimit).contains(kept))
    #expect(try await service.page(ListPushes()).count == kept)
  }

  @Test(.rule("APNS-33"), arguments: [7 * 86_400.0, 3_600])
  func `the log keeps a request for as long as its setting says`(logAge: Double) async throws {
    let fixture = try PushDeliveryFixture()
    var settings = PushSettings()
    settings.logAge = logAge
    let (service, _) = try await fixture.server(settings)
    func refuse(_ id: String) async throws -> [String] {
      let refused = PushArrival(
        uniqueID: UUID(), apnsID: id, subject: nil, token: "00", type: nil,
        verdict: .refused(status: 400, reason: "BadDeviceToken", explanation: "unknown token"))
      service.handle(refused) { _ in }
      await service.caughtUp()
      return try await service.page(ListPushes()).pushes.map(\.apnsID)
    }
    #expect(try await refuse("old") == ["old"])
    fixture.clock.advance(by: logAge)
    #expect(try await refuse("new") == ["old", "new"])
    // The log is tidied once per hour.
    fixture.clock.advance(by: 3_600)
    #expect(try await refuse("newest") == ["new", "newest"])
  }

  @Test(.rule("APNS-33", "APNS-34"), arguments: [100, 350])
  func `the log keeps the newest requests and those that are not delivered yet`(logLimit: Int) async throws {
    let fixture = try PushDeliveryFixture()
    var settings = PushSettings()
    settings.logLimit = logLimit
    let (service, _) = try await fixture.server(settings)
    let (line, _) = try await fixture.device(online: false)
    let token = try await fixture.token(line)
    let first = try await fixture.accept(service, token)
    for index in 0..<500 {
      let refused = PushArrival(
        uniqueID: UUID(), apnsID: "\(index)", subject: nil, token: "00", type: nil,
        verdict: .refused(status: 400, reason: "BadDeviceToken", explanation: "unknown token"))
      service.handle(refused) { _ in }
      if index % 50 == 0 { await service.caughtUp() }
    }
    let count = try await service.page(ListPushes(limit: 1)).count
    #expect((logLimit + 1...min(501, logLimit + 202)).contains(count), "\(count) of 501")
    #expect(try await fixture.steps(service, first) == [.accepted, .storedOffline])
    let last = try await service.page(ListPushes(limit: 1)).pushes.last
    #expect(last?.apnsID == "499" && last?.steps.first?.detail == "BadDeviceToken: unknown token")
    let pages = try await service.page(ListPushes(after: 450, limit: 10)).pushes
    #expect(pages.map(\.number) == (451...460).map { Int64($0) })
  }

  @Test func `a notification that was accepted just after its token ended is not delivered`() async throws {
    let fixture = try PushDeliveryFixture()
    let (service, _) = try await fixture.server()
    let (line, _) = try await fixture.device()
    let token = try await fixture.token(line)
    _ = try await line.request(ReleaseToken(bundle: bundle, use: .widgets), to: .pushServer)
    let id = try await fixture.accept(service, token)
    #expect(try await fixture.steps(service, id) == [.accepted, .tokenUnregistered])
    let next = try await fixture.token(line)
    #expect(next != token)
  }
}

@Suite struct `The journal rate limiter` {
  @Test(.rule("APNS-36"), arguments: [2, 5])
  func `the journal rate limiter admits its number of lines in each second`(rate: Int) {
    var limiter = JournalRateLimiter(rate: rate)
    let now = Date(timeIntervalSince1970: 10.25)
    let taken = (Array(repeating: now, count: rate + 1) + [now + 0.8]).map { limiter.takes(at: $0) }
    #expect(taken == Array(repeating: true, count: rate) + [false, true])
    #expect(limiter.takeOmitted() == 1)
    #expect(limiter.takeOmitted() == nil)
  }
}
