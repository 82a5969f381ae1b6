// SPDX-License-Identifier: Apache-2.0

// How a standing key is replaced by another while the cluster runs.

/// The broker's record of a standing key.
package struct StandingKeyFacts: Codable, Hashable, Sendable {
  /// The addresses that it may use.
  package let pattern: AddressPattern
  /// z85, 40 characters.
  package let publicKey: String
  /// When it was created or registered. Of the keys of one pattern, a later one replaces the earlier ones.
  package let since: Timestamp
  /// Whether a process has sent a hello with it, so that the earlier keys of its pattern expire.
  package var hasSentHello: Bool
  package init(pattern: AddressPattern, publicKey: String, since: Timestamp, hasSentHello: Bool = false) {
    self.pattern = pattern
    self.publicKey = publicKey
    self.since = since
    self.hasSentHello = hasSentHello
  }
}

/// Registers the next standing key of its holder, before the key is used. Idempotent.
package struct RegisterKey: Request {
  package static let kind: Kind = "key.register"
  /// z85, 40 characters.
  package let publicKey: String
  /// The pattern of the key when it is not the sender's own: an operator registers keys for holders that are not
  /// processes of the cluster.
  package let pattern: AddressPattern?
  package init(publicKey: String, pattern: AddressPattern? = nil) {
    self.publicKey = publicKey
    self.pattern = pattern
  }
  package struct Reply: Codable, Hashable, Sendable {
    package let key: StandingKeyFacts
    /// How long after the first hello with this key the earlier ones are still accepted.
    package let graceSeconds: Double
    package init(key: StandingKeyFacts, graceSeconds: Double) {
      self.key = key
      self.graceSeconds = graceSeconds
    }
  }
}

extension BusError.Code {
  /// The key belongs to another holder or is revoked already: create a new one. Definite.
  package static let keyInUse = BusError.Code("key-in-use")
}

/// Asks a standing process to create a new key, to register it, and to use it from then on.
package struct RenewKey: Request {
  package static let kind: Kind = "key.renew"
  package struct Reply: Codable, Hashable, Sendable {
    package let former: String
    package let current: String
    /// How long the previous key is still accepted.
    package let graceSeconds: Double
    package init(former: String, current: String, graceSeconds: Double) {
      self.former = former
      self.current = current
      self.graceSeconds = graceSeconds
    }
  }
  package init() {}
}

/// Asks the broker for the standing keys that it accepts.
package struct ListKeys: Request {
  package static let kind: Kind = "key.list"
  package struct Reply: Codable, Hashable, Sendable {
    /// By pattern, then by age.
    package let keys: [StandingKeyFacts]
    package init(keys: [StandingKeyFacts]) { self.keys = keys }
  }
  package init() {}
}

/// Journal: a standing key was registered, used for the first time, or revoked.
package struct KeyChanged: Notice, Hashable {
  package static let kind: Kind = "key.changed"
  package enum Change: String, Codable, Sendable {
    /// `used`: the first hello with the key was received.
    case registered, used, revoked
  }
  package let change: Change
  package let key: StandingKeyFacts
  package init(_ change: Change, _ key: StandingKeyFacts) {
    self.change = change
    self.key = key
  }
}
