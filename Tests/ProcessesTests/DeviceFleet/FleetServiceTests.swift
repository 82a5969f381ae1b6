// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Cluster
import Foundation
import Logging
import MessageBus
import Messages
import Synchronization
import Testing

@testable import DeviceFleet

@Suite(.timeLimit(.minutes(1))) struct `A fleet on the bus` {
  /// The requests to join, by id: a request that is sent again has the same one.
  private func joins(on bus: InMemoryBus) async -> Set<UUID> {
    Set(await bus.sentEnvelopes.filter { $0.header.kind == JoinFleet.kind }.map(\.header.id))
  }

  @Test func `a fleet has one request to join, however often a push server connects that does not reply`() async throws
  {
    let folder = FileManager.default.temporaryDirectory.path + "/fleet-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let bus = InMemoryBus()
    let plan = FleetPlan(name: "load", seed: 1, devices: 10, profile: try FleetProfile(yaml: ""))
    let connection = bus.connection(.fleet("load"))
    let service = try FleetService(
      plan: plan, profileName: "default day", database: FleetDatabase(folder + "/fleet.sqlite"), bus: connection,
      registrar: Registrar(plan), logger: Logger(label: "fleet")
    ) { reason, _ in Issue.record("the fleet failed: \(reason)") }
    service.listen()
    let server = bus.connection(.pushServer)
    let (silence, end) = AsyncStream.makeStream(of: Never.self)
    let isSilent = Mutex(false)
    server.onRequest(JoinFleet.self) { _, _ in
      if isSilent.withLock({ $0 }) { for await _ in silence {} }
      isSilent.withLock { $0 = true }
      return JoinFleet.Reply(secret: String(repeating: "a1", count: 32))
    }
    _ = try await server.start()
    _ = try await connection.start()
    await service.begin()
    while await service.tokens == nil {
      try Task.checkCancellation()
      await Task.yield()
    }
    for _ in 1...4 {
      let count = UInt64(await bus.sentEnvelopes.count)
      await bus.disconnect(.pushServer)
      await bus.connectAgain(.pushServer)
      _ = await bus.first { $0.header.kind == JoinFleet.kind && $0.header.sequence > count }
    }
    #expect(await joins(on: bus).count == 2)
    end.finish()
    await service.leave()
  }
}
