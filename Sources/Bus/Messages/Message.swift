// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A message that can be sent on the bus. Every conforming type must be listed in `MessageTable.all`, or the
/// broker refuses it.
package protocol Message: Codable, Sendable {
  static var kind: Kind { get }

  /// Encodes the body: by `BodyCoding`, without `JSONEncoder` when the message is `DirectJSON`.
  ///
  /// - Throws: `body-too-large`, `malformed-body`.
  func encodedBody() throws(BusError) -> [UInt8]

  /// Decodes a body, as `encodedBody` encodes it.
  ///
  /// - Throws: `malformed-body`.
  static func decoded(from body: [UInt8]) throws(BusError) -> Self
}

// Which of the two is known when a message is compiled. A cast at run time takes 0.05 ms in a process that has just been
// launched.

extension Message {
  package func encodedBody() throws(BusError) -> [UInt8] { try BodyCoding.encode(self) }
  package static func decoded(from body: [UInt8]) throws(BusError) -> Self {
    try BodyCoding.decode(Self.self, from: body)
  }
}

extension Message where Self: DirectJSON {
  package func encodedBody() throws(BusError) -> [UInt8] { try BodyCoding.encode(self) }
  package static func decoded(from body: [UInt8]) throws(BusError) -> Self {
    try BodyCoding.decode(Self.self, from: body)
  }
}

/// Requires a reply by a deadline. A failure states whether the request did not happen (definite) or may have happened
/// (indefinite).
package protocol Request: Message {
  associatedtype Reply: Codable & Sendable

  /// Encodes a reply: by `BodyCoding`, without `JSONEncoder` when the reply is `DirectJSON`.
  ///
  /// - Throws: `body-too-large`, `malformed-body`.
  static func encoded(_ reply: Reply) throws(BusError) -> [UInt8]

  /// Decodes a reply, as `encoded` encodes it.
  ///
  /// - Throws: `malformed-body`.
  static func decodedReply(from body: [UInt8]) throws(BusError) -> Reply
}

extension Request {
  package static func encoded(_ reply: Reply) throws(BusError) -> [UInt8] { try BodyCoding.encode(reply) }
  package static func decodedReply(from body: [UInt8]) throws(BusError) -> Reply {
    try BodyCoding.decode(Reply.self, from: body)
  }
}

extension Request where Reply: DirectJSON {
  package static func encoded(_ reply: Reply) throws(BusError) -> [UInt8] { try BodyCoding.encode(reply) }
  package static func decodedReply(from body: [UInt8]) throws(BusError) -> Reply {
    try BodyCoding.decode(Reply.self, from: body)
  }
}

/// May be lost. Has no reply.
package protocol Notice: Message {
  /// Whether the connection may send it up to 2 ms later, together with others, to save a change of threads for each. It
  /// stays in order with all other messages. For notices of which there are many, and which nothing waits for; not for what
  /// explains a crash that may follow.
  var maySendLater: Bool { get }
}

extension Notice {
  package var maySendLater: Bool { false }
}

/// Is sent again until the receiver acknowledges it, after it has recorded the effect.
package protocol Event: Message {}

/// The empty reply to a request.
package struct Done: Codable, Hashable, Sendable {
  package init() {}
}

/// The delivery style of a message.
package enum MessageStyle: String, Codable, Sendable {
  case request
  case notice
  case event
}

/// The roles that may send a message type to a destination.
package struct Route: Hashable, Sendable {
  package let sources: [Role]
  package let destination: Role

  package init(_ sources: [Role], to destination: Role) {
    self.sources = sources
    self.destination = destination
  }
}

