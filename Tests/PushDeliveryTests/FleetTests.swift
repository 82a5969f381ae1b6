// SPDX-License-Identifier: Apache-2.0

import BusTesting
import ClockTesting
import FleetTokenDerivation
import Foundation
import GRDB
import MessageBus
import Messages
import Synchronization
import Testing

@testable import PushDelivery

/// A fleet on the in-memory bus, which takes or refuses notifications.
private final class TestFleet: Sendable {
  let line: Connection
  let tokens: FleetTokens
  let arrived: AsyncStream<PushedNotification>

  /// - Parameter refuse: the code for a notification that is not taken.
  init(
    _ bus: InMemoryBus, incarnation: UUID = UUID(), devices: UInt32 = 10,
    refuse: @escaping @Sendable (PushedNotification) -> BusError.Code? = { _ in nil }
  ) async throws {
    let line = bus.connection(.fleet("load"))
    let (arrived, continuation) = AsyncStream.makeStream(of: PushedNotification.self)
    self.line = line
    self.arrived = arrived
    let keep = Batches()
    kept = keep
    line.onRequest(DeliverToFleet.self) { request, _ in
      keep.add(request)
      var refused: [DeliverToFleet.Refusal] = []
      for (index, push) in request.notifications.enumerated() {
        if let code = refuse(push) {
          refused.append(DeliverToFleet.Refusal(index: index, code: code))
        } else {
          continuation.yield(push)
        }
      }
      return DeliverToFleet.Reply(refused: refused)
    }
    _ = try await line.start()
    let secret = try await line.request(JoinFleet(incarnation: incarnation), to: .pushServer).secret
    tokens = try #require(FleetTokens(secret: secret))
    try await change(.issue, 0, devices: DeviceSet(0..<devices))
  }

  private final class Batches: Sendable {
    private let all = Mutex<[DeliverToFleet]>([])
    func add(_ batch: DeliverToFleet) { all.withLock { $0.append(batch) } }
    var value: [DeliverToFleet] { all.withLock { $0 } }
  }
  private let kept: Batches
  var received: [DeliverToFleet] { kept.value }

  func change(_ action: ChangeFleetTokens.Action, _ serial: Int, devices: DeviceSet) async throws {
    let change = ChangeFleetTokens.Change(
      action: action, bundle: PushDeliveryFixture.bundle, use: .app, serial: serial, devices: devices)
    _ = try await line.request(ChangeFleetTokens(environment: .development, changes: [change]), to: .pushServer)
  }

  func reach(online: DeviceSet = DeviceSet(), offline: DeviceSet = DeviceSet(), isFirst: Bool = false) async throws {
    try await line.deliver(
      FleetReach(isFirst: isFirst, online: online, offline: offline, awake: DeviceSet(), asleep: DeviceSet()),
      to: .pushServer)
  }

  func token(_ device: UInt32, serial: Int = 0) -> String {
    tokens.token(device, PushDeliveryFixture.bundle, .app, serial: serial)
  }

  static func subject(_ device: UInt32) -> PushSubject {
    PushSubject(device: "load:\(device)", bundle: PushDeliveryFixture.bundle, use: .app)
  }

  /// Returns the next notifications, by device.
  func next(_ count: Int) async -> [String] {
    var devices: [String] = []
    for await push in arrived {
      devices.append(push.subject.device)
      if devices.count == count { break }
    }
    return devices.sorted()
  }
}

