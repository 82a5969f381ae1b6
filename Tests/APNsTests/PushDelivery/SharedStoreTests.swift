// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import MessageBus
import Messages
import PostgresStore
import PushRules
import Testing
import WidgetLabTesting

@testable import PushDelivery

private let widgets = PushDeliveryFixture.widgets
private let first = Address.pushServer("1")
private let second = Address.pushServer("2")

/// Several push servers with one PostgreSQL database, without HTTP/2, on an in-memory bus.
@Suite(
  .timeLimit(.minutes(1)), .postgres,
  .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed: run scripts/prerequisites"))
struct `Push servers with a shared store` {
  private func receipt(
    _ service: PushDeliveryService, _ arrival: PushArrival
  ) async -> PushReceipt {
    await withCheckedContinuation { continuation in service.handle(arrival) { continuation.resume(returning: $0) } }
  }

  @Test func `a push is delivered by the owner of its device, whichever replica accepts it`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (owner, _) = try await fixture.server(at: first)
    let (other, _) = try await fixture.server(at: second)
    let (line, delivered) = try await fixture.device(at: first)
    let token = try await fixture.token(line, at: first)
    var arrivals = delivered.makeAsyncIterator()
    for service in [other, owner, other] {
      let id = try await fixture.accept(service, token)
      #expect(await arrivals.next()?.uniqueID == id)
      await fixture.reached(.delivered, id)
      await owner.caughtUp()
      #expect(try await fixture.steps(other, id) == [.accepted, .sent, .delivered])
    }
    #expect(try await fixture.keptCount() == 0)
    await fixture.end()
  }

  @Test func `of pushes to a device without an owner the newest is stored, and each other one has its end`()
    async throws
  {
    let fixture = try PushDeliveryFixture(.postgres)
    let (one, _) = try await fixture.server(at: first)
    let (two, _) = try await fixture.server(at: second)
    let (line, _) = try await fixture.device(online: false, at: first)
    let token = try await fixture.token(line, at: first)
    await line.leave()
    _ = try await fixture.query("UPDATE route SET replica = NULL, epoch = epoch + 1")
    let receipts = await withTaskGroup(of: PushReceipt.self) { group in
      for index in 0..<400 {
        let arrival = fixture.arrival(token)
        group.addTask { await receipt(index.isMultiple(of: 2) ? one : two, arrival) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(receipts == Array(repeating: .kept, count: 400))
    // A replica that claims the route again takes over what the other one has accepted for it.
    let newest = "SELECT count(*), bool_and(number = (SELECT max(number) FROM requests)) FROM kept"
    while try await fixture.query(newest) != ["1|t"] { try Task.checkCancellation() }
    let ends = try await fixture.query(
      "SELECT count(DISTINCT request) FROM steps WHERE name IN ('superseded', 'collapsed')")
    let atOnce = try await fixture.query("SELECT count(*) FROM requests WHERE next = 'superseded'")
    #expect((ends + atOnce).compactMap { Int($0) }.reduce(0, +) == 399)
    await fixture.end()
  }

  @Test func `a device that moves gets what follows from its new owner, and the former owner is fenced`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (formerServer, _) = try await fixture.server(at: first)
    let (next, _) = try await fixture.server(at: second)
    let line = fixture.bus.connection(PushDeliveryFixture.host)
    let (stream, continuation) = AsyncStream.makeStream(of: (UUID, Address).self)
    line.onEvent(DeliverPush.self) { event, from in
      continuation.yield((event.notification.uniqueID, from.source))
      // The former owner never learns that the device has it.
      if from.source == first { try await Task.sleep(for: .seconds(1_000)) }
    }
    _ = try await line.start()
    try await line.deliver(DeviceReach(isOnline: true, isAwake: true), to: first)
    let token = try await fixture.token(line, at: first)
    let id = try await fixture.accept(formerServer, token)
    var deliveries = stream.makeAsyncIterator()
    let attempt = await deliveries.next()
    #expect(attempt?.0 == id && attempt?.1 == first)
    try await line.deliver(DeviceReach(isOnline: true, isAwake: true), to: second)
    // The former owner still believes that it is the owner; its next transaction finds that it is not.
    let later = try await fixture.accept(formerServer, token)
    let delivery = await deliveries.next()
    #expect(delivery?.0 == later && delivery?.1 == second)
    await fixture.reached(.delivered, later)
    #expect(try await fixture.query("SELECT epoch FROM route") == ["2"])
    #expect(await formerServer.replica.owned.isEmpty)
    #expect(await next.replica.owned.count == 1)
    await fixture.end()
  }

  @Test func `a token that one replica has ended is refused by the others, which have it in memory`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (one, _) = try await fixture.server(at: first)
    let (two, _) = try await fixture.server(at: second)
    let (line, _) = try await fixture.device(online: false, at: first)
    let token = try await fixture.token(line, at: first)
    #expect(try await two.find(token)?.state == .active)
    let storedPush = try await fixture.accept(two, token)
    await fixture.reached(.storedOffline, storedPush)
    _ = try await line.request(ReleaseToken(bundle: PushDeliveryFixture.bundle, use: .widgets), to: first)
    guard case .tokenEnded(let ended?) = await receipt(two, fixture.arrival(token)) else {
      Issue.record("the push was accepted")
      return
    }
    #expect(ended.state == .unregistered)
    #expect(try await two.find(token)?.state == .unregistered)
    #expect(try await fixture.steps(one, storedPush) == [.accepted, .storedOffline, .tokenUnregistered])
    guard case .tokenEnded(nil) = await receipt(two, fixture.arrival("00")) else {
      Issue.record("a push to an unknown token was accepted")
      return
    }
    await fixture.end()
  }

  @Test func `what was accepted for an owner that has ended is stored, and delivered by the next owner`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (service, _) = try await fixture.server(at: second)
    let (line, _) = try await fixture.device(online: false, at: second)
    let token = try await fixture.token(line, at: second)
    // A replica that was killed, and was seen a minute ago.
    _ = try await fixture.query(
      """
      INSERT INTO replicas VALUES ('push-server/1#dead', now() - interval '1 minute');
      UPDATE route SET replica = 'push-server/1#dead', epoch = epoch + 1
      """)
    let ids = [try await fixture.accept(service, token), try await fixture.accept(service, token)]
    await fixture.reached(.superseded, ids[0])
    await fixture.reached(.storedOffline, ids[1])
    #expect(try await fixture.query("SELECT count(*) FROM replicas WHERE id LIKE '%dead'") == ["0"])
    try await line.deliver(DeviceReach(isOnline: true, isAwake: true), to: second)
    await fixture.reached(.delivered, ids[1])
    #expect(try await fixture.keptCount() == 0)
    await fixture.end()
  }

  @Test func `a database that refuses writes costs a 503 and nothing else`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (service, _) = try await fixture.server(at: first)
    let (line, delivered) = try await fixture.device(at: first)
    let token = try await fixture.token(line, at: first)
    _ = try await fixture.query(
      """
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON requests FOR EACH STATEMENT EXECUTE FUNCTION full_disk()
      """)
    #expect(await receipt(service, fixture.arrival(token)) == .away)
    #expect(!service.isAvailable)
    #expect(await receipt(service, fixture.arrival(token)) == .away)
    _ = try await fixture.query("DROP TRIGGER full_disk ON requests")
    while !service.isAvailable {
      try Task.checkCancellation()
      await service.caughtUp()
    }
    let id = try await fixture.accept(service, token)
    var arrivals = delivered.makeAsyncIterator()
    #expect(await arrivals.next()?.uniqueID == id)
    #expect(try await service.page(ListPushes()).count == 1)
    await fixture.end()
  }
}

