// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import MessageBus
import Messages
import PushRules
import Synchronization
import Testing
import WidgetLabTesting

@testable import PushDelivery

private let first = Address.pushServer("1")
private let second = Address.pushServer("2")

/// A fleet whose push servers share a PostgreSQL database.
@Suite(
  .timeLimit(.minutes(1)), .postgres,
  .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed: run scripts/prerequisites"))
struct `A fleet with several push servers` {
  /// What the fleet waits for before it answers.
  private final class Gate: Sendable {
    private let waitingContinuations = Mutex<[CheckedContinuation<Void, Never>]?>([])

    /// Returns when the gate is open.
    func pass() async {
      await withCheckedContinuation { continuation in
        let isOpen = waitingContinuations.withLock { waitingContinuations in
          waitingContinuations?.append(continuation)
          return waitingContinuations == nil
        }
        if isOpen { continuation.resume() }
      }
    }

    func open() {
      let all = waitingContinuations.withLock { waitingContinuations in
        defer { waitingContinuations = nil }
        return waitingContinuations ?? []
      }
      for continuation in all { continuation.resume() }
    }
  }

  @Test func `what any replica accepts is delivered by the owner of the fleet, and counted once`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (owner, _) = try await fixture.server(at: first)
    let (other, _) = try await fixture.server(at: second)
    let fleet = try await TestFleet(fixture.bus, devices: 100, at: first)
    try await fleet.reach(online: DeviceSet(0..<100), isFirst: true)
    try await fleet.accept(0..<50, service: other, fixture: fixture)
    try await fleet.accept(50..<100, service: owner, fixture: fixture)
    #expect(await fleet.next(100).count == 100)
    for server in [first, second] {
      try await fleet.reaches(["accepted": 100, "delivered": 100, "kept": 0, "tokens": 100], at: server)
    }
    #expect(fleet.received.allSatisfy { $0.epoch == 1 })
    await fixture.end()
  }

  @Test func `a fleet that moves gets what was kept from its next owner, whose epoch is higher`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (formerServer, _) = try await fixture.server(at: first)
    let (next, _) = try await fixture.server(at: second)
    let fleet = try await TestFleet(fixture.bus, devices: 2_500, at: first)
    try await fleet.reach(isFirst: true)
    try await fleet.accept(0..<20, service: formerServer, fixture: fixture)
    try await fleet.accept(2_480..<2_500, service: next, fixture: fixture)
    try await fleet.reaches(["kept": 40], at: first)
    try await fleet.reach(online: DeviceSet(0..<2_500), isFirst: true, at: second)
    #expect(await fleet.next(40).count == 40)
    try await fleet.reaches(["accepted": 40, "delivered": 40, "kept": 0], at: second)
    #expect(fleet.received.allSatisfy { $0.epoch == 2 })
    // The former owner accepts, and does not deliver.
    try await fleet.accept(7..<8, service: formerServer, fixture: fixture)
    #expect(await fleet.next(1) == ["load:7"])
    #expect(fleet.received.allSatisfy { $0.epoch == 2 })
    #expect(await formerServer.replica.owned.isEmpty)
    await fixture.end()
  }

  @Test func `a report of changes to a replica that is not the owner is refused, so that the fleet reports all`()
    async throws
  {
    let fixture = try PushDeliveryFixture(.postgres)
    let (formerServer, _) = try await fixture.server(at: first)
    let (next, _) = try await fixture.server(at: second)
    let fleet = try await TestFleet(fixture.bus, at: first)
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true, at: second)
    let error = await #expect(throws: BusError.self) { try await fleet.reach(offline: DeviceSet(1..<2)) }
    #expect(error?.code == .noSuchFleet)
    #expect(await next.replica.owned == ["load:": 2])
    #expect(await formerServer.replica.owned.isEmpty)
    await fixture.end()
  }

  @Test func `a single attempt of a former owner is interrupted`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (formerServer, _) = try await fixture.server(at: first)
    let (next, _) = try await fixture.server(at: second)
    let gate = Gate()
    let fleet = try await TestFleet(fixture.bus, at: first) { _ in
      await gate.pass()
      return nil
    }
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    try await fleet.accept(1..<2, service: formerServer, fixture: fixture, once: true)
    try await fleet.reaches(["open": 1], at: second)
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true, at: second)
    try await fleet.reaches(["accepted": 1, "interrupted": 1, "open": 0], at: second)
    gate.open()
    await formerServer.caughtUp()
    try await fleet.accept(2..<3, service: next, fixture: fixture, once: true)
    try await fleet.reaches(["accepted": 2, "interrupted": 1, "delivered": 1, "open": 0], at: first)
    await fixture.end()
  }

  @Test func `single attempts that a failed transaction has forgotten are interrupted`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (service, _) = try await fixture.server(at: first)
    let gate = Gate()
    let fleet = try await TestFleet(fixture.bus, at: first) { _ in
      await gate.pass()
      return nil
    }
    try await fleet.reach(online: DeviceSet(0..<10), isFirst: true)
    try await fleet.accept(1..<3, service: service, fixture: fixture, once: true)
    try await fleet.reaches(["open": 2], at: first)
    // The next push to the device 1 fails, which forgets what the device has.
    _ = try await fixture.query(
      """
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON requests FOR EACH STATEMENT EXECUTE FUNCTION full_disk()
      """)
    let arrival = fixture.arrival(fleet.token(1), for: TestFleet.subject(1))
    let receipt = await withCheckedContinuation { continuation in
      service.handle(arrival) { continuation.resume(returning: $0) }
    }
    #expect(receipt == .away)
    _ = try await fixture.query("DROP TRIGGER full_disk ON requests")
    try await fleet.reaches(["interrupted": 1, "open": 1], at: first)
    gate.open()
    try await fleet.reaches(["accepted": 2, "interrupted": 1, "delivered": 1, "open": 0], at: first)
    await fixture.end()
  }

  /// What an owner has taken, its successor sends again. Under kills each owner once took thousands more than it could send.
  @Test func `an owner takes from other replicas no more than its fleet receives`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (owner, _) = try await fixture.server(at: first)
    let (other, _) = try await fixture.server(at: second)
    let gate = Gate()
    let fleet = try await TestFleet(fixture.bus, devices: 1_000, at: first) { _ in
      await gate.pass()
      return nil
    }
    try await fleet.reach(online: DeviceSet(0..<1_000), isFirst: true)
    for number in 0..<8_000 {
      let device = UInt32(number % 1_000)
      other.handle(fixture.arrival(fleet.token(device), for: TestFleet.subject(device))) { _ in }
    }
    await other.caughtUp()
    // More pages than there are.
    for _ in 0..<10 {
      owner.put(.signal(.arrived))
      await owner.caughtUp()
    }
    let sent = try await fixture.query("SELECT count(*) FROM kept WHERE state = 1").first.flatMap { Int($0) }
    #expect(try #require(sent) < FleetSender.low + 1_000)
    gate.open()
    try await fleet.reaches(["accepted": 8_000, "delivered": 8_000, "kept": 0], at: second)
    await fixture.end()
  }

  @Test func `a token request that is repeated after a later one changes nothing`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (one, _) = try await fixture.server(at: first)
    let (_, _) = try await fixture.server(at: second)
    let fleet = try await TestFleet(fixture.bus, at: first)
    try await fleet.change(.issue, 1, devices: DeviceSet(3..<4), at: second)
    try await fleet.change(.issue, 2, devices: DeviceSet(3..<4), at: second)
    try await fleet.change(.issue, 1, devices: DeviceSet(3..<4))
    #expect(try await fleet.counts(at: second)["tokens"] == 10)
    #expect(try await one.find(fleet.token(3, serial: 2))?.state == .active)
    try await fleet.change(.end, 2, devices: DeviceSet(3..<4), at: second)
    try await fleet.change(.issue, 2, devices: DeviceSet(3..<4))
    #expect(try await fleet.counts(at: second)["tokens"] == 9)
    await fixture.end()
  }

  @Test func `a database without tables for fleets gets them`() async throws {
    let fixture = try PushDeliveryFixture(.postgres)
    let (service, _) = try await fixture.server(at: first)
    await service.caughtUp()
    _ = try await fixture.query(
      """
      DROP TABLE fleets, fleet_pushes; DROP INDEX active_tokens_of_fleets; UPDATE push_schema SET version = 1;
      DROP INDEX kept_arrived, unowned_fleets; CREATE INDEX kept_arrived ON kept (number) WHERE state = 0;
      DROP INDEX kept_stored, kept_sent; CREATE UNIQUE INDEX kept_stored ON kept (device, bundle, use) WHERE state = 2
      """)
    _ = try await fixture.server(at: second)
    let fleet = try await TestFleet(fixture.bus, at: second)
    #expect(try await fleet.counts()["tokens"] == 10)
    #expect(try await fixture.query("SELECT version FROM push_schema") == ["4"])
    await fixture.end()
  }
}
