// SPDX-License-Identifier: Apache-2.0

package import Foundation

// Messages between peers and the broker about connections.

/// The first message on every connection: identifies the process instance.
package struct Hello: Request {
  package static let kind: Kind = "peer.hello"
  /// New for every process instance, the same on each of its connections.
  package let incarnation: UUID
  package let pid: Int32
  /// The identity of the sender's database: another one when it began with an empty database.
  package let store: UUID?
  /// How often that database was opened: a number that is not higher than an earlier one shows an older copy.
  package let opening: Int?
  package init(incarnation: UUID, pid: Int32, store: UUID? = nil, opening: Int? = nil) {
    self.incarnation = incarnation
    self.pid = pid
    self.store = store
    self.opening = opening
  }
  package typealias Reply = GenerationReply
}

/// The generation of a process instance at its address: 1, 2, 3 …
package struct GenerationReply: Codable, Hashable, Sendable {
  package let generation: UInt32
  package init(generation: UInt32) { self.generation = generation }
}

/// The last message of a process. After the reply nothing more is sent to it.
package struct Goodbye: Request {
  package static let kind: Kind = "peer.goodbye"
  package typealias Reply = Done
  package init() {}
}

/// The broker replies to it itself; the reply of any other process shows that it is not stopped.
package struct Ping: Request {
  package static let kind: Kind = "peer.ping"
  package struct Reply: Codable, Hashable, Sendable {
    package let pid: Int32
    /// Whether it can do its work now; `waitingFor` lists what is missing.
    package let isReady: Bool
    package let waitingFor: [String]
    package init(pid: Int32, isReady: Bool = true, waitingFor: [String] = []) {
      self.pid = pid
      self.isReady = isReady
      self.waitingFor = waitingFor
    }
  }
  package init() {}
}

/// Asks a standing process to send a signal to itself: the way to kill a process in another container.
package struct RaiseSignal: Notice {
  package static let kind: Kind = "peer.raise-signal"
  package let signal: Int32
  package init(signal: Int32) { self.signal = signal }
}

/// A peer to which the receiver has sent something connected or disconnected.
package struct Presence: Notice, Hashable {
  package static let kind: Kind = "peer.presence"
  package let address: Address
  package let isPresent: Bool
  package let generation: UInt32
  package init(address: Address, isPresent: Bool, generation: UInt32) {
    self.address = address
    self.isPresent = isPresent
    self.generation = generation
  }
}

/// The connection has sent no hello yet: asks for one.
package struct HelloRequired: Notice {
  package static let kind: Kind = "peer.who"
  package init() {}
}

/// The envelope named as cause was not forwarded, without a fault of the sender: `unreachable` or `busy`.
package struct Undelivered: Notice {
  package static let kind: Kind = "bus.undelivered"
  package let kindName: String
  package let destination: Address
  package let code: BusError.Code
  package init(kindName: String, destination: Address, code: BusError.Code) {
    self.kindName = kindName
    self.destination = destination
    self.code = code
  }
}

/// The sender may not send the envelope named as cause to that destination.
package struct Refused: Notice {
  package static let kind: Kind = "bus.refused"
  /// The reason for refusing a hello that may be repeated: the broker has no room at present.
  package static let tooManyPeers = "too-many-peers"
  /// The reason: `role-mismatch`, `not-in-table`, `other-device`, `not-an-envelope`, `body-too-large`, `not-registered`
  /// or `too-many-peers`.
  package let reason: String
  /// The address that the sender claimed.
  package let claimed: String
  /// The address or pattern of its key.
  package let keyOwner: String
  package let kindName: String
  package let destination: String
  package init(reason: String, claimed: String, keyOwner: String, kindName: String, destination: String) {
    self.reason = reason
    self.claimed = claimed
    self.keyOwner = keyOwner
    self.kindName = kindName
    self.destination = destination
  }
}

