// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Synchronization
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget
private let bytes = figures(300_000)
private let off = NetworkState(path: .off)

/// How the transfer service performs the actions of the loading state machine.
@Suite(.timeLimit(.minutes(1))) struct LoadingServiceTests {
  private func waits(_ fixture: TransferFixture, for words: String) async {
    _ = await fixture.bus.first {
      guard $0.header.kind == TransferProgress.kind,
        let notice = try? BodyCoding.decode(TransferProgress.self, from: $0.body)
      else { return false }
      return notice.step == .waiting && notice.detail?.contains(words) == true
    }
  }

  @Test(.rule("TRANSFER-08")) func `a redirected task does not count as a connection to its new host`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 1_000))
    let other = fixture.server.url.replacing("127.0.0.1", with: "localhost").replacing("/file", with: "/elsewhere")
    fixture.server.behave { $0.redirectTo = other }
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    try await owner.create(1, fixture.server.url)
    // It has bytes from the host that it was redirected to.
    await fixture.received(TransferCounted.kind)
    try await owner.create(2, other)
    await fixture.recorded(.started, 2)
    // The connection to the original host is counted until the task ends.
    try await owner.create(3, fixture.server.url)
    #expect(await fixture.recorded(.waiting)?.taskIdentifier == 3)
    await fixture.end(service)
    fixture.server.release()
  }

  @Test(.rule("TRANSFER-05"))
  func `a download stops when the network goes off and resumes with a Range request when it returns`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.received(TransferCounted.kind)
    await service.setNetwork(off)
    await waits(fixture, for: "connectivity")
    fixture.server.release()
    await service.setNetwork(NetworkState())
    #expect((await fixture.recorded(.resumed)?.bytes ?? 0) > 0)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    #expect(try await service.list(ListSessions(), clock: fixture.clockState).network == NetworkState())
    await fixture.end(service)
  }

  @Test func `the host sends no request while the network is off at its start`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host(network: off)
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await waits(fixture, for: "connectivity")
    #expect(fixture.server.seen == [])
    await service.setNetwork(NetworkState())
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    await fixture.end(service)
  }

  @Test(.rule("TRANSFER-07"))
  func `a task that reaches its resource timeout fails with -1001 and names the network it was denied`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host(network: NetworkState(path: .cellular))
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open(SessionConfiguration(timeoutIntervalForResource: 30, allowsCellularAccess: false))
    try await owner.create(1, fixture.server.url)
    await waits(fixture, for: "a network that session and request permit")
    await fixture.clock.whenSleeping(within: 30)
    fixture.clock.advance(by: 30)
    await fixture.recorded(.failed)
    await service.awake(widget, generation: 1, woken: false)
    let failure = await owner.next()?.outcomes.first?.failure
    #expect(failure?.code == -1001)
    #expect(failure?.networkUnavailableReason == 0)
    await fixture.end(service)
  }

  @Test(.rule("TRANSFER-02"))
  func `an advance of the clock waits until a task that reaches its resource timeout has ended`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 100_000))
    let clock = AdjustableClock(.held(fixture.clock.now))
    let service = try await fixture.host(clock: clock)
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open(SessionConfiguration(timeoutIntervalForResource: 30))
    try await owner.create(1, fixture.server.url)
    await fixture.received(TransferCounted.kind)
    try await clock.advance(by: 3600)
    await service.awake(widget, generation: 1, woken: false)
    let outcome = await owner.next()?.outcomes.first
    #expect(outcome?.failure?.code == -1001)
    #expect(outcome?.metrics?.ended == fixture.clock.now + 30)
    await fixture.end(service)
  }

  @Test(.rule("TRANSFER-54"))
  func `a download whose server sends one byte now and then fails with -1001 at its resource timeout`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let server = try await RawServer.start { _ in
      [.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"), .drip(1_000_000_000)]
    }
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open(SessionConfiguration(timeoutIntervalForResource: 30))
    try await owner.create(1, server.url)
    await fixture.received(TransferCounted.kind)
    await fixture.clock.whenSleeping(within: 30)
    fixture.clock.advance(by: 30)
    await fixture.recorded(.failed)
    await service.awake(widget, generation: 1, woken: false)
    let outcome = await owner.next()?.outcomes.first
    #expect(outcome?.failure?.code == -1001)
    #expect(server.seen.count == 1)
    await fixture.end(service)
    await server.stop()
  }

  @Test(.rule("TASK-15"))
  func `a download that reaches its resource timeout keeps its bytes as resume data for another task`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open(SessionConfiguration(timeoutIntervalForResource: 30))
    try await owner.create(1, fixture.server.url)
    await fixture.received(TransferCounted.kind)
    await fixture.clock.whenSleeping(within: 30)
    fixture.clock.advance(by: 30)
    await fixture.recorded(.failed)
    await service.awake(widget, generation: 1, woken: false)
    let failure = await owner.next()?.outcomes.first?.failure
    #expect(failure?.code == -1001)
    fixture.server.release()
    try await owner.create(2, "", resumeData: failure?.resumeData)
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    #expect(fixture.server.seen.count == 2)
    #expect(fixture.server.seen.last?.range != nil)
    await fixture.end(service)
  }

  @Test
  func `a suspended task stays suspended across a host restart and resumes at the end of its file`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 100_000))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.received(TransferCounted.kind)
    try await owner.change(ChangeTransfer(session: "figures", taskIdentifier: 1, isSuspended: true))
    await waits(fixture, for: "resume()")
    await fixture.end(service)
    fixture.server.release()
    let second = try await fixture.host()
    #expect(try await owner.open().tasks.map(\.isSuspended) == [true])
    let report = try await second.list(ListSessions(), clock: fixture.clockState).tasks.first
    #expect(report?.state == .suspended)
    try await owner.change(
      ChangeTransfer(session: "figures", taskIdentifier: 1, isSuspended: false, description: .init(nil), priority: 1))
    #expect(await fixture.recorded(.finished)?.sha256 == digest(bytes))
    let task = try await owner.open().tasks.first
    #expect(task?.isSuspended == false)
    #expect(task?.taskDescription == nil)
    #expect(task?.priority == 1)
    await fixture.end(second)
  }

  @Test(.rule("TRANSFER-04")) func `consecutive failures are counted across a host restart`() async throws {
    let fixture = try await TransferFixture(.init())
    let port = UnheardPort()
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, port.url)
    for (failure, pause) in [1.0, 2, 4].enumerated() {
      await fixture.recorded(.retrying, failure + 1)
      await fixture.clock.whenSleeping(within: pause)
      if pause < 4 { fixture.clock.advance(by: pause) }
    }
    await fixture.end(service)
    let second = try await fixture.host()
    let report = try await second.list(ListSessions(), clock: fixture.clockState).tasks.first
    #expect(report?.state == .waiting)
    #expect(report?.attempts == 3)
    #expect(report?.nextTry == fixture.clock.now + 4)
    await fixture.end(second)
  }

  @Test(.rule("TRANSFER-19"))
  func `a wake raises the resume rate limiter, which still holds background tasks after a host restart`()
    async throws
  {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    try await owner.create(1, fixture.server.url)
    await fixture.recorded(.finished)
    await service.awake(widget, generation: 1, woken: true)
    await fixture.received(SessionAcknowledged.kind)
    let raised = try await fixture.limiterChanges(1)
    #expect(raised.map(\.delay) == [60])
    let either = [LimiterChanged.kind, SessionEvents.kind]
    let first = await fixture.bus.first { either.contains($0.header.kind) }
    #expect(first?.header.kind == LimiterChanged.kind, "the limiter is raised before the events are sent")
    try await owner.create(2, fixture.server.url)
    await waits(fixture, for: "limiter")
    await fixture.end(service)
    let second = try await fixture.host()
    let until = try await second.list(ListSessions(), clock: fixture.clockState).sessions.first?.limitedUntil
    #expect(until == fixture.clock.now + 60)
    await fixture.clock.whenSleeping(within: 60)
    fixture.clock.advance(by: 60)
    await fixture.recorded(.finished, 2)
    #expect(try await fixture.limiterChanges(2).last?.delay == 0)
    await fixture.end(second)
  }

  @Test(.rule("TRANSFER-19"))
  func `tasks that end while their owner runs do not raise the resume rate limiter`() async throws {
    let fixture = try await TransferFixture(.init(bytes: bytes))
    let service = try await fixture.host()
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    for task in 1...2 {
      try await owner.create(task, fixture.server.url)
      await fixture.recorded(.finished, task)
      await service.awake(widget, generation: 1, woken: false)
      #expect(await owner.next() != nil)
      // A task that ends before the acknowledgement is in a later delivery.
      await fixture.received(SessionAcknowledged.kind)
    }
    #expect(await fixture.bus.sentEnvelopes.contains { $0.header.kind == LimiterChanged.kind } == false)
    await fixture.end(service)
  }

  // One count per 1,000 s: only the first and the last are due on any machine. The owner does not run at the last.
  @Test(.rule("TASK-09"), arguments: [0.001, 0])
  func `a running owner receives byte counts at the configured rate, and an owner that does not run receives none`(
    perSecond: Double
  )
    async throws
  {
    let fixture = try await TransferFixture(.init(bytes: bytes, pauseAfter: 100_000))
    let service = try await fixture.host { $0.countsPerSecond = perSecond }
    let owner = try await ModelOwner(fixture.bus)
    try await owner.open()
    if perSecond == 0 { fixture.server.release() }
    try await owner.create(1, fixture.server.url)
    if perSecond > 0 {
      await fixture.received(TransferCounted.kind)
      fixture.awake.withLock { $0 = false }
      fixture.server.release()
    }
    await fixture.recorded(.finished)
    let counts = await fixture.bus.sentEnvelopes.filter { $0.header.kind == TransferCounted.kind }
    #expect(counts.count == (perSecond > 0 ? 1 : 0))
    await fixture.end(service)
  }
}
