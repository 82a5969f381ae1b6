import CClock
package import Foundation

/// The name of a kind of envelope: dotted lower-case ASCII, at most 31 bytes: `transfer.create`, `session.events`.
///
/// An answer carries the name of what it answers and a suffix: `/ok`, `/failed` or `/ack`.
package struct Kind: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  package static let maximumLength = 31
  package let name: String

  /// A kind from its name; `nil` when the name does not fit the header's field.
  package init?(_ name: String) {
    guard !name.isEmpty, name.utf8.count <= Kind.maximumLength, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    self.name = name
  }

  /// Reads a kind from the header's field, where NUL follows it; `nil` when there is anything else.
  init?(field bytes: UnsafeBufferPointer<UInt8>) {
    let count = bytes.firstIndex(of: 0) ?? bytes.count
    guard count > 0, bytes[count...].allSatisfy({ $0 == 0 }), bytes[..<count].allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    self.name = String(decoding: bytes[..<count], as: UTF8.self)
  }

  package init(stringLiteral name: String) {
    precondition(name.utf8.count <= Kind.maximumLength, "a kind's name is at most 31 bytes: \(name)")
    self.name = name
  }

  /// What an answer says of the envelope that it answers.
  package enum Answer: String, Sendable, CaseIterable {
    case ok
    case failed
    case acknowledged = "ack"
  }

  /// The kind of an answer to this kind.
  package func answered(_ answer: Answer) -> Kind { Kind(stringLiteral: "\(name)/\(answer.rawValue)") }
  /// The kind that this one answers, or itself.
  package var asked: Kind { Kind(stringLiteral: String(name.prefix { $0 != "/" })) }
  /// What kind of answer this is; `nil` when it is none.
  package var answer: Answer? {
    name.firstIndex(of: "/").flatMap { Answer(rawValue: String(name[name.index(after: $0)...])) }
  }
  package var description: String { name }
}

/// Microseconds since 1970-01-01 00:00:00 UTC.
package struct Timestamp: Hashable, Sendable, Comparable, Codable {
  package let microseconds: Int64

  package init(microseconds: Int64) { self.microseconds = microseconds }
  package init(_ date: Date) { self.microseconds = Int64((date.timeIntervalSince1970 * 1e6).rounded()) }
  /// The machine's time now, also in a process that takes its device's for the time of day.
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

/// All of an envelope but its body: what the broker routes on.
package struct EnvelopeHeader: Hashable, Sendable {
  package var kind: Kind
  /// The broker's number for it, from 1; 0 until the broker has stamped it.
  package var sequence: UInt64 = 0
  package var sentAt: Timestamp
  package var id: UUID
  /// The envelope that this one answers or follows from.
  package var cause: UUID?
  /// One id for a whole story: a session, a push.
  package var correlation: UUID?
  package var source: Address
  package var destination: Address
  /// Which life of the source sent it, stamped by the broker; 0 until then.
  package var sourceGeneration: UInt32 = 0
  /// Which life of the destination it was forwarded to, stamped by the broker; 0 when nobody was there.
  package var destinationGeneration: UInt32 = 0
  /// How often the sender has sent this envelope before.
  package var attempt: UInt16 = 0
  package var bodyLength: Int = 0

  package init(
    kind: Kind, sentAt: Timestamp = .now, id: UUID = UUID(), cause: UUID? = nil, correlation: UUID? = nil,
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
