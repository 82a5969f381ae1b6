// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Stores
import Testing
import Timekeeping
import ZeroMQ

@testable import Device
@testable import DeviceRules

private let widget = Address.widgetExtension("iphone", "com.example.Widget")

/// A host process: its launch service and the outputs of that service.
private struct Host {
  let launcher: LaunchService
  var outputs: AsyncStream<DeviceRequest>.Iterator
}

/// A launch service with a model agent, an in-memory bus and a clock that the test advances.
private struct LaunchServiceFixture {
  let bus = InMemoryBus()
  let clock = ManualClock()
  let database: DatabaseQueue
  let agent: ModelAgent

  init() async throws {
    database = try DatabaseQueue()
    agent = ModelAgent(bus)
    try await agent.start()
  }

  /// Starts a host process.
  func host() async throws -> Host {
    let connection = bus.connection(.host("iphone"))
    let program = Program(address: widget, agent: agent.address) { _, reason in
      SpawnProcess(
        address: widget, executable: "widget-extension", environment: ["A": "b"], container: "/nowhere", groups: [:],
        reason: reason)
    }
    let storedState = try LaunchService.Stored([program], DeviceTransactions(immediate: database), suspendAfter: 1)
    let device = await LoneDevice(DeviceStateMachine { $0.launching = storedState.stateMachine }, clock: clock)
    let launcher = LaunchService(storedState, core: device.core, bus: connection, clock: clock)
    await device.core.connect(launcher)
    connection.onEvent(AgentStarted.self) { event, from in
      try await launcher.record(.agentReported(from.source, incarnation: event.incarnation, children: event.children))
    }
    connection.onEvent(ProcessExited.self) { event, _ in try await launcher.exited(event) }
    connection.onEvent(MemoryExceeded.self) { event, _ in
      let instance = ProcessInstance(generation: event.generation, pid: event.pid)
      try await launcher.record(.exceededMemory(event.address, instance, why: event.description))
    }
    connection.onEvent(LocksHeld.self) { event, _ in
      try await launcher.record(.process(.evict(event.address, generation: event.generation, why: event.description)))
    }
    connection.onRequest(ProcessReady.self) { _, from in
      try await launcher.record(.ready(from.source, generation: from.sourceGeneration))
      return Done()
    }
    _ = try await connection.start()
    await launcher.begin()
    return Host(launcher: launcher, outputs: device.requests.makeAsyncIterator())
  }

  /// Waits until the host has recorded a state of the widget extension.
  func recorded(_ state: String, generation: UInt32) async {
    _ = await bus.first { envelope in
      guard envelope.header.kind == ProcessState.kind,
        let notice = try? BodyCoding.decode(ProcessState.self, from: envelope.body)
      else { return false }
      return notice.state == state && notice.generation == generation
    }
  }
}

extension LaunchService {
  fileprivate func record(_ event: LaunchStateMachine.Event) throws(BusError) { try core.record(.launching(event)) }

  /// Returns whether the service runs on the thread of the loop.
  fileprivate func works(on loop: Loop) -> Bool { loop.isCurrent }

  /// Makes a date due and, before the service can handle it, sends the service another event.
  fileprivate func miss(_ clock: ManualClock, by seconds: Double) {
    clock.advance(by: seconds)
    release(.app("iphone", "com.example.Other"), because: .foreground)
  }

  /// Makes the suspension of the widget extension due and begins it. Before the agent can reply, wants the extension
  /// without launching it.
  fileprivate func wantWhileSuspending(_ clock: ManualClock, because assertion: Assertion) {
    clock.advance(by: 1)
    release(widget, because: "nothing")
    want(widget, because: assertion, mayWake: false)
  }
}

