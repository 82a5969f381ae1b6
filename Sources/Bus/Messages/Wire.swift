// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

/// The layout of version 1 of the wire, in bytes. All integers are little-endian.
///
///     offset size
///          0    1  version, 1
///          1   31  kind, ASCII, padded with NUL: "\u{1}transfer." is a prefix that a subscription can filter by
///         32    8  sequence, stamped by the broker
///         40    8  sent at, microseconds since 1970
///         48   16  id
///         64   16  cause, all zero for none
///         80   16  correlation, all zero for none
///         96    4  source generation, stamped by the broker
///        100    4  destination generation, stamped by the broker
///        104    2  length of the source address
///        106    2  length of the destination address
///        108    4  length of the body
///        112    2  attempt
///        114    6  zero
///        120       source address, destination address, body
package enum Wire {
  package static let version: UInt8 = 1
  package static let headerLength = 120
  /// A longer body is written to a file in the device's folder, and the envelope names the file.
  package static let bodyLimit = 256 * 1024
  /// The longest frame of version 1.
  package static let frameLimit = headerLength + 2 * 255 + bodyLimit

  static let sequenceOffset = 32
  static let sourceGenerationOffset = 96
  static let destinationGenerationOffset = 100
  /// The length of the destination address follows.
  static let sourceLengthOffset = 104
  static let bodyLengthOffset = 108
  static let reservedOffset = 114
  static let kindLength = 31
}

/// Why a frame is malformed.
package struct WireError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The reason, as recorded in the journal.
  package enum Code: String, Codable, Sendable {
    case tooShort = "too-short"
    case unknownVersion = "unknown-version"
    case malformedKind = "malformed-kind"
    case malformedAddress = "malformed-address"
    case lengthMismatch = "length-mismatch"
    case bodyTooLong = "body-too-long"
    case reservedNotZero = "reserved-not-zero"
  }
  package let code: Code
  package init(_ code: Code) { self.code = code }
  package var description: String { "not an envelope of version 1: \(code.rawValue)" }
}

extension Envelope {
  /// Encodes the envelope as one frame.
  ///
  /// - Throws: `bodyTooLong` when the body exceeds `Wire.bodyLimit`: the sender must write it to a file and name the
  ///   file.
  package func encoded() throws(WireError) -> [UInt8] {
    guard body.count <= Wire.bodyLimit else { throw WireError(.bodyTooLong) }
    let source = Array(header.source.text.utf8)
    let destination = Array(header.destination.text.utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Wire.headerLength + source.count + destination.count + body.count)
    bytes.append(Wire.version)
    let kind = Array(header.kind.name.utf8)
    bytes.append(contentsOf: kind)
    bytes.append(contentsOf: repeatElement(0, count: Wire.kindLength - kind.count))
    bytes.appendInteger(header.sequence)
    bytes.appendInteger(header.sentAt.microseconds)
    bytes.appendIdentifier(header.id)
    bytes.appendIdentifier(header.cause)
    bytes.appendIdentifier(header.correlation)
    bytes.appendInteger(header.sourceGeneration)
    bytes.appendInteger(header.destinationGeneration)
    bytes.appendInteger(UInt16(source.count))
    bytes.appendInteger(UInt16(destination.count))
    bytes.appendInteger(UInt32(body.count))
    bytes.appendInteger(header.attempt)
    bytes.append(contentsOf: repeatElement(0, count: 6))
    bytes.append(contentsOf: source)
    bytes.append(contentsOf: destination)
    bytes.append(contentsOf: body)
    return bytes
  }

  /// Decodes one frame. Total: any bytes yield an envelope or an error.
  package init(decoding bytes: [UInt8]) throws(WireError) {
    let header = try EnvelopeHeader(decoding: bytes)
    self.init(header: header, body: Array(bytes.suffix(header.bodyLength)))
  }
}

