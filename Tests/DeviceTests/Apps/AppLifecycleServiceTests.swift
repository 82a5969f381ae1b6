// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let app = Address.app("iphone", "com.example.App")

/// The containers of a device, and the moves that were recorded and completed.
private final class ModelContainers: ContainerMoves {
  struct Full: Error {}

  let log = Mutex<[String]>([])
  let fails = Mutex(false)
  let moving: [String] = []

  func beginMove(of bundles: [String]) { log.withLock { $0 += bundles.map { "begin \($0)" } } }

  func endMove(of bundles: [String]) throws {
    if fails.withLock({ $0 }) { throw Full() }
    log.withLock { $0 += bundles.map { "complete \($0)" } }
  }
}

@Suite(.timeLimit(.minutes(1))) struct `App lifecycle service` {
  private let bus = InMemoryBus()
  private let containers = ModelContainers()
  private let instance = ProcessInstance(generation: 1, pid: 1)

  private func service() async throws -> AppLifecycleService {
    let connection = bus.connection(.host("iphone"))
    _ = try await connection.start()
    let apps = AppLifecycleStateMachine(apps: [InstalledApp(address: app, extensions: [])])
    var process = LaunchStateMachine.Process()
    process.state = .running
    process.instance = instance
    let launching = LaunchStateMachine(
      agents: [app: .agent("iphone", 1)], processes: [app: process], suspendAfter: 1)
    let state = DeviceStateMachine {
      $0.launching = launching
      $0.apps = apps
    }
    let device = await LoneDevice(state, clock: ManualClock())
    let service = AppLifecycleService(core: device.core, containers: containers, bus: connection)
    await device.core.connect(service)
    return service
  }

  @Test(arguments: [false, true])
  func `an update is recorded before the processes are ended, and its result reaches the caller`(fails: Bool)
    async throws
  {
    containers.fails.withLock { $0 = fails }
    let service = try await service()
    let requests = LoneDevice.of(service.core).requests
    let update = Task { try await service.update("com.example.App") }
    #expect(await requests.first { _ in true } == .preventLaunches([app], why: "updated"))
    #expect(containers.log.withLock { $0 } == ["begin com.example.App"])
    await service.core.handle(.launching(.exited(app, instance, .signalled(signal: 9))))
    await service.core.handle(.launching(.agentReported(.agent("iphone", 1), incarnation: UUID(), children: [])))
    #expect(await requests.first { $0 == .allowLaunches([app]) } != nil)
    let result = await update.result
    if fails {
      #expect(throws: BusError.self) { try result.get() }
    } else {
      #expect(throws: Never.self) { try result.get() }
    }
    await service.leave()
  }

  @Test func `a service that leaves ends its notifications, and callers of an update get closed`() async throws {
    let service = try await service()
    await service.core.handle(.apps(.opened(app)))
    // No app is connected: the notification is under way until it connects.
    await service.core.handle(.apps(.awake(app)))
    let update = Task { try await service.update("com.example.App") }
    let prevent = DeviceRequest.preventLaunches([app], why: "updated")
    #expect(await LoneDevice.of(service.core).requests.first { $0 == prevent } != nil)
    await service.leave()
    await #expect { try await update.value } throws: { ($0 as? BusError)?.code == .closed }
  }
}
