// How a standing key is followed by another while the cluster runs.

/// A standing key as the broker knows it.
package struct StandingKeyFacts: Codable, Hashable, Sendable {
  /// Which addresses it may speak as.
  package let pattern: AddressPattern
  /// z85, 40 characters.
  package let publicKey: String
  /// When it was made or registered. Of the keys of one pattern a later one follows an earlier one.
  package let since: Timestamp
  /// Whether a process has said hello with it, so that the earlier keys of its pattern are about to end.
  package var hasSpoken: Bool
  package init(pattern: AddressPattern, publicKey: String, since: Timestamp, hasSpoken: Bool = false) {
    self.pattern = pattern
    self.publicKey = publicKey
    self.since = since
    self.hasSpoken = hasSpoken
  }
}

/// The holder of a standing key makes its next one known, before it uses it. The same key again is the same.
package struct RegisterKey: Request {
  package static let kind: Kind = "key.register"
  /// z85, 40 characters.
  package let publicKey: String
  /// Whose key it is, when it is not the speaker's own: an operator registers those of holders that are no processes of
  /// the cluster.
  package let pattern: AddressPattern?
  package init(publicKey: String, pattern: AddressPattern? = nil) {
    self.publicKey = publicKey
    self.pattern = pattern
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let key: StandingKeyFacts
    /// How long after the first hello with this key the earlier ones are turned away.
    package let graceSeconds: Double
    package init(key: StandingKeyFacts, graceSeconds: Double) {
      self.key = key
      self.graceSeconds = graceSeconds
    }
  }
}

extension BusError.Code {
  /// The key belongs to somebody else, or is turned away already: a new one is needed. Definite.
  package static let keyInUse = BusError.Code("key-in-use")
}

/// Asks a standing process to make itself a new key, to register it, and to speak with it from then on.
package struct RenewKey: Request {
  package static let kind: Kind = "key.renew"
  package struct Reply: Codable, Hashable, Sendable {
    package let former: String
    package let current: String
    /// How long the former key is still let in.
    package let graceSeconds: Double
    package init(former: String, current: String, graceSeconds: Double) {
      self.former = former
      self.current = current
      self.graceSeconds = graceSeconds
    }
  }
  package init() {}
}

/// Asks the broker which standing keys it lets in.
package struct ListKeys: Request {
  package static let kind: Kind = "key.list"
  package struct Reply: Codable, Hashable, Sendable {
    /// By pattern, then by age.
    package let keys: [StandingKeyFacts]
    package init(keys: [StandingKeyFacts]) { self.keys = keys }
  }
  package init() {}
}

/// Journal: a standing key was registered, spoke for the first time, or is turned away from now on.
package struct KeyChanged: Notice, Hashable {
  package static let kind: Kind = "key.changed"
  package enum Change: String, Codable, Sendable {
    case registered, spoke, revoked
  }
  package let change: Change
  package let key: StandingKeyFacts
  package init(_ change: Change, _ key: StandingKeyFacts) {
    self.change = change
    self.key = key
  }
}
