import Conversations
import Foundation
import GRDB
import MessageBus
import Testing
import Timekeeping
import ZeroMQ

@testable import Launching

private let widget = Address.widgetExtension("iphone", "com.example.Widget")

/// A life of the host: its launcher, and what it asks of the rest.
private struct Host {
  let launcher: Launcher
  var intents: Intents<LaunchIntent>.Iterator
}

/// A launcher with a model agent on a bus in memory, on a clock that the test advances.
private struct Scene {
  let bus = InMemoryBus()
  let clock = HeldClock()
  let database: DatabaseQueue
  let agent: ModelAgent

  init() async throws {
    database = try DatabaseQueue()
    agent = ModelAgent(bus)
    try await agent.start()
  }

  /// A life of the host.
  func host() async throws -> Host {
    let connection = bus.connection(.host("iphone"))
    let program = Program(
      address: widget, agent: agent.address, executable: "widget-extension", container: { "/nowhere" }, groups: [:],
      environment: { ["A": "b"] })
    let launcher = try Launcher(
      programs: [program], database: database, bus: connection, clock: clock, suspendAfter: 1)
    connection.onEvent(AgentStarted.self) { event, from in try await launcher.started(event, agent: from.source) }
    connection.onEvent(ProcessExited.self) { event, _ in try await launcher.exited(event) }
    connection.onEvent(MemoryExceeded.self) { event, _ in try await launcher.exceededMemory(event) }
    connection.onRequest(ProcessReady.self) { _, from in
      try await launcher.ready(from.source, generation: from.sourceGeneration)
      return Done()
    }
    _ = try await connection.start()
    await launcher.begin()
    return Host(launcher: launcher, intents: launcher.intents.makeAsyncIterator())
  }

  /// Waits until the host recorded that the widget is in a state.
  func recorded(_ state: String, generation: UInt32) async {
    _ = await bus.first { envelope in
      guard envelope.header.kind == ProcessState.kind,
        let notice = try? BodyCoding.decode(ProcessState.self, from: envelope.body)
      else { return false }
      return notice.state == state && notice.generation == generation
    }
  }
}

extension Launcher {
  /// Whether its work is done on that loop's thread.
  fileprivate func works(on loop: Loop) -> Bool { loop.isCurrent }

  /// Its instant comes, and before it can hear of that it hears something else.
  fileprivate func miss(_ clock: HeldClock, by seconds: Double) {
    clock.advance(by: seconds)
    release(.app("iphone", "com.example.Other"), because: .foreground)
  }
}

