// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = Address.app("iphone", "com.example.App")
private let slow = NetworkState(path: .cellular, rate: 1000)
private let off = NetworkState(path: .off)

@Suite struct `Conditions of a device` {
  private var stateMachine = DeviceConditionsStateMachine()

  private func reach(_ isOnline: Bool = true, isAwake: Bool = true) -> DeviceConditionsStateMachine.Action {
    .report(isOnline: isOnline, isAwake: isAwake)
  }

  @Test mutating func `a process instance receives each network state once`() {
    #expect(stateMachine.handle(.runs(app, generation: 1)) == [.send(NetworkState(), to: app)])
    #expect(stateMachine.handle(.runs(app, generation: 1)) == [])
    #expect(
      stateMachine.handle(.networkSet(slow)) == [
        .record(slow), .asks(.networkChanged(slow)), reach(), .send(slow, to: app),
      ])
    #expect(stateMachine.handle(.ended(app, generation: 1)) == [])
    #expect(stateMachine.handle(.runs(app, generation: 2)) == [.send(slow, to: app)])
  }

  @Test mutating func `a suspended process receives the network state when it is resumed`() {
    _ = stateMachine.handle(.runs(app, generation: 1))
    _ = stateMachine.handle(.suspended(app, generation: 1))
    #expect(stateMachine.handle(.networkSet(off)) == [.record(off), .asks(.networkChanged(off)), reach(false)])
    #expect(stateMachine.handle(.runs(app, generation: 1)) == [.send(off, to: app)])
  }

  @Test mutating func `the end of an earlier process instance does not affect the next one`() {
    _ = stateMachine.handle(.runs(app, generation: 2))
    _ = stateMachine.handle(.ended(app, generation: 1))
    #expect(stateMachine.handle(.networkSet(slow)).last == .send(slow, to: app))
  }

  @Test mutating func `after a host restart, running processes receive the next network state`() {
    #expect(stateMachine.handle(.began(running: [app: 4])) == [reach()])
    #expect(stateMachine.handle(.networkSet(slow)).last == .send(slow, to: app))
  }

  @Test mutating func `power and connections are reported to the push server, if there is one`() {
    #expect(stateMachine.handle(.powerSet(isAwake: false)) == [reach(isAwake: false)])
    #expect(stateMachine.handle(.pushServerConnected) == [reach(isAwake: false)])
    var alone = DeviceConditionsStateMachine(hasPushServer: false)
    #expect(alone.handle(.powerSet(isAwake: false)) == [])
  }

  @Test mutating func `changes of the clock are applied in order, each after the one before it`() {
    #expect(stateMachine.handle(.clockChangeRequested(1)) == [.changeClock(1)])
    #expect(stateMachine.handle(.clockChangeRequested(2)) == [])
    #expect(stateMachine.handle(.clockChangeRequested(3)) == [])
    #expect(stateMachine.handle(.clockChangeEnded) == [.changeClock(2)])
    #expect(stateMachine.handle(.clockChangeEnded) == [.changeClock(3)])
    #expect(stateMachine.handle(.clockChangeEnded) == [])
  }

  @Test func `changes out of range are refused`() {
    for change in [SetClock.Change.rate(0), .set(.distantPast), .advance(-1)] {
      #expect(DeviceConditionsStateMachine.refusal(of: change)?.code == .malformed)
    }
    #expect(DeviceConditionsStateMachine.refusal(of: SetClock.Change.advance(60)) == nil)
    #expect(DeviceConditionsStateMachine.refusal(of: NetworkState(rate: 0))?.code == .malformed)
    #expect(DeviceConditionsStateMachine.refusal(of: slow) == nil)
  }
}
