// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import GRDB
import Messages
import Stores
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let agent = Address.agent("iphone", 1)
private let app = Address.app("iphone", "com.example.App")
private let first = ProcessInstance(generation: 1, pid: 101)
private let second = ProcessInstance(generation: 2, pid: 102)
private let origin = Date(timeIntervalSince1970: 1_000_000_000)

/// A state machine with an app that the user has opened.
private struct ForceQuitFixture {
  var stateMachine = LaunchStateMachine(agents: [app: agent], suspendAfter: 1)

  init() {
    _ = stateMachine.handle(.agentReported(agent, incarnation: UUID(), children: []), now: origin)
    _ = handle(.wanted(app, .foreground))
    _ = handle(.spawned(app, first))
    _ = handle(.ready(app, generation: 1))
  }

  mutating func handle(_ event: LaunchStateMachine.Event) -> [LaunchStateMachine.Action] {
    stateMachine.handle(event, now: origin).filter { if case .changed = $0 { false } else { true } }
  }

  var process: LaunchStateMachine.Process? { stateMachine.processes[app] }
}

@Suite struct `User actions on an app` {
  private let kill = LaunchStateMachine.Action.signal(app, generation: 1, signal: SIGKILL)
  private let crashed = LaunchStateMachine.Action.asks(.ended(app, first, .signalled(signal: SIGKILL)))
  private func ended(_ why: String) -> LaunchStateMachine.Action { .asks(.ended(app, first, .evicted(why: why))) }
  private let exit = LaunchStateMachine.Event.exited(app, first, .signalled(signal: SIGKILL))

  @Test(.rule("PROCESS-15")) func `a force-quit app is killed and not launched for its events`() {
    var fixture = ForceQuitFixture()
    #expect(fixture.handle(.quit(app)) == [kill])
    #expect(fixture.handle(.wanted(app, Assertion("events a"))) == [])
    #expect(fixture.handle(exit) == [ended("force-quit by the user")])
    #expect(fixture.handle(.wanted(app, Assertion("events b"))) == [])
    #expect(fixture.process?.state == .absent)
  }

  @Test func `a force-quit app is launched when the user opens it, and then for its events again`() {
    var fixture = ForceQuitFixture()
    _ = fixture.handle(.quit(app))
    _ = fixture.handle(exit)
    _ = fixture.handle(.wanted(app, Assertion("events a")))
    #expect(fixture.handle(.wanted(app, .foreground)) == [.spawn(app, reason: "events a, foreground")])
    #expect(fixture.process?.isQuit == false)
  }

  @Test(.rule("GALLERY-37"))
  func `a force-quit app is launched when the user taps a control whose intent it performs`() {
    var fixture = ForceQuitFixture()
    _ = fixture.handle(.quit(app))
    _ = fixture.handle(exit)
    #expect(fixture.handle(.wanted(app, .interaction)) == [.spawn(app, reason: "interaction")])
    #expect(fixture.process?.isQuit == false)
  }

  @Test(.rule("BUDGET-08"))
  func `an app with a background activity keeps running and is not relaunched for it when it is killed`() {
    var fixture = ForceQuitFixture()
    _ = fixture.handle(.wanted(app, .activity))
    _ = fixture.handle(.released(app, .foreground))
    #expect(fixture.stateMachine.nextInstant(after: origin) == nil)
    #expect(fixture.handle(exit) == [crashed])
    #expect(fixture.process?.state == .absent && fixture.process?.assertions == [])
  }

  @Test(.rule("PROCESS-27"))
  func `an app with a background task keeps running, and is not relaunched for it when it is killed`() {
    var fixture = ForceQuitFixture()
    _ = fixture.handle(.wanted(app, .backgroundTask))
    _ = fixture.handle(.released(app, .foreground))
    #expect(fixture.stateMachine.nextInstant(after: origin) == nil)
    _ = fixture.handle(.released(app, .backgroundTask))
    #expect(fixture.stateMachine.nextInstant(after: origin) == origin.addingTimeInterval(1))
    _ = fixture.handle(.wanted(app, .backgroundTask))
    #expect(fixture.handle(exit) == [crashed])
    #expect(fixture.process?.state == .absent && fixture.process?.assertions == [])
  }