/// A connection was rejected during the handshake.
package struct AuthenticationFailed: Notice {
  package static let kind: Kind = "peer.turned-away"
  /// `unknown-key`, `revoked-key`, `no-key`, `bad-handshake` (such as with another broker's key), `not-an-operator`
  /// (at the tap).
  package let reason: String
  package let publicKey: String
  package let peerAddress: String
  package init(reason: String, publicKey: String, peerAddress: String) {
    self.reason = reason
    self.publicKey = publicKey
    self.peerAddress = peerAddress
  }
}

/// An agent registers the key of a process instance at the broker, before it spawns the child.
package struct RegisterInstance: Request {
  package static let kind: Kind = "instance.register"
  package let address: Address
  /// z85, 40 characters.
  package let publicKey: String
  package init(address: Address, publicKey: String) {
    self.address = address
    self.publicKey = publicKey
  }
  package typealias Reply = GenerationReply
}

/// A process instance has ended: its key is rejected from now on.
package struct RetireInstance: Request {
  package static let kind: Kind = "instance.retire"
  package typealias Reply = Done
  package let address: Address
  package let generation: UInt32
  package init(address: Address, generation: UInt32) {
    self.address = address
    self.generation = generation
  }
}

/// The broker's record of one address. The journal contains it, so that a new broker can restore it.
package struct Registration: Codable, Hashable, Sendable {
  package let address: Address
  package var generation: UInt32
  /// The incarnation that sent the hello of this generation; `nil` for a registered process instance without a hello
  /// yet.
  package var incarnation: UUID?
  /// The key of the process instance; `nil` for a standing process, whose key is a file.
  package var publicKey: String?
  package var pid: Int32?
  package var isConnected: Bool
  /// The process instance has ended: its key is rejected.
  package var isRetired: Bool
  package init(
    address: Address, generation: UInt32, incarnation: UUID? = nil, publicKey: String? = nil, pid: Int32? = nil,
    isConnected: Bool = false, isRetired: Bool = false
  ) {
    self.address = address
    self.generation = generation
    self.incarnation = incarnation
    self.publicKey = publicKey
    self.pid = pid
    self.isConnected = isConnected
    self.isRetired = isRetired
  }
}

/// Journal: a broker began a segment; contains its whole state.
package struct BusStarted: Notice {
  package static let kind: Kind = "bus.started"
  package let pid: Int32
  /// The broker's own generation.
  package let generation: UInt32
  package let registrations: [Registration]
  /// Standing keys that were registered over the bus.
  package let keys: [StandingKeyFacts]
  /// The last revoked keys, the latest at the end.
  package let revoked: [String]
  /// The highest generation of a registration that the broker does not know any more: it dropped it, because its process
  /// instance had ended, or it was lost with the end of the journal.
  package let droppedGeneration: UInt32
  /// The first number that was lost with the end of the journal: from it to the number before this record, envelopes may
  /// have been sent that are in no segment. `nil` when nothing was lost.
  package let lostFrom: UInt64?
  package init(
    pid: Int32, generation: UInt32, registrations: [Registration], keys: [StandingKeyFacts] = [],
    revoked: [String] = [], droppedGeneration: UInt32 = 0, lostFrom: UInt64? = nil
  ) {
    self.pid = pid
    self.generation = generation
    self.registrations = registrations
    self.keys = keys
    self.revoked = revoked
    self.droppedGeneration = droppedGeneration
    self.lostFrom = lostFrom
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    pid = try container.decode(Int32.self, forKey: .pid)
    generation = try container.decode(UInt32.self, forKey: .generation)
    registrations = try container.decode([Registration].self, forKey: .registrations)
    // Older journals do not contain them.
    keys = try container.decodeIfPresent([StandingKeyFacts].self, forKey: .keys) ?? []
    revoked = try container.decodeIfPresent([String].self, forKey: .revoked) ?? []
    droppedGeneration = try container.decodeIfPresent(UInt32.self, forKey: .droppedGeneration) ?? 0
    lostFrom = try container.decodeIfPresent(UInt64.self, forKey: .lostFrom)
  }
}

