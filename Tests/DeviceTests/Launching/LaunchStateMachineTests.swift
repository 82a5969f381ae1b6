// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let agent = LaunchFixture.agent
private let widget = LaunchFixture.widget
private let first = LaunchFixture.first
private let origin = LaunchFixture.origin

@Suite struct LaunchStateMachineTests {
  @Test func `a wanted process is spawned once, however often it is requested`() {
    var fixture = LaunchFixture()
    #expect(fixture.handle(.wanted(widget, Assertion("timeline"))) == [.spawn(widget, reason: "timeline")])
    #expect(fixture.handle(.wanted(widget, Assertion("events a"))) == [])
    #expect(fixture.process?.state == .launching)
  }

  @Test func `a process that is wanted without a launch is left alone unless it runs`() {
    var fixture = LaunchFixture()
    let want = LaunchStateMachine.Event.wanted(widget, "events a", mayWake: false)
    #expect(fixture.handle(want) == [])
    #expect(fixture.process?.state == .absent)
    fixture.launch()
    #expect(fixture.handle(want) == [.asks(.awake(widget, first, woken: false, because: "events a"))])
    _ = fixture.handle(.released(widget, "events a"))
    fixture.sleepAndSuspend()
    #expect(fixture.handle(want) == [])
    #expect(fixture.process?.state == .suspended && fixture.process?.assertions == [])
  }

