// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget

extension TransferService {
  /// The number of tasks of the service that have not ended.
  fileprivate var runningTasks: Int { scheduler.tasks.count + scheduler.counter.tasks.count + delivery.tasks.count }

  /// The owner acknowledges a delivery, and the host begins to leave before anything else happens.
  fileprivate func acknowledgeAndStop(_ id: UUID) {
    delivery.handle(.acknowledged(id))
    context.core.stop()
  }
}

/// The end of the transfer service.
@Suite(.timeLimit(.minutes(1))) struct LeaveTests {
  private func never() async {
    let (never, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    continuation.finish()
  }

  @Test func `a service that leaves records the last acknowledgement and removes its files`() async throws {
    let fixture = try await TransferFixture(.init(bytes: figures(100_000)))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus, .acknowledgesOnRequest)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await service.awake(widget, generation: 1, woken: false)
    await service.acknowledgeAndStop(try #require(await owner.next()).id)
    await service.leave()
    await fixture.received(SessionAcknowledged.kind)
    #expect(fixture.files(below: "transfers", ending: ".part") == [])
    #expect(fixture.files(below: "containers", ending: ".tmp") == [])
    await fixture.end(service)
  }

  @Test func `a service that leaves ends its attempts, deliveries, checks and questions to owners`() async throws {
    let fixture = try await TransferFixture(.init(bytes: figures(300_000), pauseAfter: 100_000))
    let server = try await RawServer.start { _ in
      [response("which client?", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"a\"")]
    }
    // Longer than any run of this test: the deadline of a question to an owner is in machine time.
    let deadline = 100_000.0
    let service = try await fixture.host {
      $0.limiterFirst = 0
      $0.completionDeadline = deadline
    }
    let owner = try await ModelOwner(fixture.bus, .acknowledgesOnRequest)
    owner.connection.onRequest(BeginDelayedRequest.self) { _, _ in
      await never()
      return BeginDelayedRequest.Reply(disposition: .continueLoading)
    }
    for session in ["loading", "challenged", "delayed", "ended"] {
      try await owner.open(SessionConfiguration(timeoutIntervalForRequest: deadline), named: session)
    }
    // A question before a task begins, and a delivery.
    try await owner.create(1, fixture.server.url, in: "delayed", after: fixture.clock.now)
    try await owner.create(1, "ftp://example.com/", in: "ended")
    await fixture.recorded(.failed)
    await service.awake(widget, generation: 1, woken: true)
    await fixture.received(BeginDelayedRequest.kind)
    #expect(await owner.next()?.events.session == "ended")
    // Two attempts: one receives a file, the other waits for its owner to run.
    try await owner.create(1, fixture.server.url, in: "loading")
    await fixture.received(TransferCounted.kind)
    try await owner.create(1, server.url, in: "challenged")
    _ = await fixture.bus.first {
      let notice = try? BodyCoding.decode(TransferProgress.self, from: $0.body)
      return $0.header.kind == TransferProgress.kind && notice?.detail?.contains("challenge") == true
    }
    // The check whether the delivery may still be acknowledged waits for the bus.
    await fixture.clock.whenSleeping(within: deadline)
    await fixture.bus.disconnect(.host("iphone"))
    fixture.clock.advance(by: deadline)
    await fixture.clock.whenSleeping(within: 5)
    fixture.clock.advance(by: 5)
    while await service.runningTasks < 5 {
      try Task.checkCancellation()
      await Task.yield()
    }
    await service.leave()
    #expect(await service.runningTasks == 0)
    // Nothing is started after the end.
    await service.awake(widget, generation: 2, woken: true)
    await service.setNetwork(NetworkState(path: .cellular))
    #expect(await service.runningTasks == 0)
    await server.stop()
  }
}
