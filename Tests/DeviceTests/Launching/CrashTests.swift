// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

private let widget = LaunchFixture.widget
private let first = LaunchFixture.first

/// Processes that exit repeatedly or exceed their memory limit.
@Suite struct CrashTests {
  @Test(.rule("PROCESS-03"), arguments: [Ending.signalled(signal: SIGSEGV), .exited(code: 0)])
  func `a process that crashes repeatedly is relaunched at once, then after 1 s, then after doubling pauses`(
    ending: Ending
  ) {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    for (index, pause) in [0.0, 1, 2, 4].enumerated() {
      let instance = ProcessInstance(generation: UInt32(index + 1), pid: 5)
      _ = fixture.handle(.spawned(widget, instance))
      _ = fixture.handle(.ready(widget, generation: instance.generation))
      let ended = LaunchStateMachine.Action.asks(.ended(widget, instance, ending))
      let spawn = LaunchStateMachine.Action.spawn(widget, reason: "timeline")
      #expect(fixture.handle(.exited(widget, instance, ending)) == (pause == 0 ? [ended, spawn] : [ended]))
      guard pause > 0 else { continue }
      #expect(fixture.process?.why == "\(ending); \(index + 1) failures in a row, backing off for \(Int(pause)) s")
      #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + pause)
      fixture.now += pause
      #expect(fixture.handle(.timerFired) == [spawn])
    }
  }

  @Test(.rule("PROCESS-03"))
  func `a process that is killed from outside is relaunched at once, and its count of crashes is reset`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    for (number, signal) in [SIGSEGV, SIGKILL, SIGKILL, SIGSEGV].enumerated() {
      let instance = ProcessInstance(generation: UInt32(number + 1), pid: 5)
      _ = fixture.handle(.spawned(widget, instance))
      _ = fixture.handle(.ready(widget, generation: instance.generation))
      let actions = fixture.handle(.exited(widget, instance, .signalled(signal: signal)))
      #expect(actions.last == .spawn(widget, reason: "timeline"))
    }
  }

  @Test(.rule("PROCESS-04"))
  func `a process over its memory limit is killed and relaunched only after a pause`() {
    var fixture = LaunchFixture()
    fixture.launch()
    let actions = fixture.stateMachine.handle(.exceededMemory(widget, first, why: "too much"), now: fixture.now)
    let dying = ProcessState(address: widget, generation: 1, state: "dying", why: "too much")
    #expect(actions == [.changed(dying), .signal(widget, generation: 1, signal: SIGKILL)])
    #expect(fixture.handle(.exceededMemory(widget, first, why: "too much")) == [])
    let end = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(end == [.asks(.ended(widget, first, .evicted(why: "too much")))])
    #expect(fixture.process?.why == "evicted: too much; backing off for 1 s")
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + 1)
    fixture.now += 1
    #expect(fixture.handle(.timerFired) == [.spawn(widget, reason: "timeline")])
  }

  @Test(
    .rule("PROCESS-07"),
    arguments: [(Backoff(first: 1, limit: 60), [1.0, 2, 4]), (Backoff(first: 2, limit: 5), [2, 4, 5])])
  func `memory evictions have the back-off of launch crashes until a process instance is suspended`(
    backoff: Backoff, pauses: [Double]
  ) {
    var fixture = LaunchFixture(backoff: backoff)
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    for (index, pause) in pauses.enumerated() {
      let instance = ProcessInstance(generation: UInt32(index + 1), pid: 5)
      _ = fixture.handle(.spawned(widget, instance))
      _ = fixture.handle(.ready(widget, generation: instance.generation))
      _ = fixture.handle(.exceededMemory(widget, instance, why: "too much"))
      _ = fixture.handle(.exited(widget, instance, .signalled(signal: SIGKILL)))
      #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + pause)
      fixture.now += pause
      #expect(fixture.handle(.timerFired) == [.spawn(widget, reason: "timeline")])
    }
    #expect(fixture.process?.failures == 3)
    let last = ProcessInstance(generation: 4, pid: 5)
    _ = fixture.handle(.spawned(widget, last))
    _ = fixture.handle(.ready(widget, generation: 4))
    _ = fixture.handle(.released(widget, Assertion("timeline")))
    fixture.now += 1
    _ = fixture.handle(.timerFired)
    _ = fixture.handle(.signalled(widget, generation: 4, signal: SIGSTOP))
    #expect(fixture.process?.failures == 0)
  }

  @Test(
    .rule("PROCESS-07"),
    arguments: [(Ending.signalled(signal: SIGKILL), 0), (.signalled(signal: SIGSEGV), 2), (.exited(code: 1), 2)])
  func `a SIGKILL from outside ends a series of memory evictions, and a crash continues it`(
    ending: Ending, failures: Int
  ) {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    _ = fixture.handle(.spawned(widget, first))
    _ = fixture.handle(.ready(widget, generation: 1))
    _ = fixture.handle(.exceededMemory(widget, first, why: "too much"))
    _ = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(fixture.process?.failures == 1)
    fixture.now += 1
    _ = fixture.handle(.timerFired)
    let second = ProcessInstance(generation: 2, pid: 102)
    _ = fixture.handle(.spawned(widget, second))
    _ = fixture.handle(.ready(widget, generation: 2))
    _ = fixture.handle(.exited(widget, second, ending))
    #expect(fixture.process?.failures == failures)
  }

  @Test func `a process can exceed its memory limit before the reply to its spawn arrives`() {
    var fixture = LaunchFixture()
    _ = fixture.handle(.wanted(widget, Assertion("timeline")))
    let actions = fixture.handle(.exceededMemory(widget, first, why: "too much"))
    #expect(actions == [.signal(widget, generation: 1, signal: SIGKILL)])
    #expect(fixture.handle(.spawned(widget, first)) == [])
    #expect(fixture.process?.state == .dying)
  }

  @Test func `a memory report about an earlier process instance does not affect the next one`() {
    var fixture = LaunchFixture()
    fixture.launch()
    _ = fixture.handle(.exited(widget, first, .exited(code: 0)))
    #expect(fixture.handle(.exceededMemory(widget, first, why: "too much")) == [])
    _ = fixture.handle(.spawned(widget, ProcessInstance(generation: 2, pid: 102)))
    #expect(fixture.handle(.exceededMemory(widget, first, why: "too much")) == [])
    #expect(fixture.process?.instance?.generation == 2)
  }
}
