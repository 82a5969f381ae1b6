// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Journal

@Suite struct `Pages of the journal` {
  private let fixture = JournalFixture()
  private var pages: JournalPages { JournalPages(folder: fixture.folder) }

  /// Three segments: 1 to 200, 201 to 500, 501 to 700.
  private func threeSegments() throws -> JournalWriter {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 200)
    try fixture.begin(writer)
    try fixture.fill(writer, to: 500)
    try fixture.begin(writer)
    try fixture.fill(writer, to: 700)
    return writer
  }

  @Test func `any range is read, in one segment and across several`() throws {
    _ = try threeSegments()
    let pages = pages
    #expect(try pages.bounds() == 1...700)
    for range: ClosedRange<UInt64> in [1...1, 1...700, 63...66, 199...202, 200...200, 201...201, 450...650, 700...700] {
      #expect(numbers(try pages.read(range)) == Array(range))
    }
    #expect(numbers(try pages.read(690...900)) == Array(690...700))
    #expect(try pages.read(701...900).isEmpty)
  }

  @Test func `an empty or missing folder has no bounds`() throws {
    #expect(try pages.bounds() == nil)
    #expect(try pages.read(1...10).isEmpty)
  }

  @Test func `what is appended is seen, also after a restart of the broker`() throws {
    let writer = try fixture.begunWriter()
    let pages = pages
    #expect(try pages.bounds() == 1...1)
    for last: UInt64 in [2, 65, 66, 300] {
      try fixture.fill(writer, to: last)
      #expect(try pages.bounds() == 1...last)
      #expect(numbers(try pages.read(1...last)) == Array(1...last))
    }
    let next = try fixture.writer()
    try fixture.begin(next)
    try fixture.fill(next, to: 310)
    #expect(try pages.bounds() == 1...310)
    #expect(numbers(try pages.read(299...303)) == Array(299...303))
  }

  @Test func `a journal that was removed and made again is another one`() throws {
    let writer = try threeSegments()
    let pages = pages
    #expect(try pages.bounds() == 1...700)
    #expect(!pages.isReplaced)
    try FileManager.default.removeItem(at: fixture.folder)
    #expect(!pages.isReplaced, "the folder is missing")
    try fixture.fill(try fixture.begunWriter(), to: 5)
    #expect(pages.isReplaced)
    let next = self.pages
    #expect(try next.bounds() == 1...5)
    #expect(!next.isReplaced)
    // The same first number again.
    try FileManager.default.removeItem(at: fixture.folder)
    try fixture.fill(try fixture.begunWriter(), to: 9)
    #expect(next.isReplaced)
    withExtendedLifetime(writer) {}
  }

  @Test func `a journal whose segments were all removed for their size is the same one`() throws {
    let writer = try threeSegments()
    let pages = pages
    #expect(try pages.bounds() == 1...700)
    try fixture.begin(writer)
    for segment in try fixture.segments.dropLast() {
      try FileManager.default.removeItem(at: fixture.folder.appending(path: segment))
    }
    #expect(!pages.isReplaced)
    #expect(try pages.bounds() == 701...701)
  }

  @Test func `one segment is read from its file, whatever its name`() throws {
    _ = try threeSegments()
    let copy = fixture.folder.appending(path: "copied from CI")
    try FileManager.default.copyItem(at: fixture.folder.appending(path: try fixture.segments[1]), to: copy)
    let pages = JournalPages(folder: copy)
    #expect(try pages.bounds() == 201...500)
    #expect(numbers(try pages.read(1...1000)) == Array(201...500))
    #expect(!pages.isReplaced)
    #expect(numbers(try JournalReader(folder: copy).read()) == Array(201...500))
    let report = try JournalVerifier(folder: copy).verify()
    #expect(report.findings.isEmpty && report.envelopes == 300)
    #expect(JournalReader.isSegment(copy))
    let other = fixture.folder.appending(path: "other")
    try Data("WLJ1 and more than a head".utf8).write(to: other)
    #expect(!JournalReader.isSegment(other))
    #expect(throws: JournalError.self) { try JournalPages(folder: other).bounds() }
  }

  @Test func `a torn end of one segment is repaired in its file`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 9)
    let copy = fixture.folder.appending(path: "copy")
    try Data(try fixture.bytes(try fixture.segments[0]).dropLast()).write(to: copy)
    let verifier = JournalVerifier(folder: copy)
    #expect(try verifier.repair().map(\.kind) == [.tornEnd])
    #expect(try verifier.verify().findings.isEmpty)
    #expect(numbers(try JournalReader(folder: copy).read()) == Array(1...8))
  }

  @Test func `a torn record at the end is left out until it is whole, or a newer segment begins`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 100)
    let name = try fixture.segments[0]
    let whole = try fixture.bytes(name)
    let pages = pages
    try fixture.put(Array(whole.dropLast(3)), name)
    #expect(try pages.bounds() == 1...99)
    try fixture.put(whole, name)
    #expect(try pages.bounds() == 1...100)
    try fixture.put(Array(whole.dropLast(3)), name)
    let other = JournalPages(folder: fixture.folder)
    #expect(try other.bounds() == 1...99)
    let next = try fixture.writer()
    try fixture.begin(next)
    #expect(try other.bounds() == 1...100)
    #expect(numbers(try other.read(98...100)) == [98, 99, 100])
  }

  @Test func `damaged records are left out, and those behind them are read`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 300)
    let name = try fixture.segments[0]
    var bytes = try fixture.bytes(name)
    // The length of record 150, and the body of record 200.
    let length = try fixture.place(of: 150)
    for index in 0..<4 { bytes[length + index] = 0xff }
    bytes[try fixture.place(of: 201) - 1] ^= 0xff
    try fixture.put(bytes, name)
    let pages = pages
    #expect(try pages.bounds() == 1...300)
    let wanted = (UInt64(1)...300).filter { $0 != 150 && $0 != 200 }
    #expect(numbers(try pages.read(1...300)) == wanted)
    for sequence: UInt64 in 148...152 {
      #expect(numbers(try pages.read(sequence...sequence)) == (sequence == 150 ? [] : [sequence]))
    }
  }

  @Test func `removed segments are no longer in the bounds`() throws {
    _ = try threeSegments()
    let pages = pages
    #expect(numbers(try pages.read(10...12)) == [10, 11, 12])
    try FileManager.default.removeItem(at: fixture.folder.appending(path: try fixture.segments[0]))
    #expect(try pages.bounds() == 201...700)
    #expect(numbers(try pages.read(199...202)) == [201, 202])
  }

  @Test func `an envelope is found by its id, and envelopes by their heads`() throws {
    _ = try threeSegments()
    let pages = pages
    let wanted = try #require(try pages.read(123...123).first)
    #expect(try pages.last(wanted.header.id, in: 1...700)?.header.sequence == 123)
    #expect(try pages.last(wanted.header.id, in: 124...700) == nil)
    #expect(numbers(try pages.select(1...700) { $0.hasKind("bus.started") }) == [1, 201, 501])
    #expect(try pages.select(1...700) { $0.hasKind("bus.start") }.isEmpty)
    #expect(numbers(try pages.select(1...700) { $0.id == RecordIdentifier(wanted.header.id) }) == [123])
  }
}