@Suite(.timeLimit(.minutes(1))) struct LauncherTests {
  @Test func `the outcome of a launch reaches each caller that waits for it`() async throws {
    let scene = try await Scene()
    let host = try await scene.host()
    await scene.agent.setCrashes(.max)
    await host.launcher.want(widget, because: Assertion("timeline"))
    let failure = await host.launcher.launchOutcome(of: widget, within: .seconds(50))
    #expect(failure?.code == .endedAtLaunch)
    #expect(await host.launcher.launchFailure(of: widget) == failure)
    // The next question starts it again, although the clock is held and the pause after a failure lasts.
    await scene.agent.setCrashes(0)
    #expect(await host.launcher.launchOutcome(of: widget, within: .seconds(50)) == nil)
    #expect(await host.launcher.awakeLife(of: widget) != nil)
  }

  @Test func `a process that is not being launched has no outcome to wait for`() async throws {
    let scene = try await Scene()
    let host = try await scene.host()
    #expect(await host.launcher.launchOutcome(of: widget, within: .seconds(50)) == nil)
  }

  @Test func `a handler of the bus has it do its work, and does not lend it the thread of the bus`() async throws {
    let loop = Loop(name: "bus")
    let launcher = try Launcher(
      programs: [], database: try DatabaseQueue(), bus: InMemoryBus().connection(.host("iphone")), clock: HeldClock(),
      suspendAfter: 1)
    await loop.task { #expect(await !launcher.works(on: loop)) }.value
    await loop.stop()
  }

  @Test func `a process is launched, stopped when nobody wants it, and continued`() async throws {
    let scene = try await Scene()
    var host = try await scene.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    let life = Life(generation: 1, pid: 1001)
    #expect(await host.intents.next() == .awake(widget, life, woken: true))
    await host.launcher.release(widget, because: Assertion("timeline"))
    await scene.clock.whenSomebodySleeps(within: 1)
    scene.clock.advance(by: 1)
    await scene.recorded("suspended", generation: 1)
    #expect(await host.intents.next() == .suspended(widget, life))
    await host.launcher.want(widget, because: Assertion("events a"))
    #expect(await host.intents.next() == .awake(widget, life, woken: true))
    #expect(await scene.agent.violations == [])
  }

  @Test func `a crash on launch is tried again after the pause`() async throws {
    let scene = try await Scene()
    await scene.agent.setCrashes(1)
    var host = try await scene.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    #expect(await host.intents.next() == .ended(widget, Life(generation: 1, pid: 1001), .exited(code: 1)))
    await scene.clock.whenSomebodySleeps(within: 1)
    scene.clock.advance(by: 1)
    #expect(await host.intents.next() == .awake(widget, Life(generation: 2, pid: 1002), woken: true))
  }

  @Test func `what is due is done although something else is heard at that moment`() async throws {
    let scene = try await Scene()
    await scene.agent.setCrashes(1)
    var host = try await scene.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    #expect(await host.intents.next() == .ended(widget, Life(generation: 1, pid: 1001), .exited(code: 1)))
    await scene.clock.whenSomebodySleeps(within: 1)
    await host.launcher.miss(scene.clock, by: 1)
    #expect(await host.intents.next() == .awake(widget, Life(generation: 2, pid: 1002), woken: true))
  }

  @Test func `a host that comes back finds its process alive and does not launch it again`() async throws {
    let scene = try await Scene()
    var host = try await scene.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.intents.next()
    await scene.bus.disconnect(.host("iphone"))
    var second = try await scene.host()
    await second.launcher.want(widget, because: Assertion("timeline"))
    #expect(await second.intents.next() == .awake(widget, Life(generation: 1, pid: 1001), woken: false))
    #expect(await scene.agent.violations == [])
  }

  @Test func `what died while the host was away is told when it comes back`() async throws {
    let scene = try await Scene()
    var host = try await scene.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.intents.next()
    await scene.bus.disconnect(.host("iphone"))
    let exit = Task { await scene.agent.end(widget, .signalled(signal: SIGKILL)) }
    var second = try await scene.host()
    let life = Life(generation: 1, pid: 1001)
    #expect(await second.intents.next() == .ended(widget, life, .signalled(signal: SIGKILL)))
    await exit.value
    #expect(await second.launcher.status.first?.lastEnding == .signalled(signal: SIGKILL))
  }

  @Test func `an eviction is finished by the next life of the host, which knows why`() async throws {
    let scene = try await Scene()
    var host = try await scene.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.intents.next()
    await scene.agent.setDeaf(to: SIGKILL)
    let exceeded = MemoryExceeded(address: widget, generation: 1, pid: 1001, memory: 43_253_760, limit: 31_457_280)
    try await scene.agent.connection.deliver(exceeded, to: .host("iphone"))
    _ = await scene.bus.first { $0.header.kind == SignalProcess.kind.answered(.ok) }
    await scene.bus.disconnect(.host("iphone"))
    await scene.agent.setDeaf(to: nil)
    var second = try await scene.host()
    let why = "memory 41.3 MiB over the limit of 30 MiB"
    let life = Life(generation: 1, pid: 1001)
    #expect(await second.intents.next() == .ended(widget, life, .evicted(why: why)))
    #expect(await second.launcher.status.first?.lastEnding?.description == "evicted: \(why)")
    #expect(await second.launcher.status.first?.why == "evicted: \(why); left alone for 1 s")
  }

  @Test func `children that died with their agent are launched again by the next one`() async throws {
    let scene = try await Scene()
    var host = try await scene.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.intents.next()
    try await scene.agent.dieAndReturn()
    #expect(await host.intents.next() == .ended(widget, Life(generation: 1, pid: 1001), .lostWithAgent))
    #expect(await host.intents.next() == .awake(widget, Life(generation: 2, pid: 1002), woken: true))
  }

  @Test func `an exit that cannot be recorded is not acknowledged`() async throws {
    let scene = try await Scene()
    var host = try await scene.host()
    await host.launcher.want(widget, because: Assertion("timeline"))
    _ = await host.intents.next()
    try await scene.database.write { db in
      try db.execute(sql: "CREATE TRIGGER full BEFORE INSERT ON lives BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    await scene.agent.end(widget, .signalled(signal: SIGKILL))
    guard case .broken = await host.intents.next() else {
      Issue.record("the host goes on")
      return
    }
    #expect(await scene.bus.said.allSatisfy { $0.header.kind != ProcessExited.kind.answered(.acknowledged) })
  }
}
