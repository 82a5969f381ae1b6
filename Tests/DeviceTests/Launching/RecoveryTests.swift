// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let agent = LaunchFixture.agent
private let widget = LaunchFixture.widget
private let first = LaunchFixture.first
private let second = ProcessInstance(generation: 2, pid: 102)
private let list = LaunchStateMachine.Action.list(agent: agent)
private let silence = BusError(.deadline, "no reply", isDefinite: false)

/// Orders of events that searches found (scripts/prove): an instance runs that the host does not know, or the host
/// waits for one that does not run. In each, the state machine asks again until it knows.
@Suite struct `What recovers after lost and late messages` {
  @Test func `an instance that is ready while a signal to an earlier one is in progress is listed`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    fixture.now += 1
    #expect(fixture.handle(.timerFired) == [.signal(widget, generation: 1, signal: SIGSTOP)])
    #expect(fixture.handle(.ready(widget, generation: 2)) == [list])
  }

  @Test func `an exit is followed by a list when a later instance has reported that it is ready`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.ready(widget, generation: 2))
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    #expect(fixture.handle(.exited(widget, first, .exited(code: 1))).last == list)
    let child = ChildProcess(address: widget, generation: 2, pid: 102, isStopped: false)
    let actions = fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [child]))
    #expect(actions == [.asks(.awake(widget, second, woken: true))])
  }

  @Test func `a reply that the process is already running is followed by a list, also after an exit`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    _ = fixture.handle(.exited(widget, first, .exited(code: 1)))
    #expect(fixture.handle(.spawnFailed(widget, BusError(.alreadyRunning, "it is running"))) == [list])
  }

  @Test func `a stop without a reply is followed by a list, which finds a process that still runs`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    fixture.now += 1
    _ = fixture.handle(.timerFired)
    let actions = fixture.handle(.signalFailed(widget, generation: 1, signal: SIGSTOP, silence))
    #expect(actions == [.asks(.suspended(widget, first)), list])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [child])
    #expect(fixture.handle(report) == [.signal(widget, generation: 1, signal: SIGCONT)])
  }

  @Test func `a running process that a list has as stopped is listed again`() {
    var fixture = LaunchFixture()
    fixture.launch()
    func report(isStopped: Bool) -> LaunchStateMachine.Event {
      let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: isStopped)
      return .agentReported(agent, incarnation: fixture.incarnation, children: [child])
    }
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    #expect(fixture.handle(report(isStopped: true)) == [.asks(.suspended(widget, first)), list])
    #expect(fixture.handle(report(isStopped: false)) == [.signal(widget, generation: 1, signal: SIGCONT)])
  }

  @Test func `an agent whose first list arrived before one of its predecessor is believed when it lists again`() {
    var fixture = LaunchFixture()
    let successor = UUID()
    _ = fixture.handle(.agentReported(agent, incarnation: successor, children: []))
    // Sent before the successor started.
    #expect(fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [])) == [list])
    let third = UUID()
    _ = fixture.handle(.agentReported(agent, incarnation: third, children: []))
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: successor, children: [child])
    #expect(fixture.handle(report) == [list])
    #expect(fixture.process?.instance == nil)
    _ = fixture.handle(report)
    #expect(fixture.process?.instance == first)
  }

  @Test func `a list without an instance ends the belief in an older list that has it`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.exited(widget, first, .exited(code: 1)))
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let old = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [child])
    #expect(fixture.handle(old) == [list])
    #expect(fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [])) == [])
    #expect(fixture.handle(old) == [list])
    #expect(fixture.process?.instance == nil)
  }

  @Test func `a stopped process that is found is not awake before it is continued`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.ready(widget, generation: 1))
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: true)
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [child])
    #expect(fixture.handle(report) == [.asks(.suspended(widget, first))])
  }

  @Test func `the exit of an earlier instance of the same generation does not end the one that runs`() {
    var fixture = LaunchFixture()
    fixture.launch()
    let earlier = ProcessInstance(generation: 1, pid: 77)
    #expect(fixture.handle(.exited(widget, earlier, .exited(code: 1))) == [])
    #expect(fixture.process?.state == .running)
  }

  @Test func `an instance with a generation that was given before is listed after its launch`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.exited(widget, first, .exited(code: 1)))
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    // Its exit, which arrived first, is not newer than that of the first one.
    let again = ProcessInstance(generation: 1, pid: 201)
    _ = fixture.handle(.exited(widget, again, .exited(code: 1)))
    #expect(fixture.handle(.spawned(widget, again)) == [list])
    let nothing = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [])
    #expect(fixture.handle(nothing) == [.pause(widget)])
    #expect(fixture.handle(.pauseEnded(widget)) == [list])
    #expect(fixture.handle(nothing).last == .spawn(widget, reason: "timeline"))
  }

  @Test func `a ready message of a generation that was given before is followed by a list`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.exited(widget, second, .exited(code: 1)))
    #expect(fixture.handle(.ready(widget, generation: 1)) == [list])
  }

  @Test func `an instance that is found suspended after a failed launch has no failure and no pause`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.spawnFailed(widget, BusError(.alreadyRunning, "it is running")))
    #expect(fixture.process?.launchFailure != nil && fixture.process?.notBefore != nil)
    _ = fixture.handle(.ready(widget, generation: 1))
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: true)
    _ = fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [child]))
    #expect(fixture.process?.instance == first)
    #expect(fixture.process?.launchFailure == nil && fixture.process?.notBefore == nil)
  }

  /// The agent replies at once to all, and refuses each signal.
  private func answers(
    to actions: [LaunchStateMachine.Action], _ fixture: inout LaunchFixture
  ) -> (signals: Int, pauses: Int) {
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [child])
    let refusal = BusError(.refused, "not now")
    var (open, signals, pauses) = (actions, 0, 0)
    while !open.isEmpty, signals < 20 {
      switch open.removeFirst() {
      case .signal(_, let generation, let signal):
        signals += 1
        open += fixture.handle(.signalFailed(widget, generation: generation, signal: signal, refusal))
      case .list: open += fixture.handle(report)
      case .pause: pauses += 1
      case .spawn, .asks, .changed: break
      }
    }
    return (signals, pauses)
  }

  @Test func `a suspended process that runs is continued again only after a pause when its agent refuses at once`() {
    var fixture = LaunchFixture()
    fixture.launch()
    fixture.sleepAndSuspend()
    let first = answers(to: [list], &fixture)
    #expect(first.signals == 1 && first.pauses == 1)
    let second = answers(to: fixture.handle(.pauseEnded(widget)), &fixture)
    #expect(second.signals == 1 && second.pauses == 1)
    // It is also wanted: one request after the pause, not two.
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    let third = answers(to: fixture.handle(.pauseEnded(widget)), &fixture)
    #expect(third.signals == 1 && third.pauses == 1)
  }

  @Test func `a process that must end is killed again only after a pause, when its agent refuses at once`() {
    var fixture = LaunchFixture()
    fixture.launch()
    let first = answers(to: fixture.handle(.evicted(widget, generation: 1, why: "memory")), &fixture)
    #expect(first.signals == 1 && first.pauses == 1)
    let second = answers(to: fixture.handle(.pauseEnded(widget)), &fixture)
    #expect(second.signals == 1 && second.pauses == 1)
    // Its exit ends the pause.
    let exit = fixture.handle(.exited(widget, LaunchFixture.first, .signalled(signal: SIGKILL)))
    #expect(exit.last == .spawn(widget, reason: "timeline"))
  }
}
