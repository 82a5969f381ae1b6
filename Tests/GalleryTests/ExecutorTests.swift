// SPDX-License-Identifier: Apache-2.0

import BusTesting
import ClockTesting
import Foundation
import GRDB
import MessageBus
import Messages
import Synchronization
import Testing
import Timekeeping
import ZeroMQ

@testable import Device
@testable import DeviceRules

extension GalleryService {
  /// Returns whether the service runs on the thread of the loop.
  fileprivate func works(on loop: Loop) -> Bool { loop.isCurrent }
}

@Suite(.timeLimit(.minutes(1))) struct `Executor and outputs of the gallery service` {
  private func service(_ bus: InMemoryBus, clock: any ControllableClock) throws -> GalleryService {
    try GalleryService(
      device: GallerySamples.phone(), apps: [GallerySamples.app], database: try DatabaseQueue(),
      bus: bus.connection(.host("phone")), clock: clock)
  }

  @Test func `the gallery service does not run on the bus thread of the handler that calls it`() async throws {
    let bus = InMemoryBus()
    let service = try service(bus, clock: ManualClock())
    let loop = bus.loop
    await loop.task { #expect(await !service.works(on: loop)) }.value
  }

  @Test func `an ended gallery service has no more outputs and changes nothing`() async throws {
    let service = try service(InMemoryBus(), clock: ManualClock())
    try await service.open(GallerySamples.app)
    await service.leave()
    let error = await #expect(throws: BusError.self) { try await service.change(.lock) }
    #expect(error?.code == .closed)
    let count = Mutex(0)
    await service.outputs.receive { _ in count.withLock { $0 += 1 } }
    await DeviceActor.settle()
    #expect(count.withLock(\.self) == 1)
    #expect(await service.state.isLocked == false)
  }

  @Test func `an advance of the clock waits until each output of the gallery service has been handled`() async throws {
    let start = Date(timeIntervalSince1970: 1_000_000_000)
    let clock = AdjustableClock(.held(start))
    let service = try service(InMemoryBus(), clock: clock)
    try await service.open(GallerySamples.app)
    _ = try await service.change(.lock)
    let advance = Task.immediate { try await clock.advance(by: 60) }
    let count = Mutex(0)
    await service.outputs.receive { _ in
      #expect(clock.now == start)
      count.withLock { $0 += 1 }
    }
    try await advance.value
    #expect(count.withLock(\.self) == 3 && clock.now == start + 60)
  }
}
