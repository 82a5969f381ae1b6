// SPDX-License-Identifier: Apache-2.0

import Foundation

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
