// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = LaunchFixture.widget
private let first = LaunchFixture.first

/// Extensions that the system ends because they are not needed.
@Suite struct IdleTests {
  @Test(.rule("PROCESS-24"), arguments: [600.0, 30])
  func `an extension that has been suspended for long is ended with its reason`(endIdleAfter: Double) {
    var fixture = LaunchFixture(endIdleAfter: endIdleAfter)
    fixture.launch()
    fixture.sleepAndSuspend()
    #expect(fixture.handle(.timerFired) == [])
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + endIdleAfter)
    fixture.now += endIdleAfter
    #expect(fixture.handle(.timerFired) == [.signal(widget, generation: 1, signal: SIGKILL)])
    #expect(fixture.process?.state == .dying)
    let why = "idle for \(Int(endIdleAfter)) s"
    let ended = LaunchStateMachine.Action.asks(.ended(widget, first, .evicted(why: why)))
    #expect(fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL))) == [ended])
    #expect(fixture.process?.why == "evicted: \(why)")
    #expect(fixture.handle(.wanted(widget, "events a")) == [.spawn(widget, reason: "events a")])
  }

  @Test(.rule("PROCESS-24")) func `a suspended extension is never ended without a limit`() {
    var fixture = LaunchFixture(endIdleAfter: 0)
    fixture.launch()
    fixture.sleepAndSuspend()
    fixture.now += 1_000_000
    #expect(fixture.handle(.timerFired) == [])
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == nil)
  }

  @Test(.rule("PROCESS-24")) func `an extension that is wanted again begins a new time`() {
    var fixture = LaunchFixture(endIdleAfter: 600)
    fixture.launch()
    fixture.sleepAndSuspend()
    fixture.now += 599
    _ = fixture.handle(.wanted(widget, "timeline"))
    _ = fixture.handle(.signalled(widget, generation: 1, signal: SIGCONT))
    fixture.sleepAndSuspend()
    fixture.now += 599
    #expect(fixture.handle(.timerFired) == [])
    fixture.now += 1
    #expect(fixture.handle(.timerFired) == [.signal(widget, generation: 1, signal: SIGKILL)])
  }

  @Test(.rule("PROCESS-24")) func `an extension that is wanted while it is being ended is launched again`() {
    var fixture = LaunchFixture(endIdleAfter: 600)
    fixture.launch()
    fixture.sleepAndSuspend()
    fixture.now += 600
    _ = fixture.handle(.timerFired)
    #expect(fixture.handle(.wanted(widget, "timeline")) == [])
    let actions = fixture.handle(.exited(widget, first, .signalled(signal: SIGKILL)))
    #expect(actions.last == .spawn(widget, reason: "timeline"))
  }

  @Test(.rule("PROCESS-24")) func `a suspended app is not ended`() {
    var fixture = LaunchFixture(endIdleAfter: 600)
    let app = LaunchFixture.app
    _ = fixture.handle(.wanted(app, "events a"))
    _ = fixture.handle(.spawned(app, first))
    _ = fixture.handle(.ready(app, generation: 1))
    _ = fixture.handle(.released(app, "events a"))
    fixture.now += 1
    _ = fixture.handle(.timerFired)
    _ = fixture.handle(.signalled(app, generation: 1, signal: SIGSTOP))
    #expect(fixture.stateMachine.processes[app]?.state == .suspended)
    fixture.now += 600
    #expect(fixture.handle(.timerFired) == [])
  }
}
