// SPDX-License-Identifier: Apache-2.0

/// One change of a domain of user defaults, as it is written to the domain's log.
///
/// In the log: a mark of three bytes, the version of the format, the length of the content (4 bytes, little endian),
/// its checksum (4 bytes), and the content: the kind of the change, the length of the key (4 bytes), the key in UTF-8,
/// and the value. A record is written with one call of `write`, so that records of several processes do not mix.
package enum DefaultsRecord: Hashable, Sendable {
  /// Sets a key. The value is a binary property list.
  case value(String, [UInt8])
  case removal(String)
  /// Removes all keys.
  case clear
  /// The first record of a compacted log, with the number of bytes of the records that follow.
  case compacted(UInt64)

  /// The first bytes of each record.
  static let mark: [UInt8] = [0xd1, 0x57, 0x44]
  static let version: UInt8 = 1
  /// Mark, version, length and checksum.
  static let headLength = 12
  /// A longer content cannot be in a log: a length above it belongs to no record.
  package static let limit = 64 << 20

  /// The bytes of the record in the log.
  package var bytes: [UInt8] {
    let content = content
    let sum = Self.checksum(content[...])
    return Self.mark + [Self.version] + Self.bytes(of: UInt32(content.count)) + Self.bytes(of: sum) + content
  }

  /// The length of the content without the head, without the cost of making it; at most 16 bytes more than it has.
  package var length: Int {
    switch self {
    case .value(let key, let value): 16 + key.utf8.count + value.count
    case .removal(let key): 16 + key.utf8.count
    case .clear, .compacted: 16
    }
  }

  private var content: [UInt8] {
    switch self {
    case .value(let key, let value): [0] + Self.bytes(of: UInt32(key.utf8.count)) + Array(key.utf8) + value
    case .removal(let key): [1] + Self.bytes(of: UInt32(key.utf8.count)) + Array(key.utf8)
    case .clear: [2] + Self.bytes(of: UInt32(0))
    case .compacted(let live):
      [3] + Self.bytes(of: UInt32(0)) + Self.bytes(of: UInt32(truncatingIfNeeded: live))
        + Self.bytes(of: UInt32(truncatingIfNeeded: live >> 32))
    }
  }

  /// Reads the content of a record, whose checksum is correct; `nil` when it is none.
  init?(content: ArraySlice<UInt8>) {
    let start = content.startIndex
    guard content.count >= 5 else { return nil }
    let keyLength = Int(Self.number(in: content, at: start + 1))
    guard keyLength <= content.count - 5 else { return nil }
    let key = String(decoding: content[start + 5..<start + 5 + keyLength], as: UTF8.self)
    let rest = content[(start + 5 + keyLength)...]
    switch content[start] {
    case 0: self = .value(key, Array(rest))
    case 1: self = .removal(key)
    case 2: self = .clear
    case 3 where rest.count == 8:
      let first = rest.startIndex
      self = .compacted(UInt64(Self.number(in: rest, at: first)) | UInt64(Self.number(in: rest, at: first + 4)) << 32)
    default: return nil
    }
  }

  static func bytes(of number: UInt32) -> [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  static func number(in bytes: ArraySlice<UInt8>, at index: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[index + $1]) << UInt32($1 * 8) }
  }

  /// FNV-1a of 32 bits: the records are short.
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBufferPointer { $0.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 } }
  }
}
