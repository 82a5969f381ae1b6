// SPDX-License-Identifier: Apache-2.0

import Messages

/// The keys that the broker accepts, and the addresses that each may use.
struct KeyTable {
  /// The owner of a key.
  enum Owner: Equatable {
    /// A standing process: any address that matches the pattern.
    case standing(AddressPattern)
    /// One process instance of a spawned process.
    case instance(Address, generation: UInt32)

    func maySend(as address: Address) -> Bool {
      switch self {
      case .standing(let pattern): pattern.matches(address)
      case .instance(let own, _): own == address
      }
    }

    /// The single address that it may use; nil for a pattern of several.
    var onlyAddress: Address? {
      switch self {
      case .standing(let pattern): pattern.text.hasSuffix("/*") ? nil : Address(pattern.text)
      case .instance(let address, _): address
      }
    }

    var isOperator: Bool {
      if case .standing(let pattern) = self { return pattern.text.hasPrefix("operator/") }
      return false
    }

    /// The owner's name in a refusal.
    var text: String {
      switch self {
      case .standing(let pattern): pattern.text
      case .instance(let address, let generation): "\(address) generation \(generation)"
      }
    }
  }

  /// How many revoked keys are remembered; older ones count as unknown.
  static let revokedLimit = 512
  /// How many standing keys may be registered over the bus, per pattern and in total.
  static let registeredLimit = (ofPattern: 8, ofAll: 64)

  /// The accepted standing keys.
  private var standing: [String: StandingKeyFacts] = [:]
  /// The standing keys that were registered over the bus.
  private var registered: Set<String> = []
  /// Per pattern, the creation time of the key that superseded all earlier ones.
  private var floors: [AddressPattern: Timestamp] = [:]
  private var instances: [String: Owner] = [:]
  private var revoked: [String] = []

  subscript(key: String) -> Owner? { standing[key].map { .standing($0.pattern) } ?? instances[key] }

  func isRevoked(_ key: String) -> Bool { revoked.contains(key) }

  mutating func admit(_ key: String, _ address: Address, generation: UInt32) {
    instances[key] = .instance(address, generation: generation)
  }

  mutating func revoke(_ key: String) {
    instances[key] = nil
    standing[key] = nil
    registered.remove(key)
    guard !revoked.contains(key) else { return }
    revoked.append(key)
    if revoked.count > KeyTable.revokedLimit { revoked.removeFirst() }
  }

  // MARK: Standing keys

  /// The state that a new broker restores: the keys that are in no file, and the revoked ones.
  var recorded: (registered: [StandingKeyFacts], revoked: [String]) {
    (standingKeys.filter { registered.contains($0.publicKey) }, revoked)
  }

  /// By pattern, then by age.
  var standingKeys: [StandingKeyFacts] {
    standing.values.sorted { ($0.pattern.text, $0.since, $0.publicKey) < ($1.pattern.text, $1.since, $1.publicKey) }
  }

  /// Replaces the standing keys from files; those registered over the bus stay. A key that is older than the
  /// superseding key of its pattern stays revoked.
  mutating func setStanding(_ keys: [StandingKeyFacts]) {
    let before = standing
    standing = before.filter { registered.contains($0.key) }
    for key in keys where standing[key.publicKey] == nil && !isRevoked(key.publicKey) {
      if let floor = floors[key.pattern], key.since < floor {
        revoke(key.publicKey)
      } else {
        standing[key.publicKey] = before[key.publicKey] ?? key
      }
    }
  }

  /// Adds a standing key that was registered over the bus, at this broker or an earlier one.
  mutating func register(_ key: StandingKeyFacts) {
    standing[key.publicKey] = key
    registered.insert(key.publicKey)
    if key.hasSentHello { floors[key.pattern] = max(floors[key.pattern] ?? key.since, key.since) }
  }

  /// The record of a standing key.
  func facts(_ key: String) -> StandingKeyFacts? { standing[key] }

  /// The keys of a pattern that are older than this one.
  func earlier(than key: StandingKeyFacts) -> [StandingKeyFacts] {
    standingKeys.filter { $0.pattern == key.pattern && $0.since < key.since }
  }

  /// A creation time for another key of a pattern, later than those of all others even if the machine's clock went
  /// back.
  func time(for pattern: AddressPattern, notBefore now: Timestamp) -> Timestamp {
    let last = standing.values.filter { $0.pattern == pattern }.map(\.since.microseconds).max() ?? 0
    return Timestamp(microseconds: max(now.microseconds, last + 1))
  }

  /// Whether one more key may be registered.
  func hasRoom(for pattern: AddressPattern) -> Bool {
    registered.count < KeyTable.registeredLimit.ofAll
      && registered.count(where: { standing[$0]?.pattern == pattern }) < KeyTable.registeredLimit.ofPattern
  }

  /// Marks the first use of a standing key while an earlier one of its pattern is accepted.
  ///
  /// - Returns: its new record; nil when nothing changed.
  mutating func markUsed(_ key: String) -> StandingKeyFacts? {
    guard var facts = standing[key], !facts.hasSentHello, !earlier(than: facts).isEmpty else { return nil }
    facts.hasSentHello = true
    standing[key] = facts
    return facts
  }

  /// Revokes the earlier keys of its pattern.
  ///
  /// - Returns: those keys.
  mutating func supersede(by key: String) -> [StandingKeyFacts] {
    guard let facts = standing[key] else { return [] }
    let former = earlier(than: facts)
    floors[facts.pattern] = max(floors[facts.pattern] ?? facts.since, facts.since)
    for key in former { revoke(key.publicKey) }
    return former
  }
}

/// The addresses that have sent something to an address since this broker started, and that therefore get its presence
/// notices.
struct Interest {
  /// The maximum number of listeners per address; further ones get no notices.
  static let limit = 1024

  private struct Listeners {
    /// In the order of their first envelopes.
    var ordered: [Address] = []
    /// The same, since each envelope to the address is looked up here.
    var knownSenders: Set<Address> = []
  }

  private var listeners: [Address: Listeners] = [:]

  mutating func note(_ sender: Address, in address: Address) {
    if let knownSenders = listeners[address]?.knownSenders,
      knownSenders.contains(sender) || knownSenders.count >= Interest.limit
    {
      return
    }
    listeners[address, default: Listeners()].knownSenders.insert(sender)
    listeners[address]?.ordered.append(sender)
  }

  /// In the order of their first envelopes.
  func listeners(of address: Address) -> [Address] { listeners[address]?.ordered ?? [] }

  mutating func forget(_ address: Address) {
    listeners[address] = nil
    for key in Array(listeners.keys) where listeners[key]?.knownSenders.remove(address) != nil {
      listeners[key]?.ordered.removeAll { $0 == address }
      if listeners[key]?.knownSenders.isEmpty == true { listeners[key] = nil }
    }
  }
}
