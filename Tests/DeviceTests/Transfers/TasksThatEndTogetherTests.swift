// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget

@Suite struct TasksThatEndTogetherTests {
  @Test func `tasks of several sessions that end together are in one delivery for each session`() {
    let sessions = ["figures", "pages"].map { SessionKey(owner: widget, identifier: $0) }
    var stateMachine = DeliveryStateMachine(settings: TransferSettings())
    for session in sessions {
      _ = stateMachine.handle(.opened(session, sendsLaunchEvents: true, generation: 1), now: Date())
      for task in 1...3 {
        _ = stateMachine.handle(.created(TaskKey(session: session, identifier: task)), now: Date())
      }
    }
    let ended = [(0, 2), (1, 1), (0, 1), (1, 3)].map { TaskKey(session: sessions[$0], identifier: $1) }
    _ = stateMachine.handle(.ended(ended), now: Date())
    let tasks = sessions.map { session in
      stateMachine.deliveries.values.filter { $0.session == session }.map(\.tasks)
    }
    #expect(tasks == [[[2, 1]], [[1, 3]]], "the order of their ends")
  }
}
