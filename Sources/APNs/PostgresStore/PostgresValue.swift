// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A parameter of a statement, in PostgreSQL's binary format. The statement declares the type with a cast.
enum PostgresValue {
  case int64(Int64)
  case double(Double)
  case text(String)
  case int64s([Int64])
  case int16s([Int16])
  case doubles([Double?])
  case texts([String?])
  case uuids([UUID])
  case bools([Bool])

  /// Returns the bytes on the wire.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .int64(let value): bytes.append(bigEndian: value)
    case .double(let value): bytes.append(bigEndian: value.bitPattern)
    case .text(let value): bytes.append(contentsOf: Self.permitted(value))
    case .int64s(let values):
      Self.array(of: 20, values.count, size: 8, &bytes) { index, bytes in
        bytes.append(bigEndian: Int32(8))
        bytes.append(bigEndian: values[index])
      }
    case .int16s(let values):
      Self.array(of: 21, values.count, size: 2, &bytes) { index, bytes in
        bytes.append(bigEndian: Int32(2))
        bytes.append(bigEndian: values[index])
      }
    case .doubles(let values):
      Self.array(of: 701, values.count, size: 8, &bytes) { index, bytes in
        guard let value = values[index] else { return bytes.append(bigEndian: Int32(-1)) }
        bytes.append(bigEndian: Int32(8))
        bytes.append(bigEndian: value.bitPattern)
      }
    case .texts(let values):
      Self.array(of: 25, values.count, size: 32, &bytes) { index, bytes in
        guard let value = values[index] else { return bytes.append(bigEndian: Int32(-1)) }
        let text = Self.permitted(value)
        bytes.append(bigEndian: Int32(text.count))
        bytes.append(contentsOf: text)
      }
    case .uuids(let values):
      Self.array(of: 2950, values.count, size: 16, &bytes) { index, bytes in
        bytes.append(bigEndian: Int32(16))
        withUnsafeBytes(of: values[index].uuid) { bytes.append(contentsOf: $0) }
      }
    case .bools(let values):
      Self.array(of: 16, values.count, size: 1, &bytes) { index, bytes in
        bytes.append(bigEndian: Int32(1))
        bytes.append(values[index] ? 1 : 0)
      }
    }
    return bytes
  }

  /// A text without the character NUL, which PostgreSQL does not store: it becomes U+FFFD.
  private static func permitted(_ text: String) -> String.UTF8View {
    text.utf8.contains(0) ? text.replacing("\0", with: "\u{fffd}").utf8 : text.utf8
  }

  /// Appends an array of one dimension, with the object identifier of its elements' type.
  private static func array(
    of type: Int32, _ count: Int, size: Int, _ bytes: inout [UInt8], _ element: (Int, inout [UInt8]) -> Void
  ) {
    bytes.reserveCapacity(20 + count * (size + 4))
    bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
    bytes.append(bigEndian: Int32(1))
    bytes.append(bigEndian: type)
    guard count > 0 else { return }
    bytes.append(bigEndian: Int32(count))
    bytes.append(bigEndian: Int32(1))
    for index in 0..<count { element(index, &bytes) }
  }
}

extension [UInt8] {
  mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
