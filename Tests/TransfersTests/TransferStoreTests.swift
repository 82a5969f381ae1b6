// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Messages
import Testing

@testable import Transfers

@Suite struct TransferStoreTests {
  @Test func `a delivery that takes over the tasks of another keeps them in the database`() throws {
    let store = try TransferStore(DatabaseQueue())
    let session = SessionKey(owner: widget, identifier: "figures")
    try store.open(session, SessionConfiguration())
    for task in [1, 2] {
      _ = try store.insert(
        StoredTask(
          CreateTransfer(
            session: "figures", taskIdentifier: task, request: TransferRequest(url: "http://a.example"),
            taskDescription: nil),
          resuming: nil, key: TaskKey(session: session, identifier: task), created: Date(), isInBackground: false))
    }
    var stateMachine = DeliveryStateMachine(settings: TransferSettings())
    var kept = StoredDeliveries(stateMachine)
    let (older, younger) = (UUID(), UUID())
    stateMachine.deliveries[older] = DeliveryStateMachine.Delivery(id: older, session: session, tasks: [1])
    stateMachine.deliveries[younger] = DeliveryStateMachine.Delivery(id: younger, session: session, tasks: [2])
    try store.save(&stateMachine, &kept)
    stateMachine.deliveries[older]?.tasks = [1, 2]
    stateMachine.deliveries[younger] = nil
    try store.save(&stateMachine, &kept)
    #expect(try store.tasks(of: session).map(\.key.identifier) == [1, 2])
    stateMachine.deliveries[older] = nil
    try store.save(&stateMachine, &kept)
    #expect(try store.tasks(of: session).isEmpty)
  }
}