extension EnvelopeHeader {
  /// Decodes the header of one frame and checks that the frame has exactly the stated length. The body is not decoded.
  ///
  /// - Parameter source: the most likely source; a match is decoded faster.
  package init(decoding bytes: [UInt8], expecting source: Address? = nil) throws(WireError) {
    // `withUnsafeBufferPointer` does not propagate typed throws from a throwing closure; a Result does.
    self = try bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(WireError) -> EnvelopeHeader in try EnvelopeHeader(decoding: bytes, source) }
    }.get()
  }

  private init(decoding bytes: UnsafeBufferPointer<UInt8>, _ likelySource: Address?) throws(WireError) {
    guard bytes.count >= Wire.headerLength else { throw WireError(.tooShort) }
    guard bytes[0] == Wire.version else { throw WireError(.unknownVersion) }
    guard bytes[Wire.reservedOffset..<Wire.headerLength].allSatisfy({ $0 == 0 }) else {
      throw WireError(.reservedNotZero)
    }
    guard let kind = Kind(field: bytes.part(1, Wire.kindLength)) else { throw WireError(.malformedKind) }
    let sourceLength = Int(bytes.integer(at: Wire.sourceLengthOffset, UInt16.self))
    let destinationLength = Int(bytes.integer(at: Wire.sourceLengthOffset + 2, UInt16.self))
    let bodyLength = Int(bytes.integer(at: Wire.bodyLengthOffset, UInt32.self))
    guard bodyLength <= Wire.bodyLimit else { throw WireError(.bodyTooLong) }
    guard bytes.count == Wire.headerLength + sourceLength + destinationLength + bodyLength else {
      throw WireError(.lengthMismatch)
    }
    guard let source = Address(bytes.part(Wire.headerLength, sourceLength), expected: likelySource),
      let destination = Address(bytes.part(Wire.headerLength + sourceLength, destinationLength), expected: nil)
    else { throw WireError(.malformedAddress) }
    self.init(
      kind: kind, sentAt: Timestamp(microseconds: bytes.integer(at: 40, Int64.self)),
      id: bytes.identifier(at: 48), cause: bytes.optionalIdentifier(at: 64),
      correlation: bytes.optionalIdentifier(at: 80), source: source, destination: destination,
      attempt: bytes.integer(at: 112, UInt16.self))
    self.sequence = bytes.integer(at: Wire.sequenceOffset, UInt64.self)
    self.sourceGeneration = bytes.integer(at: Wire.sourceGenerationOffset, UInt32.self)
    self.destinationGeneration = bytes.integer(at: Wire.destinationGenerationOffset, UInt32.self)
    self.bodyLength = bodyLength
  }

  /// Writes the fields that only the broker sets into a frame that was decoded before.
  package static func stamp(
    _ frame: UnsafeMutableRawBufferPointer, sequence: UInt64, sourceGeneration: UInt32, destinationGeneration: UInt32
  ) {
    frame.setInteger(sequence, at: Wire.sequenceOffset)
    frame.setInteger(sourceGeneration, at: Wire.sourceGenerationOffset)
    frame.setInteger(destinationGeneration, at: Wire.destinationGenerationOffset)
  }

  /// Writes the fields that only the broker sets into a frame that was decoded before.
  package static func stamp(
    _ frame: inout [UInt8], sequence: UInt64, sourceGeneration: UInt32, destinationGeneration: UInt32
  ) {
    frame.withUnsafeMutableBytes {
      stamp(
        $0, sequence: sequence, sourceGeneration: sourceGeneration, destinationGeneration: destinationGeneration)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func appendInteger<T: FixedWidthInteger>(_ value: T) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func appendIdentifier(_ id: UUID?) {
    if let id {
      Swift.withUnsafeBytes(of: id.uuid) { append(contentsOf: $0) }
    } else {
      append(contentsOf: repeatElement(0, count: 16))
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  fileprivate func setInteger<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
  }
}

/// Unchecked reads; the caller has checked the bounds.
extension UnsafeBufferPointer<UInt8> {
  fileprivate func part(_ offset: Int, _ count: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: self[offset..<offset + count])
  }

  fileprivate func integer<T: FixedWidthInteger>(at offset: Int, _: T.Type) -> T {
    T(littleEndian: UnsafeRawBufferPointer(self).loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  fileprivate func identifier(at offset: Int) -> UUID {
    UUID(uuid: UnsafeRawBufferPointer(self).loadUnaligned(fromByteOffset: offset, as: uuid_t.self))
  }

  fileprivate func optionalIdentifier(at offset: Int) -> UUID? {
    self[offset..<offset + 16].allSatisfy { $0 == 0 } ? nil : identifier(at: offset)
  }
}

/// The bytes of an envelope that decide whether it may be forwarded, and where: its version, kind and addresses.
///
/// A receiver that knows them need not decode the next envelope that has the same ones.
package struct RouteBytes: Sendable {
  /// A frame up to its body.
  private let head: [UInt8]

  /// Copies the bytes of a frame that was decoded before.
  package init(of frame: UnsafeRawBufferPointer) { head = Array(frame[..<frame.headLength]) }

  /// Whether a frame is an envelope with the same kind and addresses: all that decoding would check is checked.
  package func matches(_ frame: UnsafeRawBufferPointer) -> Bool {
    head.withUnsafeBytes { head in
      guard frame.count >= head.count, head.isEqual(to: frame, from: 0, count: Wire.sequenceOffset),
        head.isEqual(to: frame, from: Wire.sourceLengthOffset, count: 4),
        head.isEqual(to: frame, from: Wire.headerLength, count: head.count - Wire.headerLength)
      else { return false }
      let bodyLength = Int(frame.number(at: Wire.bodyLengthOffset, UInt32.self))
      return bodyLength <= Wire.bodyLimit && frame.count == head.count + bodyLength
        && frame.number(at: Wire.reservedOffset, UInt32.self) == 0
        && frame.number(at: Wire.reservedOffset + 4, UInt16.self) == 0
    }
  }

  /// A hash of these bytes, which is the same in all processes; nil when a frame is too short for them.
  package static func hash(of frame: UnsafeRawBufferPointer) -> UInt64? {
    guard frame.count >= Wire.headerLength, frame.headLength <= frame.count else { return nil }
    var hash: UInt64 = 0
    for offset in stride(from: 0, to: Wire.sequenceOffset, by: 8) {
      hash.mix(frame.number(at: offset, UInt64.self))
    }
    let end = frame.headLength
    for offset in stride(from: Wire.headerLength, to: end - 7, by: 8) {
      hash.mix(frame.number(at: offset, UInt64.self))
    }
    // The last word overlaps the one before, or the header.
    hash.mix(frame.number(at: end - 8, UInt64.self))
    return hash
  }
}

extension UInt64 {
  fileprivate mutating func mix(_ word: UInt64) {
    self = (self ^ word) &* 0x9e37_79b9_7f4a_7c15
    self ^= self >> 29
  }
}

/// Unchecked reads; the caller has checked the bounds.
extension UnsafeRawBufferPointer {
  fileprivate func number<T: FixedWidthInteger>(at offset: Int, _: T.Type) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  fileprivate func isEqual(to other: UnsafeRawBufferPointer, from offset: Int, count: Int) -> Bool {
    guard let start = baseAddress, let otherStart = other.baseAddress else { return false }
    return memcmp(start + offset, otherStart + offset, count) == 0
  }

  /// The length of the frame without its body, as its header states it.
  fileprivate var headLength: Int {
    Wire.headerLength + Int(number(at: Wire.sourceLengthOffset, UInt16.self))
      + Int(number(at: Wire.sourceLengthOffset + 2, UInt16.self))
  }
}

extension UUID {
  /// A new version 4 UUID (RFC 9562, section 5.4). Foundation's own opens, reads and closes `/dev/urandom` for each one.
  package static func random() -> UUID {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    guard getentropy(&bytes, MemoryLayout.size(ofValue: bytes)) == 0 else { return UUID() }
    bytes.6 = bytes.6 & 0x0f | 0x40
    bytes.8 = bytes.8 & 0x3f | 0x80
    return UUID(uuid: bytes)
  }

  /// `uuidString` in lower case. Foundation's own uses a format string, which is slow.
  package var text: String { String(unsafeUninitializedCapacity: 36) { write(to: $0, UInt8(ascii: "a")) } }

  /// `uuidString`, without the format string.
  package var upperCaseText: String { String(unsafeUninitializedCapacity: 36) { write(to: $0, UInt8(ascii: "A")) } }

  private func write(to text: UnsafeMutableBufferPointer<UInt8>, _ ten: UInt8) -> Int {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : ten - 10 + value }
    var place = 0
    withUnsafeBytes(of: uuid) { bytes in
      for (index, byte) in bytes.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          text[place] = UInt8(ascii: "-")
          place += 1
        }
        text[place] = digit(byte >> 4)
        text[place + 1] = digit(byte & 0xf)
        place += 2
      }
    }
    return place
  }
}
