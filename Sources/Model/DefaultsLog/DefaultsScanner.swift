// SPDX-License-Identifier: Apache-2.0

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
