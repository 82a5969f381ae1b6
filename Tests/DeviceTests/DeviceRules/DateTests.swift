// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import DeviceRules

/// The next date of the whole device.
@Suite struct `Dates of the device` {
  private let agent = Address.agent("iphone", 1)
  private let one = Address.widgetExtension("iphone", "com.example.One")
  private let two = Address.widgetExtension("iphone", "com.example.Two")
  private let now = Date(timeIntervalSince1970: 1_000_000_000)

  @Test func `a date that passes before another event is handled all the same`() throws {
    var device = DeviceStateMachine()
    device.launching = LaunchStateMachine(agents: [one: agent, two: agent], suspendAfter: 5)
    _ = device.handle(.launching(.agentReported(agent, incarnation: UUID(), children: [])), now: now)
    _ = device.handle(.launching(.process(.want(one, because: "timeline"))), now: now)
    let instance = ProcessInstance(generation: 1, pid: 101)
    _ = device.handle(.launching(.spawned(one, instance)), now: now)
    // It is launched again after a second.
    _ = device.handle(.launching(.exited(one, instance, .exited(code: 1))), now: now)
    let date = try #require(device.nextInstant)
    #expect(date == now + 1)
    _ = device.handle(.launching(.process(.want(two, because: "timeline"))), now: date)
    #expect(device.nextInstant == date)
    let launched = device.handle(.timerFired, now: date).actions.compactMap { action -> Address? in
      if case .launching(.spawn(let address, _)) = action { address } else { nil }
    }
    #expect(launched == [one])
    #expect(device.nextInstant == nil)
  }
}