/// One entry of the table.
package struct MessageEntry: Sendable {
  package let kind: Kind
  package let style: MessageStyle
  package let routes: [Route]
  /// The content, in one sentence.
  package let summary: String
  /// What a failure means to the sender.
  package let failure: String

  /// Creates the entry of a request.
  package static func request<R: Request>(
    _: R.Type, _ routes: [Route], summary: String, failure: String
  ) -> MessageEntry {
    MessageEntry(kind: R.kind, style: .request, routes: routes, summary: summary, failure: failure)
  }
  /// Creates the entry of a notice.
  package static func notice<N: Notice>(_: N.Type, _ routes: [Route], summary: String) -> MessageEntry {
    MessageEntry(kind: N.kind, style: .notice, routes: routes, summary: summary, failure: "It is lost.")
  }
  /// Creates the entry of an event.
  package static func event<E: Event>(_: E.Type, _ routes: [Route], summary: String) -> MessageEntry {
    MessageEntry(
      kind: E.kind, style: .event, routes: routes, summary: summary,
      failure: "It is sent again when the destination is connected again.")
  }
}

/// Why a request or an event failed.
package struct BusError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  /// An extensible set of error codes, which are sent on the wire.
  package struct Code: RawRepresentable, Hashable, Sendable, Codable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// No process is connected at the destination. Definite.
    package static let unreachable = Code("unreachable")
    /// The destination's queue is full, or too many messages of the sender wait for the bus. Definite.
    package static let busy = Code("busy")
    /// The broker does not permit this sender to send this to that destination. Definite.
    package static let refused = Code("refused")
    /// The deadline passed before a reply arrived. Indefinite.
    package static let deadline = Code("deadline-exceeded")
    /// This side has left the bus. Indefinite for messages in flight.
    package static let closed = Code("closed")
    /// The body does not match its message type. Definite.
    package static let malformed = Code("malformed-body")
    /// The body is longer than `Wire.bodyLimit`. Definite.
    package static let tooLarge = Code("body-too-large")
    /// The receiver has no handler for this message type. Definite.
    package static let unhandled = Code("unhandled")
    /// The receiver's handler threw an error without a code. Indefinite.
    package static let failed = Code("failed")
  }

  package let code: Code
  /// A description for the user.
  package let message: String
  /// `true`: it did not and will not happen. `false`: it may have happened.
  package let isDefinite: Bool

  package init(_ code: Code, _ message: String, isDefinite: Bool = true) {
    self.code = code
    self.message = message
    self.isDefinite = isDefinite
  }

  package var description: String { "\(code.rawValue): \(message)" }
}

