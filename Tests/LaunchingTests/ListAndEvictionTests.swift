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
    #expect(actions == [.output(.awake(widget, first, woken: true))])
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
    #expect(fixture.handle(.ready(widget, generation: generation)) == [])
    let child = ChildProcess(address: widget, generation: generation, pid: 201, isStopped: false)
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [child])
    #expect(fixture.handle(report) == [.list(agent: agent)])
    let instance = ProcessInstance(generation: generation, pid: 201)
    #expect(fixture.handle(report) == [.output(.awake(widget, instance, woken: true))])
    #expect(fixture.process?.state == .running)
    let actions = fixture.handle(.exited(widget, instance, .signalled(signal: SIGKILL)))
    #expect(actions.first == .output(.ended(widget, instance, .signalled(signal: SIGKILL))))
  }

  @Test func `an instance that was just spawned runs, also with a generation that was given before`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.exited(widget, ProcessInstance(generation: 3, pid: 103), .signalled(signal: SIGKILL)))
    _ = fixture.handle(.wanted(widget, Assertion("events a")))
    #expect(fixture.handle(.ready(widget, generation: 2)) == [])
    let instance = ProcessInstance(generation: 2, pid: 201)
    #expect(fixture.handle(.spawned(widget, instance)) == [.output(.awake(widget, instance, woken: true))])
  }

  @Test(.rule("SETTING-04"))
  func `an eviction of all processes ends one that is being spawned, which is launched again`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    #expect(fixture.handle(.allEvicted(why: "the language changed")) == [])
    #expect(fixture.handle(.spawned(widget, first)) == [.signal(widget, generation: 1, signal: SIGKILL)])
    #expect(fixture.handle(.ready(widget, generation: 1)) == [])
    let actions = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(actions.first == .output(.ended(widget, first, .evicted(why: "the language changed"))))
    #expect(actions.last == .spawn(widget, reason: "timeline"))
    let second = ProcessInstance(generation: 2, pid: 102)
    #expect(fixture.handle(.spawned(widget, second)) == [])
  }
}
