// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Timekeeping

@testable import Device
@testable import DeviceRules

/// A state machine whose agent has reported no children, and its current date.
struct LaunchFixture {
  static let agent = Address.agent("iphone", 1)
  static let app = Address.app("iphone", "com.example")
  static let widget = Address.widgetExtension("iphone", "com.example.Widget")
  static let first = ProcessInstance(generation: 1, pid: 101)
  static let origin = Date(timeIntervalSince1970: 1_000_000_000)

  var stateMachine: LaunchStateMachine
  var now = LaunchFixture.origin
  let incarnation = UUID()

  init(suspendAfter: Double = 1, endIdleAfter: Double = 0, backoff: Backoff = Backoff(first: 1, limit: 60)) {
    stateMachine = LaunchStateMachine(
      agents: [Self.widget: Self.agent, Self.app: Self.agent], suspendAfter: suspendAfter, endIdleAfter: endIdleAfter,
      backoff: backoff)
    _ = stateMachine.handle(.agentReported(Self.agent, incarnation: incarnation, children: []), now: now)
  }

  mutating func handle(_ event: LaunchStateMachine.Event) -> [LaunchStateMachine.Action] {
    stateMachine.handle(event, now: now).filter { if case .changed = $0 { false } else { true } }
  }

  mutating func launch(because reason: String = "timeline") {
    _ = handle(.wanted(Self.widget, Assertion(reason)))
    _ = handle(.spawned(Self.widget, Self.first))
    _ = handle(.ready(Self.widget, generation: 1))
  }

  mutating func sleepAndSuspend() {
    _ = handle(.released(Self.widget, Assertion("timeline")))
    now += 1
    _ = handle(.timerFired)
    _ = handle(.signalled(Self.widget, generation: 1, signal: SIGSTOP))
  }

  var process: LaunchStateMachine.Process? { stateMachine.processes[Self.widget] }
}

extension LaunchStateMachine.Event {
  static func wanted(_ address: Address, _ assertion: Assertion, mayWake: Bool = true) -> Self {
    .process(.want(address, because: assertion, mayWake: mayWake))
  }

  static func released(_ address: Address, _ assertion: Assertion) -> Self {
    .process(.release(address, because: assertion))
  }

  static func halted(_ address: Address, _ assertion: Assertion) -> Self {
    .process(.halt(address, because: assertion))
  }

  static func evicted(_ address: Address, generation: UInt32?, why: String) -> Self {
    .process(.evict(address, generation: generation, why: why))
  }
}
