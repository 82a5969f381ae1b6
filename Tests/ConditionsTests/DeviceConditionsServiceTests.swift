// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import DeviceTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

@Suite(.timeLimit(.minutes(1))) struct `Conditions service` {
  private struct Full: Error {}

  private let bus = InMemoryBus()
  private let clock = AdjustableClock(.held(Date(timeIntervalSince1970: 1_000_000_000)))

  private func service(
    saveNetwork: @escaping @Sendable (NetworkState) throws -> Void = { _ in },
    saveSettings: @escaping @Sendable (DeviceSettingsStateMachine.Stored) throws -> Void = { _ in }
  ) async throws -> DeviceConditionsService {
    let connection = bus.connection(.host("iphone"))
    _ = try await connection.start()
    let settings = DeviceSettingsStateMachine(DeviceSettings())
    let device = await LoneDevice(DeviceStateMachine(settings: settings), clock: clock)
    let service = DeviceConditionsService(
      core: device.core, settings: settings, bus: connection, clock: clock,
      storage: DeviceConditionsService.Storage(
        saveNetwork: saveNetwork, savePower: { _ in }, saveSettings: saveSettings))
    await device.core.connect(service)
    return service
  }

  @Test func `a network state that cannot be stored does not take effect`() async throws {
    let service = try await service { _ in throw Full() }
    await #expect(throws: Full.self) { try await service.set(NetworkState(path: .off)) }
    #expect(await service.network == NetworkState())
    await service.leave()
  }

  @Test(.rule("SETTING-01")) func `a setting that cannot be stored does not take effect`() async throws {
    let service = try await service(saveSettings: { _ in throw Full() })
    await #expect(throws: Full.self) { try await service.change(.set(.textSize, "xLarge")) }
    #expect(service.settings == DeviceSettings() && service.changedSettings.isEmpty)
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
