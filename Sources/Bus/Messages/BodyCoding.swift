// SPDX-License-Identifier: Apache-2.0

package import Foundation

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
