// SPDX-License-Identifier: Apache-2.0

import Messages

/// Where the records of one segment are: a sparse list, made by going from one record's head to the next. Nothing is
/// decoded, and no checksum is computed.
struct SegmentIndex: Sendable {
  /// The place of one record.
  struct Mark: Sendable, Equatable {
    let sequence: UInt64
    let offset: Int
  }

  private static let spacing = 64
  private static let chunk = 1 << 20

  /// Every 64th record, and the first one after a damaged part.
  private(set) var marks: [Mark] = []
  /// The number of the last whole record; the number before the first one in an empty segment.
  private(set) var last: UInt64
  /// The offset after the last whole record.
  private(set) var end = SegmentLayout.headLength
  private var sinceMark = 0

  init(firstSequence: UInt64) { last = firstSequence - 1 }

  /// Continues up to the end of the file.
  mutating func extend(_ file: SegmentFile) throws(JournalError) {
    while true {
      let bytes = try file.read(Self.chunk, at: end)[...]
      let taken = take(bytes)
      if taken > 0 { continue }
      // The rest is torn, being written, or damaged.
      guard !bytes.isEmpty, try skipDamage(file) else { return }
    }
  }

  /// Takes the whole records at the beginning of the bytes.
  ///
  /// - Returns: their length.
  private mutating func take(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { raw in
      var position = 0
      while let head = RecordHead(raw, at: position), head.sequence > last,
        position + head.recordLength <= raw.count
      {
        if sinceMark == 0 || head.sequence != last + 1 {
          marks.append(Mark(sequence: head.sequence, offset: end))
          sinceMark = 0
        }
        sinceMark = (sinceMark + 1) % Self.spacing
        last = head.sequence
        position += head.recordLength
        end += head.recordLength
      }
      return position
    }
  }

  /// Moves the end behind a damaged part.
  ///
  /// - Returns: whether a whole record follows it.
  private mutating func skipDamage(_ file: SegmentFile) throws(JournalError) -> Bool {
    let bytes = try file.read(2 * Self.chunk, at: end)[...]
    guard let next = SegmentLayout.resynchronized(bytes),
      let head = next.withUnsafeBytes({ RecordHead($0, at: 0) }), head.sequence > last
    else { return false }
    end += next.startIndex - bytes.startIndex
    sinceMark = 0
    return true
  }

  /// The last mark at or before a number, and the offset of the mark after it.
  func place(of sequence: UInt64) -> (mark: Mark, end: Int)? {
    var (low, high) = (0, marks.count)
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return marks.first.map { ($0, low + 1 < marks.count ? marks[low + 1].offset : end) } }
    return (marks[low - 1], low < marks.count ? marks[low].offset : end)
  }
}

/// The identifiers of a record, read from its bytes. Valid only within the closure that receives it.
package struct RecordHead {
  private let bytes: UnsafeRawBufferPointer
  let recordLength: Int
  /// The record's number.
  package let sequence: UInt64

  /// Reads a head; nil when the bytes do not have a possible one.
  init?(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    let start = offset + SegmentLayout.recordHeadLength
    guard bytes.count >= start + Wire.headerLength else { return nil }
    let length = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    guard length >= Wire.headerLength, length <= Wire.frameLimit, bytes[start] == Wire.version else { return nil }
    recordLength = SegmentLayout.recordHeadLength + length
    self.bytes = UnsafeRawBufferPointer(rebasing: bytes[start...])
    sequence = UInt64(littleEndian: self.bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
  }

  /// The envelope's id.
  package var id: RecordIdentifier { identifier(at: 48) }
  /// The id of its cause; all zero for none.
  package var cause: RecordIdentifier { identifier(at: 64) }
  /// The correlation id; all zero for none.
  package var correlation: RecordIdentifier { identifier(at: 80) }

  /// Whether the kind has this name, or is a reply to it.
  package func hasKind(_ name: StaticString) -> Bool {
    let count = name.utf8CodeUnitCount
    guard bytes[1..<1 + count].elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: count)) else {
      return false
    }
    return bytes[1 + count] == 0 || bytes[1 + count] == UInt8(ascii: "/")
  }

  private func identifier(at offset: Int) -> RecordIdentifier {
    RecordIdentifier(
      high: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
      low: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
  }
}

/// The 16 bytes of an identifier, which compare faster than a UUID.
package struct RecordIdentifier: Hashable, Sendable {
  let high: UInt64
  let low: UInt64
  /// No identifier.
  package static let none = RecordIdentifier(high: 0, low: 0)
}
