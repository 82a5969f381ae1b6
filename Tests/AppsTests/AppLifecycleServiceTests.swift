// SPDX-License-Identifier: Apache-2.0

import BusTesting
import ClockTesting
import DeviceTesting
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
private final class ModelContainers: Sendable {
  struct Full: Error {}

  let log = Mutex<[String]>([])
  let fails = Mutex(false)

  var moves: AppLifecycleService.ContainerMoves {
    AppLifecycleService.ContainerMoves(
      pending: { [] },
      begin: { bundles in self.log.withLock { $0 += bundles.map { "begin \($0)" } } },
      complete: { bundles in
        if self.fails.withLock({ $0 }) { throw Full() }
        self.log.withLock { $0 += bundles.map { "complete \($0)" } }
      })
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
    let device = await LoneDevice(DeviceStateMachine(launching: launching, apps: apps), clock: ManualClock())
    let service = AppLifecycleService(core: device.core, containers: containers.moves, bus: connection)
    await device.core.connect(service)
    return service
  }

  @Test(arguments: [false, true])
  func `an update is recorded before the processes are ended, and its result reaches the caller`(fails: Bool)
    async throws
  {
    containers.fails.withLock { $0 = fails }
    let service = try await service()
    var outputs = LoneDevice.of(service.core).apps.makeAsyncIterator()
    let update = Task { try await service.update("com.example.App") }
    #expect(await outputs.next() == .preventLaunches([app], why: "updated"))
    #expect(containers.log.withLock { $0 } == ["begin com.example.App"])
    await service.core.handle(.launching(.exited(app, instance, .signalled(signal: 9))))
    await service.core.handle(.launching(.agentReported(.agent("iphone", 1), incarnation: UUID(), children: [])))
    #expect(await outputs.next() == .allowLaunches([app]))
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
    var outputs = LoneDevice.of(service.core).apps.makeAsyncIterator()
    await service.open(app)
    // No app is connected: the notification is under way until it connects.
    await service.core.handle(.apps(.awake(app)))
    let update = Task { try await service.update("com.example.App") }
    #expect(await outputs.next() == .preventLaunches([app], why: "updated"))
    await service.leave()
    await #expect { try await update.value } throws: { ($0 as? BusError)?.code == .closed }
  }
}