/// A PostgreSQL server that is away. Each test has its own.
@Suite(
  .timeLimit(.minutes(2)),
  .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed: run scripts/prerequisites"))
struct `A push server whose shared store is away` {
  @Test func `starts without its database, refuses pushes, and continues when the database starts`() async throws {
    try await PostgresCluster.during { server in
      try await PostgresTrait.$server.withValue(server) {
        let fixture = try PushDeliveryFixture()
        let line = fixture.bus.connection(first)
        let store = try PostgresPushStore(server.url(), address: first, settings: PushSettings())
        let (texts, said) = AsyncStream.makeStream(of: String.self)
        let service = try PushDeliveryService(store: store, bus: line, clock: fixture.clock) { _ in
        } availability: {
          said.yield($0)
        }
        service.listen()
        _ = try await line.start()
        await service.begin()
        var reports = texts.makeAsyncIterator()
        #expect(await reports.next()?.contains("does not accept writes") == true)
        let refused = await withCheckedContinuation { continuation in
          service.handle(fixture.arrival("00")) { continuation.resume(returning: $0) }
        }
        #expect(refused == .away)
        // The device's report waits for the database.
        async let device = fixture.device(at: first)
        try await server.start()
        #expect(await reports.next()?.contains("again") == true)
        let (host, delivered) = try await device
        let token = try await fixture.token(host, at: first)
        let storedPush = try await fixture.accept(service, token)
        var arrivals = delivered.makeAsyncIterator()
        #expect(await arrivals.next()?.uniqueID == storedPush)

        // It leaves later, in the middle of the work.
        await server.stopImmediately()
        let away = await withCheckedContinuation { continuation in
          service.handle(fixture.arrival(token)) { continuation.resume(returning: $0) }
        }
        #expect(away == .away || away == .broken)
        try await server.start()
        #expect(await reports.next()?.contains("does not accept writes") == true)
        #expect(await reports.next()?.contains("again") == true)
        let next = try await fixture.accept(service, token)
        while let arrived = await arrivals.next() { if arrived.uniqueID == next { break } }
        await fixture.reached(.delivered, next)
        await service.leave()
      }
    }
  }

  @Test func `a URL that libpq does not understand is refused at once`() throws {
    for url in ["mysql://host/db", "postgres://host/db?nonsense=1"] {
      #expect(throws: PushStoreError.self) { try PostgresPushStore(url, address: first, settings: PushSettings()) }
    }
  }
}
