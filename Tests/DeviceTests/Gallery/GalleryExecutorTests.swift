// SPDX-License-Identifier: Apache-2.0

import BusTesting
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

@Suite(.timeLimit(.minutes(1))) struct `Executor of the gallery service` {
  @Test func `the gallery service does not run on the bus thread of the handler that calls it`() async throws {
    let bus = InMemoryBus()
    let service = try await GalleryService.alone(DatabaseQueue(), clock: ManualClock())
    let loop = bus.loop
    await loop.task { #expect(await !service.works(on: loop)) }.value
  }

  @Test func `an ended gallery service changes nothing`() async throws {
    let service = try await GalleryService.alone(DatabaseQueue(), clock: ManualClock())
    _ = try await service.open(GallerySamples.app)
    await service.leave()
    let error = await #expect(throws: BusError.self) { try await service.change(.lock) }
    #expect(error?.code == .closed)
    #expect(await service.screen.isLocked == false)
  }
}