  @Test(.rule("PROCESS-27"))
  func `a message about background tasks counts only from the present instance, while it is not being ended`() {
    var fixture = ForceQuitFixture()
    #expect(fixture.stateMachine.isCurrent(app, generation: 1))
    #expect(!fixture.stateMachine.isCurrent(app, generation: 2))
    _ = fixture.handle(.evicted(app, generation: 1, why: "an update"))
    #expect(fixture.process?.state == .dying)
    #expect(!fixture.stateMachine.isCurrent(app, generation: 1))
    _ = fixture.handle(.wanted(app, .foreground))
    _ = fixture.handle(exit)
    // The agent has not replied to the spawn yet.
    #expect(fixture.process?.state == .launching && fixture.process?.instance == nil)
    #expect(!fixture.stateMachine.isCurrent(app, generation: 1))
    #expect(fixture.stateMachine.isCurrent(app, generation: 2))
    _ = fixture.handle(.quit(app))
    #expect(!fixture.stateMachine.isCurrent(app, generation: 2))
  }

  @Test func `an app that the user opens while it terminates is launched again`() {
    var fixture = ForceQuitFixture()
    _ = fixture.handle(.quit(app))
    #expect(fixture.handle(.wanted(app, .foreground)) == [])
    #expect(fixture.handle(exit) == [ended("force-quit by the user"), .spawn(app, reason: "foreground")])
  }

  @Test(.rule("PROCESS-12")) func `an app that is killed in the foreground is not relaunched`() {
    var fixture = ForceQuitFixture()
    #expect(fixture.handle(exit) == [crashed])
    #expect(fixture.process?.state == .absent)
  }

  @Test func `an app that is force-quit during its launch is killed when its spawn is confirmed`() {
    var fixture = ForceQuitFixture()
    _ = fixture.handle(exit)
    _ = fixture.handle(.wanted(app, .foreground))
    #expect(fixture.handle(.quit(app)) == [])
    #expect(fixture.handle(.spawned(app, second)) == [.signal(app, generation: 2, signal: SIGKILL)])
  }

  @Test func `an app whose launches are prevented for an update is killed, and relaunched when launches are allowed`() {
    var fixture = ForceQuitFixture()
    _ = fixture.handle(.wanted(app, Assertion("events a")))
    #expect(fixture.handle(.launchesPrevented(app, why: "updated")) == [kill])
    #expect(!fixture.stateMachine.isOver(app))
    #expect(fixture.handle(exit) == [ended("updated")])
    #expect(fixture.stateMachine.isOver(app))
    #expect(fixture.handle(.launchesAllowed(app)) == [.spawn(app, reason: "events a")])
  }

  @Test func `an app counts as terminated only after its agent has reported`() {
    var stateMachine = LaunchStateMachine(agents: [app: agent], suspendAfter: 1)
    #expect(!stateMachine.isOver(app))
    _ = stateMachine.handle(.launchesPrevented(app, why: "updated"), now: origin)
    let child = ChildProcess(address: app, generation: 1, pid: 101, isStopped: true)
    let actions = stateMachine.handle(.agentReported(agent, incarnation: UUID(), children: [child]), now: origin)
    #expect(actions.contains(kill))
    #expect(!stateMachine.isOver(app))
  }

  @Test func `the launch store keeps a force quit`() throws {
    let store = try LaunchStore(
      DeviceTransactions(immediate: DatabaseQueue()))
    var fixture = ForceQuitFixture()
    let before = fixture.stateMachine
    _ = fixture.handle(.quit(app))
    try store.save(fixture.stateMachine, since: before)
    #expect(try store.processes()[app]?.isQuit == true)
  }
}