  @Test func `a process that is wanted without a launch while it is being stopped is not continued`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, "timeline"))
    fixture.now += 1
    #expect(fixture.handle(.timerFired) == [.signal(widget, generation: 1, signal: SIGSTOP)])
    #expect(fixture.handle(.wanted(widget, "events a", mayWake: false)) == [])
    let actions = fixture.handle(.signalled(widget, generation: 1, signal: SIGSTOP))
    #expect(actions == [.asks(.suspended(widget, first))])
  }

  @Test func `an assertion without a launch ends with the process instance`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.wanted(widget, "events a", mayWake: false))
    _ = fixture.handle(.released(widget, "timeline"))
    let ending = Ending.signalled(signal: SIGKILL)
    #expect(fixture.handle(.exited(widget, first, ending)) == [.asks(.ended(widget, first, ending))])
    #expect(fixture.process?.state == .absent)
  }

  @Test func `a process whose running instance is to be evicted is killed only while it runs`() {
    var fixture = LaunchFixture()
    let evict = LaunchStateMachine.Event.evicted(widget, generation: nil, why: "its time is over")
    #expect(fixture.handle(evict) == [])
    fixture.launch()
    #expect(fixture.handle(evict) == [.signal(widget, generation: 1, signal: SIGKILL)])
  }

  @Test func `no process is spawned before its agent reports its children`() {
    var stateMachine = LaunchStateMachine(agents: [widget: agent], suspendAfter: 1)
    #expect(stateMachine.handle(.wanted(widget, Assertion("timeline")), now: origin) == [])
    let child = ChildProcess(address: widget, generation: 3, pid: 7, isStopped: false)
    let actions = stateMachine.handle(.agentReported(agent, incarnation: UUID(), children: [child]), now: origin)
    #expect(!actions.contains { if case .spawn = $0 { true } else { false } })
    #expect(stateMachine.processes[widget]?.instance == ProcessInstance(generation: 3, pid: 7))
  }

  @Test func `a process receives work when it is ready and not before`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    #expect(fixture.handle(.spawned(widget, first)) == [])
    #expect(fixture.handle(.ready(widget, generation: 1)) == [.asks(.awake(widget, first, woken: true))])
  }

  @Test func `a ready message can arrive before the reply to the spawn`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    #expect(fixture.handle(.ready(widget, generation: 1)) == [])
    #expect(fixture.handle(.spawned(widget, first)) == [.asks(.awake(widget, first, woken: true))])
  }

  @Test func `an exit that arrives before the reply to the spawn ends that process instance`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    let actions = fixture.handle(.exited(widget, first, .exited(code: 1)))
    #expect(actions == [.asks(.ended(widget, first, .exited(code: 1)))])
    #expect(fixture.handle(.spawned(widget, first)) == [.list(agent: agent)])
    #expect(fixture.process?.instance == nil)
  }

  @Test func `a running process that is requested again is not reported as woken`() {
    var fixture = LaunchFixture()
    fixture.launch()
    let actions = fixture.handle(.wanted(widget, "events a"))
    #expect(actions == [.asks(.awake(widget, first, woken: false, because: "events a"))])
  }

  @Test(.rule("PROCESS-01"), arguments: [1.0, 7])
  func `an idle process is stopped after the configured time and continued when it is wanted`(pause: Double) {
    var fixture = LaunchFixture(suspendAfter: pause)
    fixture.launch()
    #expect(fixture.handle(.released(widget, Assertion("timeline"))) == [])
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == origin + pause)
    fixture.now += pause
    #expect(fixture.handle(.timerFired) == [.signal(widget, generation: 1, signal: SIGSTOP)])
    _ = fixture.handle(.signalled(widget, generation: 1, signal: SIGSTOP))
    #expect(fixture.process?.state == .suspended)
    #expect(fixture.handle(.wanted(widget, Assertion("events a"))) == [.signal(widget, generation: 1, signal: SIGCONT)])
    let actions = fixture.handle(.signalled(widget, generation: 1, signal: SIGCONT))
    #expect(actions == [.asks(.awake(widget, first, woken: true))])
  }

  @Test func `a process that is wanted while it is being stopped is continued before it receives work`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    fixture.now += 1
    _ = fixture.handle(.timerFired)
    #expect(fixture.handle(.wanted(widget, Assertion("events a"))) == [])
    let actions = fixture.handle(.signalled(widget, generation: 1, signal: SIGSTOP))
    #expect(actions == [.asks(.suspended(widget, first)), .signal(widget, generation: 1, signal: SIGCONT)])
  }

  @Test func `a stop without a reply counts as performed, because it may be carried out after any list`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    fixture.now += 1
    #expect(fixture.handle(.timerFired) == [.signal(widget, generation: 1, signal: SIGSTOP)])
    let silence = BusError(.deadline, "no answer", isDefinite: false)
    #expect(
      fixture.handle(.signalFailed(widget, generation: 1, signal: SIGSTOP, silence))
        == [.asks(.suspended(widget, first)), .list(agent: agent)])
    #expect(fixture.process?.state == .suspended)
    #expect(
      fixture.handle(.wanted(widget, Assertion("timeline"))) == [.signal(widget, generation: 1, signal: SIGCONT)])
  }

  @Test func `the exit of a process is reported even when its relaunch begins at once`() {
    var fixture = LaunchFixture()
    fixture.launch()
    let actions = fixture.stateMachine.handle(
      .agentReported(agent, incarnation: UUID(), children: []), now: fixture.now)
    let changes = actions.compactMap { if case .changed(let state) = $0 { state } else { nil } }
    #expect(changes.map(\.state) == ["absent", "launching"])
    #expect(changes.first?.why == Ending.lostWithAgent.description)
    #expect(changes.first?.generation == 1)
  }

  @Test func `a killed process that is still wanted is spawned at once`() {
    var fixture = LaunchFixture()
    fixture.launch()
    let actions = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(
      actions == [
        .asks(.ended(widget, first, .signalled(signal: SIGKILL))), .spawn(widget, reason: "timeline"),
      ])
  }

  @Test func `a suspended process that is killed stays absent until it is wanted`() {
    var fixture = LaunchFixture()
    fixture.launch()
    fixture.sleepAndSuspend()
    let actions = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(actions == [.asks(.ended(widget, first, .signalled(signal: SIGKILL)))])
    #expect(fixture.process?.state == .absent)
    #expect(fixture.handle(.wanted(widget, Assertion("events a"))) == [.spawn(widget, reason: "events a")])
  }

  @Test(.rule("PROCESS-02"), arguments: [(1.0, 60.0), (3, 10)])
  func `launch crashes are followed by a pause that doubles up to the limit`(first: Double, most: Double) {
    var fixture = LaunchFixture(backoff: Backoff(first: first, limit: most))
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    for (index, pause) in [1.0, 2, 4, 8, 16, 32, 64, 128].map({ min(first * $0, most) }).enumerated() {
      let instance = ProcessInstance(generation: UInt32(index + 1), pid: 5)
      _ = fixture.handle(.spawned(widget, instance))
      let actions = fixture.handle(.exited(widget, instance, .exited(code: 1)))
      #expect(actions == [.asks(.ended(widget, instance, .exited(code: 1)))])
      let times = index == 0 ? "" : "\(index + 1) failures in a row, "
      #expect(fixture.process?.why == "exit code 1 before it was ready; \(times)backing off for \(Int(pause)) s")
      #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + pause)
      fixture.now += pause
      #expect(fixture.handle(.timerFired) == [.spawn(widget, reason: "timeline")])
    }
  }

  @Test func `a launch failure is kept with its cause until a launch succeeds`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.spawnFailed(widget, BusError(.noSuchExecutable, "no Weather")))
    #expect(fixture.process?.launchFailure?.code == .noSuchExecutable)
    #expect(fixture.process?.launchFailure?.message == "\(widget.short) cannot be started: no Weather")
    fixture.now += 1
    _ = fixture.handle(.timerFired)
    #expect(fixture.process?.state == .launching)
    #expect(fixture.process?.launchFailure != nil, "no launch has succeeded yet")
    let instance = ProcessInstance(generation: 1, pid: 5)
    _ = fixture.handle(.spawned(widget, instance))
    _ = fixture.handle(.exited(widget, instance, .exited(code: 127), report: "/bin/Weather: no libnope.so"))
    let failure = fixture.process?.launchFailure
    #expect(failure?.code == .endedAtLaunch)
    #expect(
      failure?.message == "\(widget.short) ended before it was ready, with exit code 127: /bin/Weather: no libnope.so")
    fixture.now += 2
    _ = fixture.handle(.timerFired)
    _ = fixture.handle(.spawned(widget, ProcessInstance(generation: 2, pid: 6)))
    _ = fixture.handle(.ready(widget, generation: 2))
    #expect(fixture.process?.launchFailure == nil)
  }

  @Test(arguments: [Ending.signalled(signal: SIGKILL), .lostWithAgent, .exited(code: 0)])
  func `an external kill and the loss of the agent are not launch failures`(ending: Ending) {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.spawned(widget, first))
    _ = fixture.handle(.exited(widget, first, ending))
    #expect((fixture.process?.launchFailure != nil) == (ending == .exited(code: 0)))
  }

  @Test func `a request of the user retries a failed launch at once if the process is wanted`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.spawnFailed(widget, BusError(.notStarted, "no")))
    #expect(fixture.handle(.tryAgain(widget)) == [.spawn(widget, reason: "timeline")])
    _ = fixture.handle(.spawnFailed(widget, BusError(.notStarted, "no")))
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    #expect(fixture.handle(.tryAgain(widget)).isEmpty)
  }

  @Test func `a repeated exit event has no effect`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL))) == [])
  }

  @Test func `the children of a terminated agent are lost when its successor does not list them`() {
    var fixture = LaunchFixture()
    fixture.launch()
    let actions = fixture.handle(.agentReported(agent, incarnation: UUID(), children: []))
    #expect(
      actions == [.asks(.ended(widget, first, .lostWithAgent)), .spawn(widget, reason: "timeline")])
  }

  @Test func `a child that the same agent no longer lists stays for a while, because its exit event may arrive`() {
    var fixture = LaunchFixture()
    fixture.launch()
    #expect(fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [])) == [.pause(widget)])
    #expect(fixture.process?.instance == first)
  }

  @Test func `the child list of the agent decides whether an uncertain spawn happened`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    let lost = BusError(.deadline, "no answer", isDefinite: false)
    #expect(fixture.handle(.spawnFailed(widget, lost)) == [.list(agent: agent)])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    #expect(fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [child])) == [])
    #expect(fixture.process?.instance == first)
  }

  @Test func `a spawn that did not happen is repeated after a pause`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.spawnFailed(widget, BusError(.deadline, "no answer", isDefinite: false)))
    #expect(fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [])) == [.pause(widget)])
    #expect(fixture.handle(.wanted(widget, Assertion("events a"))) == [])
    // The pause uses the machine's clock, because the device's clock may be held.
    #expect(fixture.handle(.pauseEnded(widget)) == [.spawn(widget, reason: "events a, timeline")])
  }

  @Test func `an evicted process is killed and not relaunched when it is not wanted`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    let actions = fixture.handle(.evicted(widget, generation: 1, why: "late"))
    #expect(actions == [.signal(widget, generation: 1, signal: SIGKILL)])
    #expect(fixture.process?.state == .dying)
    #expect(fixture.handle(.evicted(widget, generation: 1, why: "late")) == [])
    #expect(
      fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
        == [.asks(.ended(widget, first, .evicted(why: "late")))])
    #expect(fixture.process?.lastEnding == .evicted(why: "late"))
    #expect(fixture.process?.why == "evicted: late")
  }

  @Test func `a process that exits by itself during its eviction keeps its own exit status`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.evicted(widget, generation: 1, why: "late"))
    let actions = fixture.handle(.exited(widget, first, .exited(code: 0)))
    #expect(actions.first == .asks(.ended(widget, first, .exited(code: 0))))
    #expect(actions.last == .spawn(widget, reason: "timeline"))
  }

  @Test func `a failed kill is repeated while the agent still lists the process`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.exceededMemory(widget, first, why: "too much"))
    let absent = BusError(.unreachable, "no agent")
    let failed = fixture.handle(.signalFailed(widget, generation: 1, signal: SIGKILL, absent))
    #expect(failed == [.pause(widget), .list(agent: agent)])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let report = LaunchStateMachine.Event.agentReported(agent, incarnation: fixture.incarnation, children: [child])
    #expect(fixture.handle(report) == [])
    #expect(fixture.handle(.pauseEnded(widget)) == [.list(agent: agent)])
    #expect(fixture.handle(report) == [.signal(widget, generation: 1, signal: SIGKILL)])
  }

  @Test(.rule("CLOCK-03"))
  func `a continue signal that did not reach the agent is repeated after a pause of the machine's clock`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    fixture.now += 1
    _ = fixture.handle(.timerFired)
    _ = fixture.handle(.signalled(widget, generation: 1, signal: SIGSTOP))
    let go = LaunchStateMachine.Action.signal(widget, generation: 1, signal: SIGCONT)
    #expect(fixture.handle(.wanted(widget, Assertion("events a"))) == [go])
    let absent = BusError(.unreachable, "no agent")
    let failed = fixture.handle(.signalFailed(widget, generation: 1, signal: SIGCONT, absent))
    #expect(failed == [.pause(widget), .list(agent: agent)])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: true)
    #expect(fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [child])) == [])
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == nil)
    #expect(fixture.handle(.pauseEnded(widget)) == [go])
  }

  @Test(.rule("PROCESS-12")) func `an app that crashes in the foreground is not relaunched`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, .foreground))
    _ = fixture.handle(.spawned(widget, first))
    _ = fixture.handle(.ready(widget, generation: 1))
    let actions = fixture.handle(.exited(widget, first, .signalled(signal: SIGSEGV)))
    #expect(actions == [.asks(.ended(widget, first, .signalled(signal: SIGSEGV)))])
  }

  @Test func `a process that is wanted while its stop fails receives work when the agent lists it as running`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    fixture.now += 1
    #expect(fixture.handle(.timerFired) == [.signal(widget, generation: 1, signal: SIGSTOP)])
    #expect(fixture.handle(.wanted(widget, Assertion("events a"))) == [])
    let absent = BusError(.unreachable, "no agent")
    let failed = fixture.handle(.signalFailed(widget, generation: 1, signal: SIGSTOP, absent))
    #expect(failed == [.list(agent: agent)])
    // Nothing is due for a wanted process: a date in the past would stay due forever.
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == nil)
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let actions = fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [child]))
    #expect(actions == [.asks(.awake(widget, first, woken: false))])
  }

  @Test func `a late reply to an earlier spawn does not affect the spawn in progress`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.ready(widget, generation: 1))
    let actions = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(actions.last == .spawn(widget, reason: "timeline"))
    #expect(fixture.handle(.spawned(widget, first)) == [.list(agent: agent)])
    let refused = BusError(.alreadyRunning, "the process is running")
    #expect(fixture.handle(.spawnFailed(widget, refused)) == [.list(agent: agent)])
    #expect(fixture.process?.state == .absent)
  }

  @Test func `a ready message of an unknown process instance causes a request for the child list`() {
    var fixture = LaunchFixture()
    #expect(fixture.handle(.ready(widget, generation: 1)) == [.list(agent: agent)])
    let child = ChildProcess(address: widget, generation: 1, pid: 101, isStopped: false)
    let actions = fixture.handle(.agentReported(agent, incarnation: fixture.incarnation, children: [child]))
    #expect(actions == [.asks(.awake(widget, first, woken: true))])
    #expect(fixture.process?.state == .running)
  }

  @Test func `a halted process is stopped at once, even with work in progress`() {
    var fixture = LaunchFixture()
    fixture.launch()
    let stop = LaunchStateMachine.Action.signal(widget, generation: 1, signal: SIGSTOP)
    #expect(fixture.handle(.halted(widget, Assertion("timeline"))) == [stop])
    let stopped = fixture.handle(.signalled(widget, generation: 1, signal: SIGSTOP))
    #expect(stopped == [.asks(.suspended(widget, first))])
  }

  @Test func `a process that is wanted for another reason is not halted`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.wanted(widget, Assertion("events a")))
    #expect(fixture.handle(.halted(widget, Assertion("timeline"))) == [])
    #expect(fixture.process?.state == .running)
  }
}
