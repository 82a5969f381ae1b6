// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import DefaultsLog

@Suite struct `The log of a domain` {
  private let records: [DefaultsRecord] = [
    .compacted(1 << 40), .value("drinks", [1, 2, 3]), .removal("Größe"), .clear, .value("", []),
    .value("long", [UInt8](repeating: 7, count: 1000)),
  ]

  @Test func `records are read in pieces of any length`() {
    let bytes = records.flatMap(\.bytes)
    for length in [1, 2, 7, 64, bytes.count] {
      var scanner = DefaultsScanner()
      var found: [DefaultsRecord] = []
      for start in stride(from: 0, to: bytes.count, by: length) {
        found += scanner.scan(bytes[start..<min(start + length, bytes.count)])
      }
      #expect(found == records)
      #expect(scanner.skipped == 0)
    }
  }

  @Test func `a part of a record is skipped when another record follows it`() {
    let torn = DefaultsRecord.value("torn", [UInt8](repeating: 9, count: 100)).bytes
    let next = DefaultsRecord.value("next", [1]).bytes
    for length in 0..<torn.count {
      var scanner = DefaultsScanner()
      #expect(scanner.scan(torn[..<length]) == [])
      #expect(scanner.scan(next) == [.value("next", [1])], "after \(length) bytes")
      #expect(scanner.skipped == length)
    }
  }

  @Test func `a record with any changed bit is not read, and the next one is`() {
    let bytes = DefaultsRecord.value("a", [1]).bytes
    let next = DefaultsRecord.removal("b").bytes
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      var scanner = DefaultsScanner()
      #expect(scanner.scan(damaged + next) == [.removal("b")], "bit \(bit)")
    }
  }

  @Test func `the last change of a key counts`() {
    var contents = DefaultsContents()
    for record in [DefaultsRecord.value("a", [1]), .value("b", [2]), .value("a", [3]), .removal("b")] {
      contents.apply(record)
    }
    #expect(contents.values == ["a": [3]])
    contents.apply(.clear)
    #expect(contents.values.isEmpty)
  }
}
