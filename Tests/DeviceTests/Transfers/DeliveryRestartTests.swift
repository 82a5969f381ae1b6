// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget

@Suite(.timeLimit(.minutes(1))) struct `Deliveries after a restart of the host` {
  private let session = SessionKey(owner: widget, identifier: "figures")
  private let now = Date(timeIntervalSince1970: 1_000_000_000)

  private func want(mayWake: Bool) -> DeliveryStateMachine.Action {
    .asks(.process(.want(widget, because: "events figures", mayWake: mayWake)))
  }

  /// The host ended when it had recorded the end of the owner's instance, and before its transfers had.
  @Test func `an owner whose end was missed is woken when the last task of its session ends`() {
    let id = UUID()
    var delivery = DeliveryStateMachine.Delivery(id: id, session: session, tasks: [1])
    delivery.last = DeliveryStateMachine.Attempt(generation: 7, wakesHandler: true)
    var stateMachine = DeliveryStateMachine(
      sessions: [session: DeliveryStateMachine.Session(sendsLaunchEvents: true, openIn: 7, running: [2])],
      deliveries: [delivery], settings: TransferSettings())
    #expect(stateMachine.handle(.began, now: now) == [want(mayWake: false)])
    #expect(stateMachine.handle(.ended([TaskKey(session: session, identifier: 2)]), now: now) == [want(mayWake: true)])
    let attempt = DeliveryStateMachine.Attempt(generation: 8, wakesHandler: true)
    let awake = stateMachine.handle(.awake(widget, generation: 8, woken: true), now: now)
    #expect(awake == [want(mayWake: true), .deliver(id, attempt)])
    _ = stateMachine.handle(.acknowledged(id), now: now)
    #expect(stateMachine.deliveries.values.map(\.tasks) == [[2]])
  }

  @Test(.rule("TRANSFER-68")) func `a task whose file is gone ends with -3001 and delays no other one`() async throws {
    let fixture = try await TransferFixture(.init(bytes: figures(500_000)))
    let first = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus, .acknowledgesOnRequest)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await fixture.end(first)
    for name in try FileManager.default.subpathsOfDirectory(atPath: fixture.folder) where name.hasSuffix(".part") {
      try FileManager.default.removeItem(atPath: "\(fixture.folder)/\(name)")
    }
    let second = try await fixture.host()
    await second.awake(widget, generation: 1, woken: true)
    let outcome = try #require(await owner.next()?.events.outcomes.first)
    #expect(outcome.failure?.code == -3001)
    #expect(outcome.file == nil)
    await fixture.end(second)
  }

  @Test func `a pause that was made before the clock was set back is over`() {
    var delivery = DeliveryStateMachine.Delivery(id: UUID(), session: session, tasks: [1])
    delivery.exits = 3
    for (left, isOver) in [(0.5, false), (1, false), (459, true), (-1, true)] {
      delivery.notBefore = now.addingTimeInterval(left)
      var stateMachine = DeliveryStateMachine(
        sessions: [session: DeliveryStateMachine.Session(sendsLaunchEvents: true)], deliveries: [delivery],
        settings: TransferSettings())
      #expect(stateMachine.handle(.began, now: now).isEmpty != isOver, "\(left)")
    }
  }

  @Test func `a pause is not over when it begins, however its end is rounded`() {
    for pause in [0.1, 0.2, 0.3, 0.7, 1.1, 59.9] {
      for second in 0..<100 {
        let start = now.addingTimeInterval(Double(second) * 1.1)
        #expect(!Backoff.isOver(start.addingTimeInterval(pause), longest: pause, at: start))
      }
    }
  }

  @Test func `a host that starts removes files that belong to no delivery`() async throws {
    let fixture = try await TransferFixture(.init(bytes: figures(1000)))
    let first = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus, .acknowledgesOnRequest)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await first.awake(widget, generation: 1, woken: false)
    let file = try #require(await owner.next()?.events.outcomes.first?.file)
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    await fixture.end(first)
    for name in ["CFNetworkDownload_abc123.tmp", "list.json", "author.txt"] {
      try Data().write(to: folder.appendingPathComponent(name))
    }
    let second = try await fixture.host()
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(Set(left) == [URL(fileURLWithPath: file).lastPathComponent, "author.txt"])
    await second.ended(widget, generation: 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["author.txt"])
    await fixture.end(second)
  }
}
