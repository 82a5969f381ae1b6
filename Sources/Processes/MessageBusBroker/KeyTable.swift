import Conversations

/// Which keys the broker knows, and what each may speak as.
struct KeyTable {
  /// Whose key it is.
  enum Owner: Equatable {
    /// A standing process: any address that the pattern matches.
    case standing(AddressPattern)
    /// One life of a spawned process.
    case life(Address, generation: UInt32)

    func maySpeak(as address: Address) -> Bool {
      switch self {
      case .standing(let pattern): pattern.matches(address)
      case .life(let own, _): own == address
      }
    }

    /// The one address that it speaks as; nil for a pattern of many.
    var onlyAddress: Address? {
      switch self {
      case .standing(let pattern): pattern.text.hasSuffix("/*") ? nil : Address(pattern.text)
      case .life(let address, _): address
      }
    }

    var isOperator: Bool {
      if case .standing(let pattern) = self { return pattern.text.hasPrefix("operator/") }
      return false
    }

    /// As a refusal names it.
    var text: String {
      switch self {
      case .standing(let pattern): pattern.text
      case .life(let address, let generation): "\(address) generation \(generation)"
      }
    }
  }

  /// How many revoked keys are remembered; one that is older is an unknown key.
  static let revokedLimit = 512
  /// How many standing keys may be registered over the bus, of one pattern and of all.
  static let registeredLimit = (ofPattern: 8, ofAll: 64)

  /// The standing keys that are let in.
  private var standing: [String: StandingKeyFacts] = [:]
  /// Those of them that were registered over the bus.
  private var registered: Set<String> = []
  /// When the key was made that all earlier ones of its pattern gave way to.
  private var floors: [AddressPattern: Timestamp] = [:]
  private var lives: [String: Owner] = [:]
  private var revoked: [String] = []

  subscript(key: String) -> Owner? { standing[key].map { .standing($0.pattern) } ?? lives[key] }

  func isRevoked(_ key: String) -> Bool { revoked.contains(key) }

  mutating func admit(_ key: String, _ address: Address, generation: UInt32) {
    lives[key] = .life(address, generation: generation)
  }

  mutating func revoke(_ key: String) {
    lives[key] = nil
    standing[key] = nil
    registered.remove(key)
    guard !revoked.contains(key) else { return }
    revoked.append(key)
    if revoked.count > KeyTable.revokedLimit { revoked.removeFirst() }
  }

  // MARK: Standing keys

  /// What a new broker has to know again: the keys that stand in no file, and those that are turned away.
  var recorded: (registered: [StandingKeyFacts], revoked: [String]) {
    (standingKeys.filter { registered.contains($0.publicKey) }, revoked)
  }

  /// By pattern, then by age.
  var standingKeys: [StandingKeyFacts] {
    standing.values.sorted { ($0.pattern.text, $0.since, $0.publicKey) < ($1.pattern.text, $1.since, $1.publicKey) }
  }

  /// Knows these standing keys, those that were registered over the bus, and no other from now on. One that was made
  /// before another of its pattern that has followed it stays turned away.
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

  /// A standing key that was registered over the bus, now or with an earlier broker.
  mutating func register(_ key: StandingKeyFacts) {
    standing[key.publicKey] = key
    registered.insert(key.publicKey)
    if key.hasSpoken { floors[key.pattern] = max(floors[key.pattern] ?? key.since, key.since) }
  }

  /// What is known of a standing key.
  func facts(_ key: String) -> StandingKeyFacts? { standing[key] }

  /// The keys of a pattern that are older than this one.
  func earlier(than key: StandingKeyFacts) -> [StandingKeyFacts] {
    standingKeys.filter { $0.pattern == key.pattern && $0.since < key.since }
  }

  /// A time for one more key of a pattern, later than that of all others, whatever the clock of the machine does.
  func time(for pattern: AddressPattern, notBefore now: Timestamp) -> Timestamp {
    let last = standing.values.filter { $0.pattern == pattern }.map(\.since.microseconds).max() ?? 0
    return Timestamp(microseconds: max(now.microseconds, last + 1))
  }

  /// Whether one more may be registered.
  func hasRoom(for pattern: AddressPattern) -> Bool {
    registered.count < KeyTable.registeredLimit.ofAll
      && registered.count(where: { standing[$0]?.pattern == pattern }) < KeyTable.registeredLimit.ofPattern
  }

  /// A standing key was used for the first time while an earlier one of its pattern is there.
  ///
  /// - Returns: what is known of it from now on; nil when nothing is new.
  mutating func spoke(_ key: String) -> StandingKeyFacts? {
    guard var facts = standing[key], !facts.hasSpoken, !earlier(than: facts).isEmpty else { return nil }
    facts.hasSpoken = true
    standing[key] = facts
    return facts
  }

  /// Turns the earlier keys of its pattern away from now on.
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

/// Who has sent something to an address since this broker began, and so hears of its coming and going.
struct Interest {
  /// Whoever comes after so many others at one address hears nothing.
  static let limit = 1024
  private var listeners: [Address: [Address]] = [:]

  mutating func note(_ sender: Address, in address: Address) {
    let known = listeners[address, default: []]
    guard known.count < Interest.limit, !known.contains(sender) else { return }
    listeners[address] = known + [sender]
  }

  /// In the order of their first envelopes.
  func listeners(of address: Address) -> [Address] { listeners[address] ?? [] }

  mutating func forget(_ address: Address) {
    listeners[address] = nil
    for key in Array(listeners.keys) {
      listeners[key]?.removeAll { $0 == address }
      if listeners[key]?.isEmpty == true { listeners[key] = nil }
    }
  }
}
