import Conversations

// How a standing key is followed by another. A key is let in until a later one of its pattern has spoken and the grace
// has passed; each step stands in the journal before anybody is told of it, so that the next broker goes on there.

extension Routing {
  /// Takes over the standing keys. None of them speaks as the bus, whose key stands in the same folder.
  mutating func setStanding(_ standing: [StandingKeyFacts]) {
    keys.setStanding(standing.filter { !$0.pattern.matches(.messageBus) && !$0.pattern.matches(.journal) })
  }

  /// Makes the next key of the speaker known. The same key again is the same registration.
  mutating func register(_ request: RegisterKey, by source: Address) throws(BusError) -> RegisterKey.Reply {
    let pattern = try pattern(of: request, by: source)
    let key = request.publicKey
    guard Self.isPublicKey(key) else { throw BusError(.malformed, "a public key is 40 characters of Z85") }
    if let known = keys.facts(key), known.pattern == pattern {
      return RegisterKey.Reply(key: known, graceSeconds: keyGrace)
    }
    guard keys[key] == nil, !keys.isRevoked(key) else {
      throw BusError(.keyInUse, "this key was made for something else")
    }
    guard keys.hasRoom(for: pattern) else {
      throw BusError(
        BusError.Code("too-many-keys"), "\(pattern) has keys enough that wait to be used; renew it when they have been")
    }
    let facts = StandingKeyFacts(pattern: pattern, publicKey: key, since: keys.time(for: pattern, notBefore: now))
    keys.register(facts)
    record(KeyChanged(.registered, facts), to: .journal)
    return RegisterKey.Reply(key: facts, graceSeconds: keyGrace)
  }

  /// Whose key it is: the speaker's, or one that an operator may renew for its holder, which is no process of the
  /// cluster.
  private func pattern(of request: RegisterKey, by source: Address) throws(BusError) -> AddressPattern {
    guard let line = line(of: source), case .standing(let own)? = peers[line]?.owner else {
      throw BusError(.refused, "\(source) does not speak with a standing key")
    }
    guard let pattern = request.pattern, pattern != own else { return own }
    guard source.role == .operator, [AddressPattern.watchers, AddressPattern(.provider)].contains(pattern) else {
      throw BusError(.refused, "\(source) may not register a key of \(pattern): its holder does that")
    }
    return pattern
  }

  /// A hello came with this key.
  mutating func noteSpoken(_ key: String) {
    guard let facts = keys.spoke(key) else { return }
    record(KeyChanged(.spoke, facts), to: .journal)
    effects.append(.supersede(key))
  }

  /// The grace of a key's first hello has passed: the earlier keys of its pattern are turned away.
  mutating func supersede(by key: String) -> [Effect] {
    let former = keys.supersede(by: key)
    for facts in former { record(KeyChanged(.revoked, facts), to: .journal) }
    let revoked = Set(former.map(\.publicKey))
    for (line, peer) in peers where revoked.contains(peer.key) {
      if peer.state == .current { disconnect(line, .disconnected) }
      peers[line]?.state = .replaced
      cutOff(peer, on: line)
    }
    if former.contains(where: { $0.pattern.text.hasPrefix("operator/") }) { effects.append(.cutOffViewers) }
    return takeEffects()
  }

  /// Whether a text can be a public key.
  static func isPublicKey(_ text: String) -> Bool {
    let others = ".-:+=^!/*?&<>()[]{}@%$#"
    return text.utf8.count == 40
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
  }
}
