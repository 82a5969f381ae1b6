// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import ProcessActions
import Testing

@testable import Transfers

@Suite struct `Deliveries after a restart of the host` {
  private let session = SessionKey(owner: widget, identifier: "figures")
  private let now = Date(timeIntervalSince1970: 1_000_000_000)

  private func want(mayWake: Bool) -> DeliveryStateMachine.Action {
    .process(.want(widget, because: "events figures", mayWake: mayWake))
  }

  /// The host ended when it had recorded the end of the owner's instance, and before its transfers had.
  @Test func `an owner whose end was missed is woken when the last task of its session ends`() {
    let id = UUID()
    var delivery = DeliveryStateMachine.Delivery(id: id, session: session, tasks: [1])
    delivery.last = DeliveryStateMachine.Attempt(generation: 7, wakesHandler: true)
    var stateMachine = DeliveryStateMachine(
      sessions: [session: DeliveryStateMachine.Session(sendsLaunchEvents: true, openIn: 7, running: [2])],
      deliveries: [delivery], settings: TransferSettings())
    #expect(stateMachine.handle(.began, now: now) == [want(mayWake: false)])
    #expect(stateMachine.handle(.ended([TaskKey(session: session, identifier: 2)]), now: now) == [want(mayWake: true)])
    let attempt = DeliveryStateMachine.Attempt(generation: 8, wakesHandler: true)
    let awake = stateMachine.handle(.awake(widget, generation: 8, woken: true), now: now)
    #expect(awake == [want(mayWake: true), .deliver(id, attempt)])
    _ = stateMachine.handle(.acknowledged(id), now: now)
    #expect(stateMachine.deliveries.values.map(\.tasks) == [[2]])
  }
}
