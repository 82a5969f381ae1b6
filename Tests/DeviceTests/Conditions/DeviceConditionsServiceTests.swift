// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Stores
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

@Suite(.timeLimit(.minutes(1))) struct `Conditions service` {
  private let bus = InMemoryBus()
  private let clock = AdjustableClock(.held(Date(timeIntervalSince1970: 1_000_000_000)))
  private let database: DatabaseQueue

  init() throws { database = try DatabaseQueue() }

  private func service() async throws -> DeviceConditionsService {
    let connection = bus.connection(.host("iphone"))
    _ = try await connection.start()
    _ = try DeviceStore(database)
    let device = await LoneDevice(DeviceStateMachine(), clock: clock)
    let service = DeviceConditionsService(
      core: device.core, bus: connection, clock: clock, transactions: DeviceTransactions(immediate: database))
    await device.core.connect(service)
    return service
  }

  /// From now on nothing can be stored.
  private func fill() async throws {
    try await database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON deviceSettings BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
  }

  @Test func `a network state that cannot be stored does not take effect`() async throws {
    let service = try await service()
    try await fill()
    await #expect(throws: DatabaseError.self) { try await service.set(NetworkState(path: .off)) }
    #expect(await service.network == NetworkState())
    await service.leave()
  }

  @Test(.rule("SETTING-01")) func `a setting that cannot be stored does not take effect`() async throws {
    let service = try await service()
    try await fill()
    await #expect(throws: DatabaseError.self) { try await service.change(.set(.textSize, "xLarge")) }
    let settings = await service.core.state.settings
    #expect(settings.settings == DeviceSettings() && settings.changed.isEmpty)
    await service.leave()
  }

  @Test func `concurrent changes of the clock are all applied`() async throws {
    let service = try await service()
    let start = clock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...20 { group.addTask { try await service.change(.advance(60)) } }
      try await group.waitForAll()
    }
    #expect(clock.now == start + 1200)
    await service.leave()
  }

  @Test func `a service that leaves ends its report and the change of the clock, and its callers get closed`()
    async throws
  {
    let service = try await service()
    // An advance waits for this work, and the report for a push server.
    let work = clock.beginWork()
    await service.begin(running: [:])
    let changes = (1...2).map { _ in Task { try await service.change(.advance(60)) } }
    _ = await bus.first { $0.header.kind == DeviceReach.kind }
    await service.leave()
    for change in changes {
      await #expect { try await change.value } throws: { ($0 as? BusError)?.code == .closed }
    }
    #expect(clock.now == Date(timeIntervalSince1970: 1_000_000_000))
    clock.endWork(work)
  }
}
