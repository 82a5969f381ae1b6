// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import MessageBus
import Messages
import Stores
import Synchronization
import Testing
import WidgetLabTesting

@testable import PushDelivery
@testable import PushRules

@Suite(.timeLimit(.minutes(1)), .postgres) struct `A fleet at the push server` {
  @Test(arguments: PushStoreKind.all)
  func `tokens of a thousand devices are issued with one request, replaced and ended`(_ kind: PushStoreKind)
    async throws
  {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let fleet = try await TestFleet(fixture.bus, devices: 2_500)
    #expect(try service.tokens[fleet.token(2_499)]?.state == .active)
    #expect(try service.tokens[fleet.token(2_499)]?.subject == TestFleet.subject(2_499))
    try await fleet.change(.issue, 1, devices: DeviceSet(5..<6))
    #expect(try service.tokens[fleet.token(5)]?.state == .unregistered)
    #expect(try service.tokens[fleet.token(5, serial: 1)]?.state == .active)
    try await fleet.change(.end, 0, devices: DeviceSet(0..<5))
    #expect(try service.tokens[fleet.token(4)]?.state == .unregistered)
    #expect(try await fleet.counts()["tokens"] == 2_495)
    // A repeated request changes nothing.
    try await fleet.change(.issue, 1, devices: DeviceSet(5..<6))
    #expect(try await fleet.counts()["tokens"] == 2_495)
    await service.leave()
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `a fleet of the same name with another database is refused, and the same one joins again`(_ kind: PushStoreKind)
    async throws
  {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let id = UUID()
    let fleet = try await TestFleet(fixture.bus, incarnation: id)
    let again = try await fleet.line.request(JoinFleet(incarnation: id), to: .pushServer)
    #expect(
      FleetTokens(secret: again.secret)?.token(1, bundle: "b", use: .app, serial: 0)
        == fleet.tokens.token(1, bundle: "b", use: .app, serial: 0))
    let error = await #expect(throws: BusError.self) {
      try await fleet.line.request(JoinFleet(incarnation: UUID()), to: .pushServer)
    }
    #expect(error?.code == .fleetExists)
    await service.leave()
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `notifications that arrive together are delivered together, and counted`(_ kind: PushStoreKind) async throws {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let fleet = try await TestFleet(fixture.bus, devices: 100)
    try await fleet.reach(online: DeviceSet(0..<100), isFirst: true)
    await withTaskGroup(of: Void.self) { group in
      for device in UInt32(0)..<100 {
        let arrival = fixture.arrival(fleet.token(device), for: TestFleet.subject(device))
        group.addTask { await withCheckedContinuation { done in service.handle(arrival) { _ in done.resume() } } }
      }
    }
    _ = await fleet.next(100)
    try await fleet.reaches(["accepted": 100, "delivered": 100, "kept": 0])
    #expect(fleet.received.count < 100, "\(fleet.received.count) batches")
    #expect(fleet.received.map(\.batch) == Array(1...Int64(fleet.received.count)))
    await service.leave()
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `what is kept for devices that return together is handed over, to each what is newest`(_ kind: PushStoreKind)
    async throws
  {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let fleet = try await TestFleet(fixture.bus, devices: 3_000)
    try await fleet.accept(0..<50, service: service, fixture: fixture)
    try await fleet.accept(0..<30, service: service, fixture: fixture)
    try await fleet.accept(2_990..<3_000, service: service, fixture: fixture)
    #expect(try await fleet.counts()["superseded"] == 30)
    try await fleet.reach(online: DeviceSet(10..<3_000), isFirst: true)
    let devices = await fleet.next(50)
    #expect(Set(devices) == Set((10..<50).map { "load:\($0)" } + (2_990..<3_000).map { "load:\($0)" }))
    try await fleet.reaches(["accepted": 90, "delivered": 50, "kept": 10])
    try await fleet.reach(online: DeviceSet(3..<4))
    #expect(await fleet.next(1) == ["load:3"])
    await service.leave()
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `a refused notification is kept, and sent again`(_ kind: PushStoreKind) async throws {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let offline = Offline()
    let fleet = try await TestFleet(fixture.bus) { _ in offline.value ? .offline : nil }
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    try await fleet.accept(1..<2, service: service, fixture: fixture)
    try await fleet.reaches(["delivered": 0, "kept": 1])
    while fleet.received.isEmpty {
      try Task.checkCancellation()
      await Task.yield()
    }
    offline.value = false
    await service.caughtUp()
    try await fleet.reach(online: DeviceSet(1..<2))
    fixture.clock.advance(by: 31)
    #expect(await fleet.next(1) == ["load:1"])
    try await fleet.reaches(["delivered": 1, "kept": 0])
    await service.leave()
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `a new push server delivers what the former one had kept, after the fleet has reported`(_ kind: PushStoreKind)
    async throws
  {
    let fixture = try PushDeliveryFixture(kind)
    let (first, firstLine) = try await fixture.server()
    let id = UUID()
    let fleet = try await TestFleet(fixture.bus, incarnation: id)
    try await fleet.accept(0..<5, service: first, fixture: fixture)
    await first.leave()
    await firstLine.leave()
    let (second, _) = try await fixture.server()
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    #expect(await fleet.next(5) == (0..<5).map { "load:\($0)" })
    try await fleet.reaches(["accepted": 5, "delivered": 5, "kept": 0])
    #expect(Set(fleet.received.map(\.run)).count == 1)
    await second.leave()
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `a single attempt has an end, and one that a former push server began is interrupted`(_ kind: PushStoreKind)
    async throws
  {
    let fixture = try PushDeliveryFixture(kind)
    let (first, firstLine) = try await fixture.server()
    let fleet = try await TestFleet(fixture.bus)
    try await fleet.accept(0..<1, service: first, fixture: fixture, once: true)
    #expect(try await fleet.counts()["notStored"] == 1)
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    try await fleet.accept(1..<2, service: first, fixture: fixture, once: true)
    _ = await fleet.next(1)
    try await fleet.reaches(["accepted": 2, "delivered": 1, "open": 0])
    // As if the push server had been killed before it recorded the reply.
    try await fixture.forgetResults()
    await first.leave()
    await firstLine.leave()
    let (second, _) = try await fixture.server()
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    #expect(try await fleet.counts()["interrupted"] == 1)
    await second.leave()
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `requests are counted by type and reason, those for unknown tokens too`(_ kind: PushStoreKind) async throws {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let fleet = try await TestFleet(fixture.bus)
    let arrivals = [
      ("BadPriority", TestFleet.subject(1)), ("BadPriority", TestFleet.subject(2)), ("BadDeviceToken", nil),
    ]
    for (reason, subject) in arrivals {
      service.handle(
        PushArrival(
          uniqueID: UUID(), apnsID: "1", subject: subject, token: "00", type: "alert",
          verdict: .refused(status: 400, reason: reason, explanation: ""))
      ) { _ in }
    }
    let reply = try await fleet.line.request(CountFleetPushes(fleet: "load"), to: .pushServer)
    let expected: Set<CountFleetPushes.Count> = [
      .init(type: "alert", name: "refused", reason: "BadPriority", count: 2),
      .init(type: "alert", name: "unknown-token", reason: "BadDeviceToken", count: 1),
    ]
    #expect(Set(reply.counts) == expected)
    await service.leave()
    await fixture.end()
  }

  @Test(arguments: PushStoreKind.all)
  func `only a fleet that has joined gets tokens`(_ kind: PushStoreKind) async throws {
    let fixture = try PushDeliveryFixture(kind)
    let (service, _) = try await fixture.server()
    let line = fixture.bus.connection(.fleet("other"))
    _ = try await line.start()
    let change = ChangeFleetTokens.Change(action: .issue, bundle: "b", use: .app, serial: 0, devices: DeviceSet(0..<1))
    let error = await #expect(throws: BusError.self) {
      try await line.request(ChangeFleetTokens(environment: .development, changes: [change]), to: .pushServer)
    }
    #expect(error?.code == .noSuchFleet)
    await service.leave()
    await fixture.end()
  }
}

private final class Offline: Sendable {
  private let state = Mutex(true)
  var value: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

@Suite struct `The batches of a fleet` {
  private static func push(_ length: Int) -> PushedNotification {
    PushedNotification(
      uniqueID: UUID(), apnsID: UUID().uuidString, subject: TestFleet.subject(1), type: .alert, priority: 10,
      collapseID: nil, payload: String(repeating: "\"", count: length), acceptedAt: Date(), expiration: nil,
      isFromStorage: false)
  }

  @Test(arguments: [0, 1, 100, 4_096, 5_120]) func `each fits into an envelope`(length: Int) throws {
    var sender = FleetSender()
    for _ in 0..<1_000 { sender.add(Self.push(length)) }
    var count = 0
    var number: Int64 = 0
    while let batch = sender.next() {
      number += 1
      #expect(batch.number == number)
      #expect(batch.notifications.count <= FleetSender.most)
      let body = try BodyCoding.encode(
        DeliverToFleet(run: UUID(), batch: batch.number, settled: batch.settled, notifications: batch.notifications))
      #expect(body.count <= Wire.bodyLimit)
      count += batch.notifications.count
      sender.replied()
      sender.record(batch.number)
    }
    #expect(count == 1_000)
    #expect(sender.count == 0)
  }

  @Test func `a notification that is on the fleet's disk is not sent again, though a copy waits`() {
    var sender = FleetSender()
    let pushes = (0..<600).map { _ in Self.push(10) }
    for push in pushes { sender.add(push) }
    let first = sender.next()?.notifications.count ?? 0
    #expect((1..<550).contains(first))
    // A transaction has failed, and the first one waits again.
    sender.add(pushes[0])
    sender.drop([pushes[0].uniqueID, pushes[550].uniqueID])
    #expect(sender.count == 599)
    var rest = 0
    while let batch = sender.next() { rest += batch.notifications.count }
    #expect(rest == 599 - first)
  }

  @Test func `few are without a reply, and a batch is settled with all before it`() {
    var sender = FleetSender()
    for _ in 0..<10_000 { sender.add(Self.push(10)) }
    var open: [FleetSender.Batch] = []
    while let batch = sender.next() { open.append(batch) }
    #expect(open.count == FleetSender.window)
    #expect(open.allSatisfy { $0.settled == 0 })
    sender.replied()
    sender.record(2)
    #expect(sender.next()?.settled == 0, "the first has no reply yet")
    sender.replied()
    sender.record(1)
    #expect(sender.next()?.settled == 2)
    #expect(!sender.isFull)
    for _ in 0..<20_000 { sender.add(Self.push(10)) }
    #expect(sender.isFull)
  }
}