@Suite(.timeLimit(.minutes(1))) struct `A fleet at the push server` {
  private let fixture: PushDeliveryFixture

  init() throws { fixture = try PushDeliveryFixture() }

  private func counts(_ fleet: TestFleet) async throws -> [String: Int] {
    let reply = try await fleet.line.request(CountFleetPushes(fleet: "load"), to: .pushServer)
    var counts = Dictionary(reply.counts.map { ($0.name, $0.count) }, uniquingKeysWith: +)
    counts["kept"] = reply.kept.values.reduce(0, +)
    counts["tokens"] = reply.tokens.values.reduce(0, +)
    return counts
  }

  /// Accepts a notification for each of these devices.
  private func accept(_ devices: Range<UInt32>, _ service: PushDeliveryService, _ fleet: TestFleet, once: Bool = false)
    async throws
  {
    for device in devices {
      _ = try await fixture.accept(
        service, fleet.token(device), for: TestFleet.subject(device),
        expiration: once ? Date(timeIntervalSince1970: 0) : nil)
    }
  }

  /// Waits until the counts are these.
  private func reaches(_ expected: [String: Int], _ fleet: TestFleet) async throws {
    while !Task.isCancelled {
      let counts = try await counts(fleet)
      if expected.allSatisfy({ counts[$0.key, default: 0] == $0.value }) { return }
      await Task.yield()
    }
  }

  @Test func `tokens of a thousand devices are issued with one request, replaced and ended`() async throws {
    let (service, _) = try await fixture.server()
    let fleet = try await TestFleet(fixture.bus, devices: 2_500)
    #expect(try service.tokens[fleet.token(2_499)]?.state == .active)
    #expect(try service.tokens[fleet.token(2_499)]?.subject == TestFleet.subject(2_499))
    try await fleet.change(.issue, 1, devices: DeviceSet(5..<6))
    #expect(try service.tokens[fleet.token(5)]?.state == .unregistered)
    #expect(try service.tokens[fleet.token(5, serial: 1)]?.state == .active)
    try await fleet.change(.end, 0, devices: DeviceSet(0..<5))
    #expect(try service.tokens[fleet.token(4)]?.state == .unregistered)
    #expect(try await counts(fleet)["tokens"] == 2_495)
    // A repeated request changes nothing.
    try await fleet.change(.issue, 1, devices: DeviceSet(5..<6))
    #expect(try await counts(fleet)["tokens"] == 2_495)
    await service.leave()
  }

  @Test func `a fleet of the same name with another database is refused, and the same one joins again`() async throws {
    let (service, _) = try await fixture.server()
    let id = UUID()
    let fleet = try await TestFleet(fixture.bus, incarnation: id)
    let again = try await fleet.line.request(JoinFleet(incarnation: id), to: .pushServer)
    #expect(
      FleetTokens(secret: again.secret)?.token(1, "b", .app, serial: 0) == fleet.tokens.token(1, "b", .app, serial: 0))
    let error = await #expect(throws: BusError.self) {
      try await fleet.line.request(JoinFleet(incarnation: UUID()), to: .pushServer)
    }
    #expect(error?.code == .fleetExists)
    await service.leave()
  }

  @Test func `notifications that arrive together are delivered together, and counted`() async throws {
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
    try await reaches(["accepted": 100, "delivered": 100, "kept": 0], fleet)
    #expect(fleet.received.count < 100, "\(fleet.received.count) batches")
    #expect(fleet.received.map(\.batch) == Array(1...Int64(fleet.received.count)))
    await service.leave()
  }

  @Test func `what is kept for devices that return together is handed over, to each what is newest`() async throws {
    let (service, _) = try await fixture.server()
    let fleet = try await TestFleet(fixture.bus, devices: 3_000)
    try await accept(0..<50, service, fleet)
    try await accept(0..<30, service, fleet)
    try await accept(2_990..<3_000, service, fleet)
    #expect(try await counts(fleet)["superseded"] == 30)
    try await fleet.reach(online: DeviceSet(10..<3_000), isFirst: true)
    let devices = await fleet.next(50)
    #expect(Set(devices) == Set((10..<50).map { "load:\($0)" } + (2_990..<3_000).map { "load:\($0)" }))
    try await reaches(["accepted": 90, "delivered": 50, "kept": 10], fleet)
    try await fleet.reach(online: DeviceSet(3..<4))
    #expect(await fleet.next(1) == ["load:3"])
    await service.leave()
  }

  @Test func `a refused notification is kept, and sent again`() async throws {
    let (service, _) = try await fixture.server()
    let offline = Offline()
    let fleet = try await TestFleet(fixture.bus) { _ in offline.value ? .offline : nil }
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    try await accept(1..<2, service, fleet)
    try await reaches(["delivered": 0, "kept": 1], fleet)
    while fleet.received.isEmpty { await Task.yield() }
    offline.value = false
    await service.caughtUp()
    try await fleet.reach(online: DeviceSet(1..<2))
    fixture.clock.advance(by: 31)
    #expect(await fleet.next(1) == ["load:1"])
    try await reaches(["delivered": 1, "kept": 0], fleet)
    await service.leave()
  }

  @Test func `a new push server delivers what the former one had kept, after the fleet has reported`() async throws {
    let (first, firstLine) = try await fixture.server()
    let id = UUID()
    let fleet = try await TestFleet(fixture.bus, incarnation: id)
    try await accept(0..<5, first, fleet)
    await first.leave()
    await firstLine.leave()
    let (second, _) = try await fixture.server()
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    #expect(await fleet.next(5) == (0..<5).map { "load:\($0)" })
    try await reaches(["accepted": 5, "delivered": 5, "kept": 0], fleet)
    #expect(Set(fleet.received.map(\.run)).count == 1)
    await second.leave()
  }

  @Test func `a single attempt has an end, and one that a former push server began is interrupted`() async throws {
    let (first, firstLine) = try await fixture.server()
    let fleet = try await TestFleet(fixture.bus)
    try await accept(0..<1, first, fleet, once: true)
    #expect(try await counts(fleet)["notStored"] == 1)
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    try await accept(1..<2, first, fleet, once: true)
    _ = await fleet.next(1)
    try await reaches(["accepted": 2, "delivered": 1, "open": 0], fleet)
    // As if the push server had been killed before it recorded the reply.
    try await fixture.database.write { db in
      try db.execute(sql: "UPDATE fleetPushes SET name = 'open' WHERE name = 'delivered'")
    }
    await first.leave()
    await firstLine.leave()
    let (second, _) = try await fixture.server()
    #expect(try await counts(fleet)["interrupted"] == 1)
    await second.leave()
  }

  @Test func `requests are counted by type and reason, those for unknown tokens too`() async throws {
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
  }

  @Test func `only a fleet that has joined gets tokens`() async throws {
    let (service, _) = try await fixture.server()
    let line = fixture.bus.connection(.fleet("other"))
    _ = try await line.start()
    let change = ChangeFleetTokens.Change(action: .issue, bundle: "b", use: .app, serial: 0, devices: DeviceSet(0..<1))
    let error = await #expect(throws: BusError.self) {
      try await line.request(ChangeFleetTokens(environment: .development, changes: [change]), to: .pushServer)
    }
    #expect(error?.code == .noSuchFleet)
    await service.leave()
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
