// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages

// Which process is connected to a session. Suspension disconnects a process from its sessions, and resumption connects
// it again, unless another process of the app has connected to a session of the same identifier. Source: "Networking in
// a Short-Lived Extension".

extension EventDelivery {
  /// Another process of the owner's app or its extensions that is connected to a session of this identifier.
  func otherProcess(with key: SessionKey) -> Address? {
    let family = context.families.family(of: key.owner)
    return stateMachine.sessions.all.first { other, session in
      other.identifier == key.identifier && other.owner != key.owner && stateMachine.isConnected(other, session)
        && context.families.family(of: other.owner) == family
    }?.key.owner
  }

  /// An instance is resumed: it loses the sessions to which another process has connected since its suspension.
  func resume(_ owner: Address, generation: UInt32) {
    guard stateMachine.suspendedInstances[owner] == generation else { return }
    let open = stateMachine.sessions.all.filter { $0.key.owner == owner && $0.value.openIn == generation }
    for key in open.keys.sorted(by: { $0.identifier < $1.identifier }) {
      guard let holder = otherProcess(with: key) else { continue }
      handle(.closed(key, generation: generation))
      let taken = SessionTaken(session: key.identifier, generation: generation, holder: holder)
      context.bus.submit(taken, to: owner, id: .random(), context: key.context) { _ in }
    }
  }
}

extension DeliveryStateMachine {
  /// Whether a process has the session open and is not suspended.
  fileprivate func isConnected(_ key: SessionKey, _ session: Session) -> Bool {
    session.openIn.map { suspendedInstances[key.owner] != $0 } ?? false
  }
}
