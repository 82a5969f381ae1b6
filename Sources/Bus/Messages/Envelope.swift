// SPDX-License-Identifier: Apache-2.0

import Archive
import CPlatform
package import Foundation

/// The name of a message type: dotted lower-case ASCII, at most 31 bytes: `transfer.create`, `session.events`.
///
/// A reply has the name of the message type that it replies to and a suffix: `/ok`, `/failed` or `/ack`.
package struct Kind: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  package static let maximumLength = 31
  package let name: String

  /// Creates a message type from its name; `nil` when the name does not fit the header's field.
  package init?(_ name: String) {
    guard !name.isEmpty, name.utf8.count <= Kind.maximumLength, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    self.name = name
  }

  /// Reads a message type from the NUL-padded header field; `nil` for other content.
  init?(field bytes: UnsafeBufferPointer<UInt8>) {
    let count = bytes.firstIndex(of: 0) ?? bytes.count
    guard count > 0, bytes[count...].allSatisfy({ $0 == 0 }), bytes[..<count].allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    self.name = String(decoding: bytes[..<count], as: UTF8.self)
  }

  package init(stringLiteral name: String) {
    precondition(name.utf8.count <= Kind.maximumLength, "the name of a message type is at most 31 bytes: \(name)")
    self.name = name
  }

  /// The kind of a reply.
  package enum Answer: String, Sendable, CaseIterable {
    case ok
    case failed
    case acknowledged = "ack"
  }

  /// The message type of a reply to this one.
  package func answered(_ answer: Answer) -> Kind { Kind(stringLiteral: "\(name)/\(answer.rawValue)") }
  /// The message type that this one replies to, or itself.
  package var questionKind: Kind { Kind(stringLiteral: String(name.prefix { $0 != "/" })) }
  /// The kind of reply; `nil` for other messages.
  package var answer: Answer? {
    name.firstIndex(of: "/").flatMap { Answer(rawValue: String(name[name.index(after: $0)...])) }
  }
  package var description: String { name }
}

/// Microseconds since 1970-01-01 00:00:00 UTC.
package struct Timestamp: Hashable, Sendable, Comparable, Codable {
  package let microseconds: Int64

  package init(microseconds: Int64) { self.microseconds = microseconds }
  package init(_ date: Date) { self.microseconds = Int64(saturating: (date.timeIntervalSince1970 * 1e6).rounded()) }
  /// The machine's current time, also in a process whose clock is the device's.
  package static var now: Timestamp { Timestamp(microseconds: machine_time() / 1000) }
  package var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1e6) }
  package static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }
  package init(from decoder: any Decoder) throws {
    self.microseconds = try decoder.singleValueContainer().decode(Int64.self)
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(microseconds)
  }
}

/// An envelope without its body: the data that the broker routes by.
package struct EnvelopeHeader: Hashable, Sendable {
  package var kind: Kind
  /// The sequence number that the broker stamps, from 1; 0 until then.
  package var sequence: UInt64 = 0
  package var sentAt: Timestamp
  package var id: UUID
  /// The causation id: the envelope that this one replies to or follows from.
  package var cause: UUID?
  /// The correlation id: shared by all messages of one operation, such as a session or a push.
  package var correlation: UUID?
  package var source: Address
  package var destination: Address
  /// The generation of the source's process instance, stamped by the broker; 0 until then.
  package var sourceGeneration: UInt32 = 0
  /// The generation of the process instance to which it was forwarded, stamped by the broker; 0 when none was
  /// connected.
  package var destinationGeneration: UInt32 = 0
  /// How often the sender has sent this envelope before.
  package var attempt: UInt16 = 0
  package var bodyLength: Int = 0

  package init(
    kind: Kind, sentAt: Timestamp = .now, id: UUID = .random(), cause: UUID? = nil, correlation: UUID? = nil,
    source: Address, destination: Address, attempt: UInt16 = 0
  ) {
    self.kind = kind
    self.sentAt = sentAt
    self.id = id
    self.cause = cause
    self.correlation = correlation
    self.source = source
    self.destination = destination
    self.attempt = attempt
  }
}

/// One message on the bus: a header and a body of JSON, in one frame.
package struct Envelope: Hashable, Sendable {
  package var header: EnvelopeHeader
  package var body: [UInt8]

  package init(header: EnvelopeHeader, body: [UInt8] = []) {
    self.header = header
    self.body = body
    self.header.bodyLength = body.count
  }
}
