// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let agent = LaunchFixture.agent
private let widget = LaunchFixture.widget
private let first = LaunchFixture.first

/// Reports of agents that are older than a signal, and evictions during a spawn.
@Suite struct `Processes between two states` {
  @Test func `a stopped process that its agent saw running is continued before it receives work`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    fixture.sleepAndSuspend()
    // The list is older than the stop, or the kernel had not carried it out.
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let go = LaunchStateMachine.Action.signal(widget, generation: 1, signal: SIGCONT)
    #expect(fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [child])) == [go])
    #expect(fixture.handle(.wanted(widget, Assertion("events a"))) == [])
    let actions = fixture.handle(.signalled(widget, generation: 1, signal: SIGCONT))
    #expect(actions == [.asks(.awake(widget, first, woken: true))])
  }

  @Test func `a list that is older than an exit does not end the launch that followed`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    _ = fixture.handle(.wanted(widget, Assertion("events a")))
    #expect(fixture.process?.state == .launching)
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [child])
    #expect(fixture.handle(report) == [.list(agent: agent)])
    #expect(fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [])) == [])
    // The launch still waits for its reply.
    #expect(fixture.handle(.spawnFailed(widget, BusError(.notStarted, "no"))) == [.list(agent: agent)])
    #expect(fixture.process?.state == .absent)
  }

  @Test(arguments: [1, 2, 3] as [UInt32])
  func `an instance that its agent lists twice runs, also with a generation that was given before`(
    generation: UInt32
  ) {
    var fixture = LaunchFixture()
    _ = fixture.handle(.exited(widget, ProcessInstance(generation: 3, pid: 103), .signalled(signal: SIGKILL)))
    _ = fixture.handle(.wanted(widget, Assertion("events a")))
    #expect(
      fixture.handle(.spawnFailed(widget, BusError(.closed, "no reply", isDefinite: false))) == [.list(agent: agent)])
    #expect(fixture.handle(.ready(widget, generation: generation)) == [.list(agent: agent)])
    let child = ChildProcess(address: widget, generation: generation, pid: 201, isStopped: false)
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [child])
    #expect(fixture.handle(report) == [.list(agent: agent)])
    let instance = ProcessInstance(generation: generation, pid: 201)
    #expect(fixture.handle(report) == [.asks(.awake(widget, instance, woken: true)), .list(agent: agent)])
    #expect(fixture.process?.state == .running)
    let actions = fixture.handle(.exited(widget, instance, .signalled(signal: SIGKILL)))
    #expect(actions.first == .asks(.ended(widget, instance, .signalled(signal: SIGKILL))))
  }

  @Test func `an instance that was just spawned runs, also with a generation that was given before`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.exited(widget, ProcessInstance(generation: 3, pid: 103), .signalled(signal: SIGKILL)))
    _ = fixture.handle(.wanted(widget, Assertion("events a")))
    #expect(fixture.handle(.ready(widget, generation: 2)) == [])
    let instance = ProcessInstance(generation: 2, pid: 201)
    let awake = LaunchStateMachine.Action.asks(.awake(widget, instance, woken: true))
    #expect(fixture.handle(.spawned(widget, instance)) == [awake, .list(agent: agent)])
  }

  @Test func `an instance that ended with an agent whose reply arrived late is launched again`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("events a")))
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: UUID(), children: [])
    #expect(fixture.handle(report) == [])
    // The agent that spawned it had sent the reply before it ended.
    #expect(fixture.handle(.spawned(widget, first)) == [.list(agent: agent)])
    #expect(fixture.handle(report) == [.pause(widget)])
    #expect(fixture.handle(report) == [])
    #expect(fixture.handle(.pauseEnded(widget)) == [.list(agent: agent)])
    #expect(
      fixture.handle(report) == [.asks(.ended(widget, first, .lostWithAgent)), .spawn(widget, reason: "events a")])
  }

  @Test(arguments: [false, true])
  func `a process that two lists of its agent lack has ended`(isDying: Bool) {
    var fixture = LaunchFixture()
    fixture.launch()
    if isDying { _ = fixture.handle(.evicted(widget, generation: 1, why: "memory")) }
    #expect(fixture.process?.state == (isDying ? .dying : .running))
    _ = fixture.handle(
      .signalFailed(widget, generation: 1, signal: SIGKILL, BusError(.noSuchInstance, "no such instance")))
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [])
    #expect(fixture.handle(report) == [.pause(widget)])
    // A list that has it proves that it runs.
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    _ = fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [child]))
    #expect(fixture.handle(.pauseEnded(widget)) == (isDying ? [.list(agent: agent)] : []))
    #expect(fixture.handle(report) == [.pause(widget)])
    _ = fixture.handle(.pauseEnded(widget))
    #expect(fixture.handle(report).first == .asks(.ended(widget, first, .lostWithAgent)))
  }

  @Test func `an exit that arrives after a list without its instance keeps its cause`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: []))
    let actions = fixture.handle(.exited(widget, first, .exited(code: 3)))
    #expect(actions.first == .asks(.ended(widget, first, .exited(code: 3))))
    #expect(!fixture.handle(.pauseEnded(widget)).contains(.list(agent: agent)))
  }

  @Test func `a list of a former agent causes a request for another one, and changes nothing`() {
    var fixture = LaunchFixture()
    for _ in 1...2 { _ = fixture.handle(.agentReported(agent, incarnation: UUID(), children: [])) }
    fixture.launch()
    let former = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [])
    #expect(fixture.handle(former) == [.list(agent: agent)])
    #expect(fixture.process?.state == .running)
  }

  @Test(.rule("SETTING-04"))
  func `an eviction of all processes ends one that is being spawned, which is launched again`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    #expect(fixture.handle(.allEvicted(why: "the language changed")) == [])
    #expect(fixture.handle(.spawned(widget, first)) == [.signal(widget, generation: 1, signal: SIGKILL)])
    #expect(fixture.handle(.ready(widget, generation: 1)) == [])
    let actions = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(actions.first == .asks(.ended(widget, first, .evicted(why: "the language changed"))))
    #expect(actions.last == .spawn(widget, reason: "timeline"))
    let second = ProcessInstance(generation: 2, pid: 102)
    #expect(fixture.handle(.spawned(widget, second)) == [])
  }
}
