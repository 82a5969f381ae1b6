// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

// Which process is connected to a session. Suspension disconnects a process from its sessions, and resumption connects
// it again, unless another process of the app has connected to a session of the same identifier. Source: "Networking in
// a Short-Lived Extension".

extension DeliveryStateMachine {
  /// Another process of the owner's app or its extensions that is connected to a session of this identifier.
  package func otherProcess(with key: SessionKey, _ families: AppFamilies) -> Address? {
    let family = families.family(of: key.owner)
    return sessions.all.filter { other, session in
      other.identifier == key.identifier && other.owner != key.owner && isConnected(other, session)
        && families.family(of: other.owner) == family
    }.keys.min()?.owner
  }

  /// The sessions to which another process has connected since the instance was suspended, and that process.
  func sessionsTaken(
    from owner: Address, generation: UInt32, _ families: AppFamilies
  ) -> [(key: SessionKey, holder: Address)] {
    guard suspendedInstances[owner] == generation else { return [] }
    let open = sessions.all.filter { $0.key.owner == owner && $0.value.openIn == generation }
    return open.keys.sorted().compactMap { key in otherProcess(with: key, families).map { (key, $0) } }
  }

  /// The deliveries whose last attempt was to an instance.
  func deliveries(to owner: Address, generation: UInt32) -> [UUID] {
    ids { $0.session.owner == owner && $0.last?.generation == generation }
  }

  /// Whether a process has the session open and is not suspended.
  private func isConnected(_ key: SessionKey, _ session: Session) -> Bool {
    session.openIn.map { suspendedInstances[key.owner] != $0 } ?? false
  }
}

extension DeliveryStateMachine.Action {
  /// Whether the action begins a delivery attempt.
  var isDelivery: Bool {
    if case .deliver = self { return true }
    return false
  }
}
