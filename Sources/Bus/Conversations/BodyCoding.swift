package import Foundation

/// How bodies are written: JSON with sorted keys, dates as seconds since 1970.
package enum BodyCoding {
  /// A body of at most `Wire.bodyLimit` bytes.
  ///
  /// - Throws: `body-too-large` when it is longer, `malformed-body` when the value cannot be written at all (a `nan`).
  package static func encode<T: Encodable>(_ value: T) throws(BusError) -> [UInt8] {
    let data = try data(value)
    guard data.count <= Wire.bodyLimit else {
      throw BusError(.tooLarge, "a body of \(data.count) bytes is over the limit of \(Wire.bodyLimit)")
    }
    return Array(data)
  }

  /// The same of any length, for a file that an envelope names.
  ///
  /// - Throws: `malformed-body`.
  package static func data<T: Encodable>(_ value: T) throws(BusError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .secondsSince1970
    do {
      return try encoder.encode(value)
    } catch {
      throw BusError(.malformed, "\(T.self) cannot be written as JSON: \(error)")
    }
  }

  /// Reads a body.
  ///
  /// - Throws: `malformed-body` with what the decoder missed.
  package static func decode<T: Decodable>(_ type: T.Type, from body: [UInt8]) throws(BusError) -> T {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    do {
      return try decoder.decode(type, from: Data(body))
    } catch {
      throw BusError(.malformed, "the body is no \(T.self): \(error)")
    }
  }
}
