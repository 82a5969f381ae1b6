package import Foundation

/// One thing that can be said on the bus. Every conforming type stands in `ConversationTable.all`, or nobody may say it.
package protocol Conversation: Codable, Sendable {
  static var kind: Kind { get }
}

/// Needs a reply by a deadline. A failure says whether the request did not happen (definite) or may have (indefinite).
package protocol Request: Conversation {
  associatedtype Reply: Codable & Sendable
}

/// May be lost. Nobody answers it.
package protocol Notice: Conversation {}

/// Is sent again until the receiver has acknowledged it, which it does after it has recorded the effect.
package protocol Event: Conversation {}

/// The reply of a request that has nothing to say but that it was done.
package struct Done: Codable, Hashable, Sendable {
  package init() {}
}

/// How a conversation goes.
package enum ConversationStyle: String, Codable, Sendable {
  case request
  case notice
  case event
}

/// Who may say a kind to whom.
package struct Route: Hashable, Sendable {
  package let sources: [Role]
  package let destination: Role

  package init(_ sources: [Role], to destination: Role) {
    self.sources = sources
    self.destination = destination
  }
}

/// One line of the table.
package struct ConversationEntry: Sendable {
  package let kind: Kind
  package let style: ConversationStyle
  package let routes: [Route]
  /// What it says, in a sentence.
  package let summary: String
  /// What a failure of it means to the sender.
  package let failure: String

  /// A request's line.
  package static func request<R: Request>(
    _: R.Type, _ routes: [Route], _ summary: String, failure: String
  ) -> ConversationEntry {
    ConversationEntry(kind: R.kind, style: .request, routes: routes, summary: summary, failure: failure)
  }
  /// A notice's line.
  package static func notice<N: Notice>(_: N.Type, _ routes: [Route], _ summary: String) -> ConversationEntry {
    ConversationEntry(kind: N.kind, style: .notice, routes: routes, summary: summary, failure: "It is lost.")
  }
  /// An event's line.
  package static func event<E: Event>(_: E.Type, _ routes: [Route], _ summary: String) -> ConversationEntry {
    ConversationEntry(
      kind: E.kind, style: .event, routes: routes, summary: summary,
      failure: "It is sent again when the destination is there again.")
  }
}

/// Why a request or an event came to nothing.
package struct BusError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The open set of reasons; a code travels on the wire.
  package struct Code: RawRepresentable, Hashable, Sendable, Codable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// Nobody is connected at the destination. Definite.
    package static let unreachable = Code("unreachable")
    /// The destination's queue is full. Definite.
    package static let busy = Code("busy")
    /// The broker does not let this sender say this to that destination. Definite.
    package static let refused = Code("refused")
    /// The deadline passed before an answer came. Indefinite.
    package static let deadline = Code("deadline-exceeded")
    /// This side has left the bus. Indefinite for what was under way.
    package static let closed = Code("closed")
    /// The body does not have the shape of its kind. Definite.
    package static let malformed = Code("malformed-body")
    /// The body is longer than `Wire.bodyLimit`. Definite.
    package static let tooLarge = Code("body-too-large")
    /// The receiver has no handler for this kind. Definite.
    package static let unhandled = Code("unhandled")
    /// The receiver's work failed with an error that has no code of its own. Indefinite.
    package static let failed = Code("failed")
  }

  package let code: Code
  /// What happened, for a person.
  package let message: String
  /// `true`: it did not and will not happen. `false`: it may have.
  package let isDefinite: Bool

  package init(_ code: Code, _ message: String, isDefinite: Bool = true) {
    self.code = code
    self.message = message
    self.isDefinite = isDefinite
  }

  package var description: String { "\(code.rawValue): \(message)" }
}

/// What an envelope belongs to: the envelope that it follows from, and the story.
package struct Story: Hashable, Sendable {
  package var cause: UUID?
  package var correlation: UUID?

  package init(cause: UUID? = nil, correlation: UUID? = nil) {
    self.cause = cause
    self.correlation = correlation
  }

  /// A story of its own.
  package static let none = Story()

  /// The story of one background session: the same id in every life of its owner and of the host, so that a trace
  /// needs nothing but the owner and the identifier.
  package static func session(_ owner: Address, _ identifier: String) -> UUID {
    var hash: (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x9ae1_6a3b_2f90_404f)
    for byte in "\(owner.text)\u{0}\(identifier)".utf8 {
      hash.0 = (hash.0 ^ UInt64(byte)) &* 0x100_0000_01b3
      hash.1 = (hash.1 ^ UInt64(byte)) &* 0xff51_afd7_ed55_8ccd
      hash.1 ^= hash.1 >> 29
    }
    var bytes: [UInt8] = []
    for word in [hash.0, hash.1] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    bytes[6] = (bytes[6] & 0x0f) | 0x80  // version 8: ours (RFC 9562, section 5.8)
    bytes[8] = (bytes[8] & 0x3f) | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
