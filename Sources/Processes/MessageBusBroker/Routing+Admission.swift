import Conversations

// Who may connect.

extension Routing {
  /// The connection that has this descriptor now. From here on the descriptor names no connection any more.
  mutating func release(_ descriptor: Int32) -> Line? { descriptors.removeValue(forKey: descriptor) }

  enum Admission: Equatable {
    case admitted
    /// Not known now; a later broker or a later key file may know it.
    case unknown
    /// Never again.
    case refused
  }

  /// Somebody who holds a key wants to connect to the bus, or to the tap.
  mutating func authenticate(_ key: String, isTap: Bool, peerAddress: String) -> (Admission, [Effect]) {
    if let owner = keys[key] {
      guard isTap, !owner.isOperator else { return (.admitted, []) }
      return (.refused, turnAway("not-an-operator", key, peerAddress))
    }
    let isRevoked = keys.isRevoked(key)
    return (
      isRevoked ? .refused : .unknown, turnAway(isRevoked ? "revoked-key" : "unknown-key", key, peerAddress)
    )
  }

  /// Records that a connection was turned away: once in ten seconds for each key, since it will come again and again.
  mutating func turnAway(_ reason: String, _ key: String, _ peerAddress: String) -> [Effect] {
    let name = key.isEmpty ? reason : key
    if let last = turnedAway[name], now.microseconds - last.microseconds < Self.turnedAwayInterval { return [] }
    if turnedAway.count > 4096 { turnedAway = [:] }
    turnedAway[name] = now
    record(TurnedAway(reason: reason, publicKey: key, peerAddress: peerAddress), to: .journal)
    return takeEffects()
  }
}
