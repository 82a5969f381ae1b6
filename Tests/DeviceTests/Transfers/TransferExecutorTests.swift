// SPDX-License-Identifier: Apache-2.0

import Testing
import ZeroMQ

@testable import Device
@testable import DeviceRules

extension TransferService {
  /// Returns whether the service runs on the thread of the loop.
  fileprivate func works(on loop: Loop) -> Bool { loop.isCurrent }
}

@Suite(.timeLimit(.minutes(1))) struct `Executor of the transfer service` {
  @Test func `the transfer service does not run on the bus thread of the handler that calls it`() async throws {
    let fixture = try await TransferFixture(.init(bytes: figures(1000)))
    let service = try await fixture.host()
    let loop = Loop(name: "bus")
    await loop.task { #expect(await !service.works(on: loop)) }.value
    await loop.stop()
    await fixture.end(service)
  }
}
