// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

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

/// Reads the records of a log from its bytes, in pieces of any length.
///
/// A writer that is killed leaves a part of a record, behind which others append theirs. The scanner skips it. A record
/// at the end that is not complete may still be in progress: it is read again with the next piece.
package struct DefaultsScanner: Sendable {
  /// The bytes that follow the last record.
  private var pending: [UInt8] = []
  /// The number of bytes that belong to no record and were skipped.
  package private(set) var skipped = 0

  package init() {}

  /// Adds the next bytes of the log.
  ///
  /// - Returns: the records that are complete now, in order.
  package mutating func scan(_ bytes: some Collection<UInt8>) -> [DefaultsRecord] {
    pending += bytes
    var records: [DefaultsRecord] = []
    var position = 0
    while let (record, start, end) = Self.first(in: pending, from: position) {
      records.append(record)
      skipped += start - position
      position = end
    }
    // What cannot become a record is dropped, so that it is not read again.
    let rest = Self.possibleStart(in: pending, from: position)
    skipped += rest - position
    pending.removeFirst(rest)
    return records
  }

  /// The first complete record at or after a position.
  private static func first(in bytes: [UInt8], from position: Int) -> (DefaultsRecord, start: Int, end: Int)? {
    var start = position
    while start + DefaultsRecord.headLength <= bytes.count {
      if let end = end(ofRecordAt: start, in: bytes), end <= bytes.count {
        let content = bytes[(start + DefaultsRecord.headLength)..<end]
        let sum = DefaultsRecord.number(in: bytes[...], at: start + 8)
        if DefaultsRecord.checksum(content) == sum, let record = DefaultsRecord(content: content) {
          return (record, start, end)
        }
      }
      start += 1
    }
    return nil
  }

  /// The first position where a record may begin that is not complete; the end without one.
  private static func possibleStart(in bytes: [UInt8], from position: Int) -> Int {
    (position..<bytes.count).first { start in
      guard start + DefaultsRecord.headLength <= bytes.count else {
        let mark = DefaultsRecord.mark + [DefaultsRecord.version]
        return zip(bytes[start...], mark).allSatisfy(==)
      }
      return end(ofRecordAt: start, in: bytes).map { $0 > bytes.count } ?? false
    } ?? bytes.count
  }

  /// The end of a record according to its head; `nil` where no record begins.
  private static func end(ofRecordAt start: Int, in bytes: [UInt8]) -> Int? {
    guard bytes[start] == DefaultsRecord.mark[0], bytes[start + 1] == DefaultsRecord.mark[1],
      bytes[start + 2] == DefaultsRecord.mark[2], bytes[start + 3] == DefaultsRecord.version
    else { return nil }
    let length = Int(DefaultsRecord.number(in: bytes[...], at: start + 4))
    return length <= DefaultsRecord.limit ? start + DefaultsRecord.headLength + length : nil
  }
}

/// The values of a domain after the records that were applied.
package struct DefaultsContents: Hashable, Sendable {
  /// Binary property lists by key.
  package private(set) var values: [String: [UInt8]] = [:]

  package init() {}

  package mutating func apply(_ record: DefaultsRecord) {
    switch record {
    case .value(let key, let value): values[key] = value
    case .removal(let key): values[key] = nil
    case .clear: values = [:]
    case .compacted: break
    }
  }
}

extension DefaultsValue {
  /// Reads a binary property list; `nil` when it is none.
  package init?(propertyList bytes: [UInt8]) {
    guard let list = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil),
      let value = DefaultsValue(list)
    else { return nil }
    self = value
  }

  private init?(_ value: Any) {
    // Foundation decodes true and false as Bool, and all other numbers as NSNumber.
    if type(of: value) == Bool.self, let value = value as? Bool {
      self = .bool(value)
      return
    }
    switch value {
    case let value as NSNumber where ["f", "d"].contains(String(cString: value.objCType)):
      self = .real(value.doubleValue)
    case let value as NSNumber: self = .integer(value.int64Value)
    case let value as String: self = .string(value)
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as [Any]: self = .array(value.compactMap { DefaultsValue($0) })
    case let value as [String: Any]: self = .dictionary(value.compactMapValues { DefaultsValue($0) })
    default: return nil
    }
  }

  /// The value as a binary property list.
  ///
  /// - Throws: an error of `PropertyListSerialization`.
  package func propertyList() throws -> [UInt8] {
    Array(try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0))
  }

  private var object: Any {
    switch self {
    case .string(let value): NSString(string: value)
    case .integer(let value): NSNumber(value: value)
    case .real(let value): NSNumber(value: value)
    case .bool(let value): NSNumber(value: value)
    case .date(let value): NSDate(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate)
    case .data(let value): NSData(data: value)
    case .array(let values): values.map(\.object)._bridgeToObjectiveC()
    case .dictionary(let values): values.mapValues(\.object)._bridgeToObjectiveC()
    }
  }
}
