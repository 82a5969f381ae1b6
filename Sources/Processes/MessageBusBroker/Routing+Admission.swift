// SPDX-License-Identifier: Apache-2.0

import Messages

// Admission of connections.

extension Routing {
  /// Returns the connection with this descriptor, and frees the descriptor for another connection.
  mutating func release(_ descriptor: Int32) -> Line? { descriptors.removeValue(forKey: descriptor) }

  enum Admission: Equatable {
    case admitted
    /// Unknown for now; a later broker or key file may contain it.
    case unknown
    /// Rejected permanently.
    case refused
  }

  /// Decides whether the holder of a key may connect to the bus, or to the tap.
  mutating func authenticate(_ key: String, isTap: Bool, peerAddress: String) -> (Admission, [Action]) {
    if let owner = keys[key] {
      guard isTap, !owner.isOperator else { return (.admitted, []) }
      return (.refused, turnAway("not-an-operator", key, peerAddress))
    }
    let isRevoked = keys.isRevoked(key)
    return (
      isRevoked ? .refused : .unknown, turnAway(isRevoked ? "revoked-key" : "unknown-key", key, peerAddress)
    )
  }

  /// Records a rejected connection: once in ten seconds per key, since the client retries.
  mutating func turnAway(_ reason: String, _ key: String, _ peerAddress: String) -> [Action] {
    let name = key.isEmpty ? reason : key
    if let last = turnedAway[name], now.microseconds - last.microseconds < Self.turnedAwayInterval { return [] }
    if turnedAway.count > 4096 { turnedAway = [:] }
    turnedAway[name] = now
    record(AuthenticationFailed(reason: reason, publicKey: key, peerAddress: peerAddress), to: .journal)
    return takeActions()
  }
}
