// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The encoding of bodies: JSON with sorted keys, dates as seconds since 1970.
package enum BodyCoding {
  /// Encodes a body of at most `Wire.bodyLimit` bytes.
  ///
  /// - Throws: `body-too-large` when it is longer, `malformed-body` when the value cannot be encoded (a `nan`).
  package static func encode<T: Encodable>(_ value: T) throws(BusError) -> [UInt8] {
    let data = try data(value)
    guard data.count <= Wire.bodyLimit else {
      throw BusError(.tooLarge, "a body of \(data.count) bytes exceeds the limit of \(Wire.bodyLimit)")
    }
    return Array(data)
  }

  /// Encodes a value of any length, for a file that an envelope names.
  ///
  /// - Throws: `malformed-body`.
  package static func data<T: Encodable>(_ value: T) throws(BusError) -> Data {
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
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    do {
      return try decoder.decode(type, from: Data(body))
    } catch {
      throw BusError(.malformed, "the body is not a valid \(T.self): \(error)")
    }
  }
}
