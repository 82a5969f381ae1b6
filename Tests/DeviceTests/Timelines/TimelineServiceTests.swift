// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
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

private let widget = TimelineSamples.widget
private let origin = TimelineSamples.origin

@Suite(.timeLimit(.minutes(1))) struct `Timeline service` {
  private let awake = ProcessAction.want(widget, because: "timeline")
  private let release = ProcessAction.release(widget, because: "timeline")

  @Test(.rule("TIMELINE-02"))
  func `the timeline service wakes the extension of a placement, requests its timeline and stores it`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    var actions = service.device.processes.makeAsyncIterator()
    #expect(await actions.next() == awake)
    let process = try await fixture.startExtension("95 mg")
    await service.awake(widget)
    let storedTimeline = try #require(await fixture.received(TimelineStored.self))
    #expect(
      storedTimeline.text == ["Coffee: 95 mg"] && storedTimeline.placement == 1 && storedTimeline.because == .added)
    #expect(
      storedTimeline.entries == 1 && storedTimeline.bytes > 0 && storedTimeline.digest.count == 16
        && storedTimeline.note == nil)
    #expect(await fixture.received(EntryShown.self)?.text == ["Coffee: 95 mg"])
    #expect(await actions.next() == release)
    #expect(await service.status().map(\.widgetKind) == ["Coffee"])
    let shown = try #require(try await service.shown(1))
    #expect(shown.entry?.view == .text("Coffee: 95 mg") && !shown.isPlaceholder)
    await process.leave()
  }

  @Test(.rule("TIMELINE-03")) func `a placement shows its placeholder until its timeline arrives`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    let (questions, continuation) = AsyncStream.makeStream(of: Void.self)
    let silence = AsyncStream.makeStream(of: Void.self)
    let process = try await fixture.startExtension { _ in
      continuation.yield()
      for await _ in silence.stream {}
      return oneEntry("95 mg")
    }
    await service.awake(widget)
    _ = await questions.first { _ in true }
    #expect(try await service.shown(1)?.isPlaceholder == true)
    silence.continuation.finish()
    _ = await fixture.received(EntryShown.self)
    #expect(try await service.shown(1)?.isPlaceholder == false)
    await process.leave()
  }

  @Test(.rule("TIMELINE-04"))
  func `the last entry stays visible during a placeholder request, and the newest placeholder is kept`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    let gate = AsyncStream.makeStream(of: Void.self)
    let (questions, continuation) = AsyncStream.makeStream(of: Void.self)
    let count = Mutex(0)
    let process = fixture.bus.connection(widget)
    process.onRequest(RequestTimeline.self) { request, _ in
      guard request.purpose == .placeholder else { return oneEntry("95 mg") }
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 2 {
        continuation.yield()
        for await _ in gate.stream {}
      }
      return oneEntry("placeholder \(number)")
    }
    _ = try await process.start()
    await service.awake(widget)
    _ = await fixture.received(TimelineStored.self)
    #expect(try await service.placeholder(1)?.view == .text("placeholder 1"))
    try await service.systemChanged("text-size")
    await service.awake(widget)
    _ = await questions.first { _ in true }
    #expect(try await service.shown(1)?.entry?.view == .text("95 mg"))
    #expect(try await service.placeholder(1)?.view == .text("placeholder 1"))
    gate.continuation.finish()
    _ = await fixture.received(TimelineStored.self, 2)
    #expect(try await service.placeholder(1)?.view == .text("placeholder 2"))
    await process.leave()
  }

  @Test(.rule("TIMELINE-25")) func `a snapshot is returned to its requester and not stored`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host(kinds: [])
    try await service.setKinds(widget, [WidgetDeclaration(kind: "Coffee")])
    let process = try await fixture.startExtension("95 mg")
    async let snapshot = service.snapshot(TakeSnapshot(widgetKind: "Coffee"))
    var actions = service.device.processes.makeAsyncIterator()
    #expect(await actions.next() == awake)
    await service.awake(widget)
    #expect(try await snapshot.text == ["Coffee: 95 mg"])
    #expect(await service.status().isEmpty)
    await process.leave()
  }

  @Test(.rule("TIMELINE-21"))
  func `a failed reload keeps the last timeline and reports the reason`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    let process = try await fixture.startExtension("95 mg")
    await service.awake(widget)
    _ = await fixture.received(TimelineStored.self)
    await fixture.bus.disconnect(widget)
    let failing = try await fixture.startExtension { _ in throw BusError(.failed, "the provider failed") }
    try await fixture.reload("Coffee")
    await service.awake(widget)
    let failed = try #require(await fixture.received(ReloadFailed.self))
    #expect(failed.reason == "failed: the provider failed" && failed.nextTry == origin + 60)
    let status = await service.status()
    #expect(status.map(\.text) == [["Coffee: 95 mg"]])
    #expect(status.first?.note == "the last reload failed: failed: the provider failed")
    #expect(await service.stateMachine.placements[1]?.lastFailure?.reason == "failed: the provider failed")
    await process.leave()
    await failing.leave()
  }

  @Test func `kinds that an update of the app made unknown are unknown after a restart of the host`() async throws {
    let fixture = try TimelineServiceFixture()
    let first = try await fixture.host()
    #expect(await first.core.state.timelines.kinds[widget] != nil)
    try await first.record(.kindsForgotten([widget]))
    await first.leave()
    let second = try await fixture.host(kinds: [])
    #expect(await second.core.state.timelines.kinds[widget] == nil)
    await second.leave()
  }

  @Test(.rule("TIMELINE-20"))
  func `a pending reload survives a host restart, and an entry that came due is shown`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    let process = try await fixture.startExtension { _ in
      let entries = [0.0, 600, 1200].map { ArchivedEntry(date: origin + $0, view: .text("\($0)")) }
      return RequestTimeline.Reply(entries: entries, policy: .atEnd)
    }
    await service.awake(widget)
    #expect(await fixture.received(EntryShown.self)?.text == ["0.0"])
    try await fixture.reload("Coffee")
    await fixture.bus.disconnect(.host("iphone"))
    let second = try await fixture.host(kinds: [], clock: ManualClock(origin + 700))
    var actions = second.device.processes.makeAsyncIterator()
    #expect(await fixture.received(EntryShown.self, 2)?.text == ["600.0"])
    #expect(await actions.next() == awake)
    #expect(try await second.shown(1)?.entry?.view == .text("600.0"))
    let lines = try await second.list(ListBudget()).entries
    #expect(lines.map(\.rule) == ["added", "operator"])
    await process.leave()
  }

  @Test(.rule("TIMELINE-11"))
  func `the shown entry stays until the first entry of a new timeline is due`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    let process = try await fixture.startExtension("old")
    await service.awake(widget)
    _ = await fixture.received(TimelineStored.self)
    await fixture.bus.disconnect(widget)
    let next = try await fixture.startExtension { _ in oneEntry("new", origin + 600) }
    try await fixture.reload("Coffee")
    await service.awake(widget)
    _ = await fixture.received(TimelineStored.self, 2)
    #expect(try await service.shown(1)?.entry?.view == .text("Coffee: old"))
    fixture.clock.advance(by: 600)
    _ = await fixture.received(EntryShown.self, 2)
    #expect(try await service.shown(1)?.entry?.view == .text("new"))
    await process.leave()
    await next.leave()
  }

  @Test func `a reload that cannot be stored is not acknowledged`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host(kinds: [])
    var outputs = service.device.failures.makeAsyncIterator()
    try await fixture.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON timelineFacts BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    let error = await #expect(throws: BusError.self) { try await fixture.reload("Coffee") }
    #expect(error?.code == .failed)
    #expect(await outputs.next() != nil)
  }

  @Test(.rule("TIMELINE-24"), arguments: [30, 4])
  func `an extension that exceeds the timeline deadline on the machine's clock is halted`(limit: Int) async throws {
    var fixture = try TimelineServiceFixture()
    fixture.settings.deadline = Double(limit)
    let service = try await fixture.host()
    var actions = service.device.processes.makeAsyncIterator()
    let silence = AsyncStream.makeStream(of: Void.self)
    let (questions, continuation) = AsyncStream.makeStream(of: Void.self)
    let hanging = try await fixture.startExtension { _ in
      continuation.yield()
      for await _ in silence.stream {}
      return oneEntry("late")
    }
    await service.awake(widget)
    _ = await questions.first { _ in true }
    await fixture.machine.whenSleeping(within: Double(limit))
    fixture.machine.advance(by: Double(limit))
    #expect(await fixture.received(ReloadFailed.self)?.reason.hasPrefix("no timeline within \(limit) s") == true)
    while let action = await actions.next(), action != .halt(widget, because: "timeline") {}
    silence.continuation.finish()
    await hanging.leave()
  }

  @Test(.rule("TIMELINE-25"), arguments: [30, 4])
  func `a snapshot that exceeds the timeline deadline fails`(limit: Int) async throws {
    var fixture = try TimelineServiceFixture()
    fixture.settings.deadline = Double(limit)
    let service = try await fixture.host()
    let silence = AsyncStream.makeStream(of: Void.self)
    let (questions, continuation) = AsyncStream.makeStream(of: Void.self)
    let hanging = try await fixture.startExtension { request in
      guard request.purpose == .snapshot else { return oneEntry("in time") }
      continuation.yield()
      for await _ in silence.stream {}
      return oneEntry("late")
    }
    await service.awake(widget)
    // The deadline of this timeline would end the extension, too.
    await service.whenReloaded(1)
    let snapshot = Task.immediate { try await service.snapshot(TakeSnapshot(widgetKind: "Coffee")) }
    await service.awake(widget)
    _ = await questions.first { _ in true }
    await fixture.machine.whenSleeping(within: Double(limit))
    fixture.machine.advance(by: Double(limit))
    let error = await #expect(throws: BusError.self) { try await snapshot.value }
    #expect(error?.description.contains("no snapshot within \(limit) s") == true)
    silence.continuation.finish()
    await hanging.leave()
  }

  @Test
  func `an advanced clock waits for each request, so that six simulated hours have their reloads on time`() async throws
  {
    var fixture = try TimelineServiceFixture()
    fixture.policy.perDay = nil
    let clock = AdjustableClock(.held(origin), patience: .seconds(3600))
    let process = fixture.bus.connection(widget)
    process.onRequest(RequestTimeline.self) { request, _ in
      let now = clock.now
      let entries = [0.0, 900].map {
        ArchivedEntry(date: now + $0, view: .text("\(now.timeIntervalSince(origin) + $0)"))
      }
      return RequestTimeline.Reply(entries: entries, policy: .after(now + 1800))
    }
    _ = try await process.start()
    let connection = fixture.bus.connection(.host("iphone"))
    let service = try await TimelineService.alone(
      [widget], database: fixture.database, bus: connection, clock: clock, machine: AdjustableClock(.running(ahead: 0)),
      policy: fixture.policy, environment: { WidgetEnvironment(family: $0.family, width: 1, height: 1) })
    _ = try await connection.start()
    await service.core.observe { step in
      for case .process(.want(let address, _, _)) in step.requests { service.awake(address) }
    }
    try await fixture.learn(service)
    _ = await fixture.received(EntryShown.self)
    try await clock.advance(by: 6 * 3600)
    let shown = await fixture.bus.sentEnvelopes.filter { $0.header.kind == EntryShown.kind }
      .compactMap { try? BodyCoding.decode(EntryShown.self, from: $0.body).text.first }
    #expect(shown == (0...24).map { "\(Double($0) * 900)" })
    await process.leave()
  }

  @Test func `an ended timeline service has no running task, and the next instance repeats its request`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    let (questions, continuation) = AsyncStream.makeStream(of: Void.self)
    let silence = AsyncStream.makeStream(of: Void.self)
    let hanging = try await fixture.startExtension { _ in
      continuation.yield()
      for await _ in silence.stream {}
      return oneEntry("late")
    }
    await service.awake(widget)
    _ = await questions.first { _ in true }
    let snapshot = Task.immediate {
      try await service.snapshot(TakeSnapshot(widgetKind: "Coffee", family: .systemSmall))
    }
    let reloaded = Task.immediate { await service.whenReloaded(1) }
    await service.leave()
    #expect(await service.tasks.count == 0)
    await #expect(throws: BusError.self) { try await snapshot.value }
    await reloaded.value
    let error = await #expect(throws: BusError.self) { try await service.removed(1) }
    #expect(error?.code == .closed)
    silence.continuation.finish()
    await hanging.leave()
    await fixture.bus.disconnect(.host("iphone"))
    let next = try await fixture.host(kinds: [], clock: ManualClock(origin))
    let process = try await fixture.startExtension("95 mg")
    await next.awake(widget)
    #expect(await fixture.received(TimelineStored.self)?.text == ["Coffee: 95 mg"])
    await process.leave()
  }

  @Test func `the timeline service does not run on the thread of the bus`() async throws {
    let fixture = try TimelineServiceFixture()
    let service = try await fixture.host()
    let loop = fixture.bus.loop
    let isOnLoop = await withCheckedContinuation { continuation in
      loop.task { continuation.resume(returning: await service.isOn(loop)) }
    }
    #expect(!isOnLoop)
  }
}

extension TimelineService {
  fileprivate func isOn(_ loop: Loop) -> Bool { loop.isCurrent }
}
