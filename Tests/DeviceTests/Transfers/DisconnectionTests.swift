// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = TransferSamples.app
private let widget = TransferSamples.widget

/// Sessions of processes that are suspended.
@Suite(.timeLimit(.minutes(1))) struct DisconnectionTests {
  /// An extension that has opened its session, and is suspended.
  private func suspended() async throws -> (TransferFixture, ModelOwner, TransferService) {
    let fixture = try await TransferFixture(.init(bytes: figures(100)))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    await service.suspended(widget, generation: 1)
    return (fixture, owner, service)
  }

  @Test(.rule("SESSION-19"))
  func `another process may open the session of a suspended process, which then loses it`() async throws {
    let (fixture, owner, service) = try await suspended()
    let appOwner = try await ModelOwner(fixture.bus, at: app)
    try await appOwner.open()
    await service.awake(widget, generation: 1, woken: true)
    let envelope = try #require(await fixture.bus.first { $0.header.kind == SessionTaken.kind })
    let takenSession = try BodyCoding.decode(SessionTaken.self, from: envelope.body)
    #expect(takenSession.session == "figures" && takenSession.generation == 1 && takenSession.holder == app)
    #expect(envelope.header.destination == widget)
    await #expect { try await owner.open() } throws: { ($0 as? BusError)?.code == .sessionInUse }
    await service.suspended(app, generation: 1)
    try await owner.open()
    await fixture.end(service)
  }

  @Test(.rule("SESSION-19"))
  func `a process that is resumed is connected again, unless another one is connected then`() async throws {
    let (fixture, _, service) = try await suspended()
    let appOwner = try await ModelOwner(fixture.bus, at: app)
    try await appOwner.open()
    _ = try await appOwner.connection.request(CloseSession(identifier: "figures"), to: .host("iphone"))
    await service.awake(widget, generation: 1, woken: true)
    #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != SessionTaken.kind })
    await #expect { try await appOwner.open() } throws: { ($0 as? BusError)?.code == .sessionInUse }
    await fixture.end(service)
  }

  @Test(.rule("SESSION-19")) func `a restarted host knows which processes are suspended`() async throws {
    let (fixture, _, first) = try await suspended()
    let appOwner = try await ModelOwner(fixture.bus, at: app)
    await fixture.end(first)
    let second = try await fixture.host(suspended: [widget: 1])
    try await appOwner.open()
    await fixture.end(second)
  }
}
