// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Messages

// The two coders of bodies, side by side.

/// By `JSONEncoder`, as `BodyCoding` uses it.
func encoded(_ value: some Encodable) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  encoder.dateEncodingStrategy = .secondsSince1970
  return Array(try encoder.encode(value))
}

/// By `JSONDecoder`, as `BodyCoding` uses it.
func decoded<Value: Decodable>(_: Value.Type, from bytes: [UInt8]) throws -> Value {
  let decoder = JSONDecoder()
  decoder.dateDecodingStrategy = .secondsSince1970
  return try decoder.decode(Value.self, from: Data(bytes))
}

/// By `JSONWriter`; `nil` when it leaves the value to `JSONEncoder`.
func written(_ value: some DirectJSON) -> [UInt8]? {
  var writer = JSONWriter()
  value.write(to: &writer)
  return writer.json
}