/// Journal: a registration changed: hello, goodbye, disconnection, a process instance registered or retired.
package struct RegistrationChanged: Notice {
  package static let kind: Kind = "peer.changed"
  package enum Change: String, Codable, Sendable {
    case connected, disconnected, left, registered, retired
  }
  package let change: Change
  package let registration: Registration
  package init(_ change: Change, _ registration: Registration) {
    self.change = change
    self.registration = registration
  }
}

/// Journal: the oldest segments are removed, since the journal exceeds its limit.
package struct JournalTrimmed: Notice, Hashable {
  package static let kind: Kind = "journal.trimmed"
  /// The first and the last number removed from the journal.
  package let firstSequence: UInt64
  package let lastSequence: UInt64
  /// The number of removed segments.
  package let segments: Int
  package let bytes: Int
  package init(firstSequence: UInt64, lastSequence: UInt64, segments: Int, bytes: Int) {
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
    self.segments = segments
    self.bytes = bytes
  }
}

/// Journal: the journal is written again after it could not be written. Nothing was forwarded during that time.
package struct JournalResumed: Notice, Hashable {
  package static let kind: Kind = "journal.resumed"
  /// Why it could not be written.
  package let reason: String
  /// The duration.
  package let milliseconds: Int
  /// How many records waited; they precede this one, with the time at which they were sent.
  package let held: Int
  /// How many requests and events were rejected with `busy`; they are not in the journal.
  package let turnedDown: Int
  package init(reason: String, milliseconds: Int, held: Int, turnedDown: Int) {
    self.reason = reason
    self.milliseconds = milliseconds
    self.held = held
    self.turnedDown = turnedDown
  }
}

/// Journal: the broker has reached its maximum of connections and accepts no more, or accepts them again.
package struct BusStrained: Notice, Hashable {
  package static let kind: Kind = "bus.strained"
  /// What has run out, such as `descriptors`, or the kernel's error when it could not accept a connection.
  package let reason: String
  package let connections: Int
  package let limit: Int
  /// How many connections were rejected since it began.
  package let turnedAway: Int
  /// The broker accepts connections again.
  package let isOver: Bool
  package init(reason: String, connections: Int, limit: Int, turnedAway: Int, isOver: Bool) {
    self.reason = reason
    self.connections = connections
    self.limit = limit
    self.turnedAway = turnedAway
    self.isOver = isOver
  }
}

/// Journal: the broker closed a connection with a known key after too many malformed frames. The peer may reconnect.
package struct PeerDisconnected: Notice, Hashable {
  package static let kind: Kind = "peer.cut-off"
  /// The address or pattern of its key.
  package let keyOwner: String
  /// The address of its hello, if it sent one.
  package let address: Address?
  /// Why the last frame was refused: `not-an-envelope`, `body-too-large`.
  package let reason: String
  /// How many of its frames were refused for such a reason.
  package let refusals: Int
  package init(keyOwner: String, address: Address?, reason: String, refusals: Int) {
    self.keyOwner = keyOwner
    self.address = address
    self.reason = reason
    self.refusals = refusals
  }
}

/// Journal: the receiver of the notice named as cause could not decode its body, or its sender could not encode one.
package struct BodyRefused: Notice, Hashable {
  package static let kind: Kind = "body.refused"
  package let kindName: String
  /// The sender of the notice.
  package let source: Address
  package let destination: Address
  package let error: BusError
  package init(kindName: String, source: Address, destination: Address, error: BusError) {
    self.kindName = kindName
    self.source = source
    self.destination = destination
    self.error = error
  }
}

/// Requests the broker's registrations.
package struct BusStatus: Request {
  package static let kind: Kind = "bus.status"
  package struct Reply: Codable, Hashable, Sendable {
    package let pid: Int32
    package let generation: UInt32
    package let sequence: UInt64
    package let registrations: [Registration]
    package init(pid: Int32, generation: UInt32, sequence: UInt64, registrations: [Registration]) {
      self.pid = pid
      self.generation = generation
      self.sequence = sequence
      self.registrations = registrations
    }
  }
  package init() {}
}

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