@Suite(.timeLimit(.minutes(1))) struct LaunchServiceTests {
  @Test(.rule("PROCESS-29"), arguments: [(Assertion.foreground, "foreground"), (Assertion("push"), nil)])
  func `a launch by the user differs from one for the background`(assertion: Assertion, launch: String?) async throws {
    let fixture = try await LaunchServiceFixture()
    let host = try await fixture.host()
    await host.launcher.want(widget, because: assertion)
    #expect(await host.launcher.launchOutcome(of: widget, within: .seconds(50)) == nil)
    let requests = await fixture.bus.sentEnvelopes.filter { $0.header.kind == SpawnProcess.kind }
      .compactMap { try? BodyCoding.decode(SpawnProcess.self, from: $0.body) }
    #expect(requests.map { $0.environment[LaunchVariables.launch] } == [launch])
    #expect(requests.map { $0.environment["A"] } == ["b"])
  }

  @Test func `the outcome of a launch reaches each caller that waits for it`() async throws {
    let fixture = try await LaunchServiceFixture()
    let host = try await fixture.host()
    await fixture.agent.setCrashes(.max)
    await host.launcher.want(widget, because: Assertion("timeline"))
    let failure = await host.launcher.launchOutcome(of: widget, within: .seconds(50))
    #expect(failure?.code == .endedAtLaunch)
    #expect(await host.launcher.launchFailure(of: widget) == failure)
    // The next request relaunches the process, although the clock is held and the pause after the failure continues.
    await fixture.agent.setCrashes(0)
    #expect(await host.launcher.launchOutcome(of: widget, within: .seconds(50)) == nil)
    #expect(await host.launcher.stateMachine.runningInstance(of: widget) != nil)
  }

  @Test func `a process that is not being launched has no outcome to wait for`() async throws {
    let fixture = try await LaunchServiceFixture()
    let host = try await fixture.host()
    #expect(await host.launcher.launchOutcome(of: widget, within: .seconds(50)) == nil)
  }

  @Test func `the launch service does not run on the bus thread of the handler that calls it`() async throws {
    let loop = Loop(name: "bus")
    let stored = try LaunchService.Stored([], DeviceTransactions(immediate: DatabaseQueue()), suspendAfter: 1)
    let launcher = LaunchService(
      stored, core: DeviceCore(DeviceStateMachine(), clock: ManualClock()),
      bus: InMemoryBus().connection(.host("iphone")), clock: ManualClock())
    await loop.task { #expect(await !launcher.works(on: loop)) }.value
    await loop.stop()
  }

  @Test func `the launch service performs what other services need from processes until it leaves`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.core.handle(.asked(.process(.want(widget, because: "events a", mayWake: false))))
    #expect(await host.launcher.stateMachine.runningInstance(of: widget) == nil)
    await host.launcher.core.handle(.asked(.process(.want(widget, because: "timeline"))))
    let instance = ProcessInstance(generation: 1, pid: 1001)
    #expect(await host.outputs.next() == .awake(widget, instance, woken: true))
    await host.launcher.core.handle(.asked(.process(.release(widget, because: "timeline"))))
    await host.launcher.core.handle(.asked(.process(.evict(widget, why: "the test ends"))))
    #expect(await host.outputs.next() == .ended(widget, instance, .evicted(why: "the test ends")))
    await host.launcher.leave()
    #expect(host.launcher.tasks.count == 0)
  }

  @Test func `a process is kept running until the last of two operations with one reason ends`() async throws {
    let fixture = try await LaunchServiceFixture()
    let host = try await fixture.host()
    for _ in 1...2 { await host.launcher.want(widget, because: .interaction) }
    await host.launcher.release(widget, because: .interaction)
    #expect(await host.launcher.stateMachine.processes[widget]?.assertions == [.interaction])
    await host.launcher.release(widget, because: .interaction)
    #expect(await host.launcher.stateMachine.processes[widget]?.assertions == [])
  }

  @Test func `a process is launched, stopped when it is no longer wanted, and continued`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    let instance = ProcessInstance(generation: 1, pid: 1001)
    #expect(await host.outputs.next() == .awake(widget, instance, woken: true))
    await host.launcher.release(widget, because: Assertion("timeline"))
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    await fixture.recorded("suspended", generation: 1)
    #expect(await host.outputs.next() == .suspended(widget, instance))
    await host.launcher.want(widget, because: Assertion("events a"))
    #expect(await host.outputs.next() == .awake(widget, instance, woken: true))
    #expect(await fixture.agent.violations == [])
  }

  @Test func `a process that is wanted without a launch while it is being suspended stays suspended`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: "timeline")
    let instance = ProcessInstance(generation: 1, pid: 1001)
    #expect(await host.outputs.next() == .awake(widget, instance, woken: true))
    await host.launcher.release(widget, because: "timeline")
    await host.launcher.wantWhileSuspending(fixture.clock, because: "events a")
    #expect(await host.outputs.next() == .suspended(widget, instance))
    // An output of a `SIGCONT` would be the next one.
    await host.launcher.core.handle(.launching(.allEvicted(why: "the test ends")))
    #expect(await host.outputs.next() == .ended(widget, instance, .evicted(why: "the test ends")))
    #expect(await fixture.agent.violations == [])
  }

  @Test func `a launch service that leaves ends its requests and resumes its callers`() async throws {
    let fixture = try await LaunchServiceFixture()
    let launcher = try await fixture.host().launcher
    await launcher.want(widget, because: "timeline")
    // The agent receives the request and is gone before it replies.
    await fixture.bus.disconnect(fixture.agent.address)
    await launcher.want(widget, because: "events a")
    let outcome = Task { await launcher.launchOutcome(of: widget, within: .seconds(3600)) }
    await launcher.leave()
    #expect(await outcome.value == nil)
    #expect(launcher.tasks.count == 0)
    await #expect(throws: BusError.self) { try await launcher.record(.ready(widget, generation: 1)) }
  }

  @Test func `a crash at launch is retried after the pause`() async throws {
    let fixture = try await LaunchServiceFixture()
    await fixture.agent.setCrashes(1)
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    #expect(await host.outputs.next() == .ended(widget, ProcessInstance(generation: 1, pid: 1001), .exited(code: 1)))
    await fixture.clock.whenSleeping(within: 1)
    fixture.clock.advance(by: 1)
    #expect(await host.outputs.next() == .awake(widget, ProcessInstance(generation: 2, pid: 1002), woken: true))
  }

  @Test func `a due action is performed even when another event arrives at the same moment`() async throws {
    let fixture = try await LaunchServiceFixture()
    await fixture.agent.setCrashes(1)
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    #expect(await host.outputs.next() == .ended(widget, ProcessInstance(generation: 1, pid: 1001), .exited(code: 1)))
    await fixture.clock.whenSleeping(within: 1)
    await host.launcher.miss(fixture.clock, by: 1)
    #expect(await host.outputs.next() == .awake(widget, ProcessInstance(generation: 2, pid: 1002), woken: true))
  }

  @Test func `a restarted host finds its process running and does not launch it again`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.outputs.next()
    await fixture.bus.disconnect(.host("iphone"))
    var second = try await fixture.host()
    await second.launcher.want(widget, because: Assertion("timeline"))
    let instance = ProcessInstance(generation: 1, pid: 1001)
    #expect(await second.outputs.next() == .awake(widget, instance, woken: false, because: "timeline"))
    #expect(await fixture.agent.violations == [])
  }

  @Test func `an exit in the absence of the host is reported when the host returns`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.outputs.next()
    await fixture.bus.disconnect(.host("iphone"))
    let exit = Task { await fixture.agent.end(widget, .signalled(signal: SIGKILL)) }
    var second = try await fixture.host()
    let instance = ProcessInstance(generation: 1, pid: 1001)
    #expect(await second.outputs.next() == .ended(widget, instance, .signalled(signal: SIGKILL)))
    await exit.value
    #expect(await second.launcher.status.first?.lastEnding == .signalled(signal: SIGKILL))
  }

  @Test func `a restarted host completes an eviction and reports its reason`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.outputs.next()
    await fixture.agent.setDeaf(to: SIGKILL)
    let exceeded = MemoryExceeded(address: widget, generation: 1, pid: 1001, memory: 43_253_760, limit: 31_457_280)
    try await fixture.agent.connection.deliver(exceeded, to: .host("iphone"))
    _ = await fixture.bus.first { $0.header.kind == SignalProcess.kind.answered(.ok) }
    await fixture.bus.disconnect(.host("iphone"))
    await fixture.agent.setDeaf(to: nil)
    var second = try await fixture.host()
    let why = "memory 41.3 MiB over the limit of 30 MiB"
    let instance = ProcessInstance(generation: 1, pid: 1001)
    #expect(await second.outputs.next() == .ended(widget, instance, .evicted(why: why)))
    #expect(await second.launcher.status.first?.lastEnding?.description == "evicted: \(why)")
    #expect(await second.launcher.status.first?.why == "evicted: \(why); backing off for 1 s")
  }

  @Test(.rule("PROCESS-22"))
  func `a process that was suspended with a lock is ended with the reason and relaunched when it is wanted`()
    async throws
  {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.outputs.next()
    let lock = HeldLock(group: "group.a", file: "notes.sqlite", kind: "SQLite transaction")
    let held = LocksHeld(address: widget, generation: 1, pid: 1001, locks: [lock], count: 3)
    try await fixture.agent.connection.deliver(held, to: .host("iphone"))
    let why =
      "0xdead10cc: suspended while it held a lock (SQLite transaction) on notes.sqlite of group.a, and 2 more"
    let instance = ProcessInstance(generation: 1, pid: 1001)
    #expect(await host.outputs.next() == .ended(widget, instance, .evicted(why: why)))
    #expect(await host.launcher.status.first?.lastEnding == .evicted(why: why))
    #expect(await host.outputs.next() == .awake(widget, ProcessInstance(generation: 2, pid: 1002), woken: true))
  }

  @Test func `children that were lost with their agent are relaunched by the next agent`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.outputs.next()
    try await fixture.agent.dieAndReturn()
    #expect(await host.outputs.next() == .ended(widget, ProcessInstance(generation: 1, pid: 1001), .lostWithAgent))
    #expect(await host.outputs.next() == .awake(widget, ProcessInstance(generation: 2, pid: 1002), woken: true))
  }

  @Test func `the next instance is launched only after the end of the previous one was handled`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.outputs.next()
    let launcher = host.launcher
    let (received, continuation) = AsyncStream.makeStream(of: (output: DeviceRequest, tasks: Int).self)
    // The request to spawn is a task of the service.
    await launcher.core.observe { step in
      for output in step.requests { continuation.yield((output, launcher.tasks.count)) }
    }
    await fixture.agent.end(widget, .signalled(signal: SIGKILL))
    var iterator = received.makeAsyncIterator()
    let ended = await iterator.next()
    #expect(ended?.output == .ended(widget, ProcessInstance(generation: 1, pid: 1001), .signalled(signal: SIGKILL)))
    #expect(ended?.tasks == 0)
    #expect(await iterator.next()?.output == .awake(widget, ProcessInstance(generation: 2, pid: 1002), woken: true))
  }

  @Test func `an exit that cannot be stored is not acknowledged`() async throws {
    let fixture = try await LaunchServiceFixture()
    var host = try await fixture.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.outputs.next()
    try await fixture.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON instances BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    await fixture.agent.end(widget, .signalled(signal: SIGKILL))
    #expect(await LoneDevice.of(host.launcher.core).failures.first { _ in true } != nil)
    #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != ProcessExited.kind.answered(.acknowledged) })
  }
}