/// The message context: the causation id, which names the envelope that caused this one, and the correlation id of the
/// operation.
package struct MessageContext: Hashable, Sendable {
  package var cause: UUID?
  package var correlation: UUID?

  package init(cause: UUID? = nil, correlation: UUID? = nil) {
    self.cause = cause
    self.correlation = correlation
  }

  /// A message context without ids.
  package static let none = MessageContext()

  /// The correlation id of one background session: the same in every process instance of its owner and of the host, so
  /// that a trace needs only the owner and the identifier.
  package static func correlation(ofSession identifier: String, of owner: Address) -> UUID {
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

/// The encoding of bodies: JSON with sorted keys, dates as seconds since 1970.
package enum BodyCoding {
  /// Encodes a body of at most `Wire.bodyLimit` bytes.
  ///
  /// - Throws: `body-too-large` when it is longer, `malformed-body` when the value cannot be encoded (a `nan`).
  package static func encode<T: Encodable>(_ value: T) throws(BusError) -> [UInt8] {
    try limited(Array(try data(value)))
  }

  /// Encodes a body of at most `Wire.bodyLimit` bytes.
  ///
  /// - Throws: `body-too-large` when it is longer, `malformed-body` when the value cannot be encoded (a `nan`).
  package static func encode<T: DirectJSON>(_ value: T) throws(BusError) -> [UInt8] { try limited(try bytes(value)) }

  private static func limited(_ body: [UInt8]) throws(BusError) -> [UInt8] {
    guard body.count <= Wire.bodyLimit else {
      throw BusError(.tooLarge, "a body of \(body.count) bytes exceeds the limit of \(Wire.bodyLimit)")
    }
    return body
  }

  /// Encodes a value of any length, for a file that an envelope names.
  ///
  /// - Throws: `malformed-body`.
  package static func data<T: Encodable>(_ value: T) throws(BusError) -> Data { try encodedByFoundation(value) }

  /// Encodes a value of any length, for a file that an envelope names.
  ///
  /// - Throws: `malformed-body`.
  package static func data<T: DirectJSON>(_ value: T) throws(BusError) -> Data { Data(try bytes(value)) }

  private static func bytes<T: DirectJSON>(_ value: T) throws(BusError) -> [UInt8] {
    var writer = JSONWriter()
    value.write(to: &writer)
    if let json = writer.json { return json }
    return Array(try encodedByFoundation(value))
  }

  private static func encodedByFoundation<T: Encodable>(_ value: T) throws(BusError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .secondsSince1970
    do {
      return try encoder.encode(value)
    } catch {
      throw BusError(.malformed, "\(T.self) cannot be encoded as JSON: \(error)")
    }
  }

  /// Decodes a body.
  ///
  /// - Throws: `malformed-body` with the decoder's error.
  package static func decode<T: Decodable>(_ type: T.Type, from body: [UInt8]) throws(BusError) -> T {
    try decodedByFoundation(type, from: body)
  }

  /// Decodes a body.
  ///
  /// - Throws: `malformed-body` with the decoder's error.
  package static func decode<T: DirectJSON>(_ type: T.Type, from body: [UInt8]) throws(BusError) -> T {
    do throws(JSONReader.Unusual) {
      return try JSONReader.value(type, from: body)
    } catch {
      return try decodedByFoundation(type, from: body)
    }
  }

  private static func decodedByFoundation<T: Decodable>(_ type: T.Type, from body: [UInt8]) throws(BusError) -> T {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    do {
      return try decoder.decode(type, from: Data(body))
    } catch {
      throw BusError(.malformed, "the body is not a valid \(T.self): \(error)")
    }
  }
}

/// The values of a body, either in the envelope or in a file that it names, one per line. Only one piece of the file is
/// in memory at a time.
package struct BodyValues<Value: DirectJSON & Sendable> {
  private var values: ArraySlice<Value> = []
  private var file: FileHandle?
  private var piece = Data()
  private static var pieceLength: Int { 65_536 }

  package init(_ values: [Value]) { self.values = values[...] }

  /// - Throws: `failed` (indefinite) when the file cannot be opened.
  package init(file path: String) throws(BusError) {
    do {
      file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    } catch {
      throw .unreadable(error)
    }
  }

  /// Returns the next value; `nil` after the last.
  ///
  /// - Throws: `failed` (indefinite) when the file cannot be read, `malformed-body`.
  package mutating func next() throws(BusError) -> Value? {
    guard file != nil else { return values.popFirst() }
    while true {
      if let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
        defer { piece = piece[(end + 1)...] }
        return try BodyCoding.decode(Value.self, from: Array(piece[..<end]))
      }
      guard let more = try read() else {
        guard piece.isEmpty else { throw BusError(.malformed, "the body file ends in the middle of a line") }
        return nil
      }
      piece = piece + more
    }
  }

  private func read() throws(BusError) -> Data? {
    do {
      let data = try file?.read(upToCount: Self.pieceLength)
      return data?.isEmpty == false ? data : nil
    } catch {
      throw .unreadable(error)
    }
  }

  /// Returns the remaining values.
  package mutating func all() throws(BusError) -> [Value] {
    var all: [Value] = []
    while let value = try next() { all.append(value) }
    return all
  }
}

extension BodyCoding {
  /// Encodes values one per line, for a file that `BodyValues` reads.
  ///
  /// - Throws: `malformed-body`.
  package static func lines(_ values: [some DirectJSON]) throws(BusError) -> Data {
    var lines = Data()
    for value in values {
      lines += try data(value)
      lines.append(UInt8(ascii: "\n"))
    }
    return lines
  }
}

extension BusError {
  fileprivate static func unreadable(_ error: any Error) -> BusError {
    BusError(.failed, "the body file cannot be read: \(error)", isDefinite: false)
  }
}
