// SPDX-License-Identifier: Apache-2.0

import Messages

// Replacement of standing keys. A key is accepted until a later one of its pattern was used and the grace period has
// passed. Each step is recorded in the journal before it is announced, so that the next broker continues from there.

extension Routing {
  /// Sets the standing keys. None of them may be for the bus itself, whose key is in the same folder.
  mutating func setStanding(_ standing: [StandingKeyFacts]) {
    keys.setStanding(standing.filter { !$0.pattern.matches(.messageBus) && !$0.pattern.matches(.journal) })
  }

  /// Registers the sender's next key. Idempotent.
  mutating func register(_ request: RegisterKey, by source: Address) throws(BusError) -> RegisterKey.Reply {
    let pattern = try pattern(of: request, by: source)
    let key = request.publicKey
    guard Self.isPublicKey(key) else { throw BusError(.malformed, "a public key is 40 characters of Z85") }
    if let known = keys.facts(key), known.pattern == pattern {
      return RegisterKey.Reply(key: known, graceSeconds: keyGrace)
    }
    guard keys[key] == nil, !keys.isRevoked(key) else {
      throw BusError(.keyInUse, "this key belongs to another holder")
    }
    guard keys.hasRoom(for: pattern) else {
      throw BusError(
        BusError.Code("too-many-keys"), "\(pattern) has too many unused keys; use them before registering another")
    }
    let facts = StandingKeyFacts(pattern: pattern, publicKey: key, since: keys.time(for: pattern, notBefore: now))
    keys.register(facts)
    record(KeyChanged(.registered, facts), to: .journal)
    return RegisterKey.Reply(key: facts, graceSeconds: keyGrace)
  }

  /// The pattern of the key: the sender's own, or one that an operator may renew for a holder that is not a process of
  /// the cluster.
  private func pattern(of request: RegisterKey, by source: Address) throws(BusError) -> AddressPattern {
    guard let line = line(of: source), case .standing(let own)? = peers[line]?.owner else {
      throw BusError(.refused, "\(source) does not use a standing key")
    }
    guard let pattern = request.pattern, pattern != own else { return own }
    guard source.role == .operator, [AddressPattern.watchers, .fleets, AddressPattern(.provider)].contains(pattern)
    else {
      throw BusError(.refused, "\(source) may not register a key of \(pattern): only its holder may")
    }
    return pattern
  }

  /// A hello was sent with this key.
  mutating func recordFirstUse(_ key: String) {
    guard let facts = keys.markUsed(key) else { return }
    record(KeyChanged(.used, facts), to: .journal)
    actions.append(.supersede(key))
  }

  /// The grace period after a key's first hello has passed: the earlier keys of its pattern are revoked.
  mutating func supersede(by key: String) -> [Action] {
    let former = keys.supersede(by: key)
    for facts in former { record(KeyChanged(.revoked, facts), to: .journal) }
    let revoked = Set(former.map(\.publicKey))
    for (line, peer) in peers where revoked.contains(peer.key) {
      if peer.state == .current { disconnect(line, .disconnected) }
      peers[line]?.state = .replaced
      cutOff(peer, on: line)
    }
    if former.contains(where: { $0.pattern.text.hasPrefix("operator/") }) { actions.append(.cutOffViewers) }
    return takeActions()
  }

  /// Whether a text can be a public key.
  static func isPublicKey(_ text: String) -> Bool {
    let others = ".-:+=^!/*?&<>()[]{}@%$#"
    return text.utf8.count == 40
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
  }
}
