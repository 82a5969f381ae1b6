// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import DeviceRules

private let widget = TransferSamples.widget

@Suite struct `Repeated requests` {
  @Test(.rule("TASK-18"))
  func `a request is a repetition while its task exists, and after that for the instance that sent it`() throws {
    let session = SessionKey(owner: widget, identifier: "figures")
    let task = TaskKey(session: session, identifier: 1)
    var stateMachine = DeliveryStateMachine(settings: TransferSettings())
    func handle(_ event: DeliveryStateMachine.Event) { _ = stateMachine.handle(event, now: Date()) }
    func isNew(by creator: UInt32) -> Bool { stateMachine.isNew(task, by: creator) }
    handle(.opened(session, sendsLaunchEvents: true, generation: 1))
    #expect(isNew(by: 1))
    handle(.created(task, by: 1))
    #expect(!isNew(by: 1) && !isNew(by: 2))
    handle(.ended([task]))
    handle(.awake(widget, generation: 1, woken: false))
    #expect(!isNew(by: 1) && !isNew(by: 2))
    handle(.acknowledged(try #require(stateMachine.deliveries.keys.first)))
    #expect(!isNew(by: 1) && isNew(by: 2))
    #expect(stateMachine.sessions[session]?.nextTaskIdentifier == 2)
    // Only a process that runs repeats its requests.
    handle(.opened(SessionKey(owner: widget, identifier: "other"), sendsLaunchEvents: true, generation: 2))
    #expect(isNew(by: 1))
  }
}
