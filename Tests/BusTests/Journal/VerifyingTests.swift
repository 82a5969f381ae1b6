// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Journal

@Suite struct `The journal verifier` {
  private let fixture = JournalFixture()
  private var verifier: JournalVerifier { JournalVerifier(folder: fixture.folder) }

  /// Writes three segments, 1 to 4, 5 to 9 and 10 to 12, and closes the writer.
  private func threeSegments() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 4)
    try fixture.begin(writer)
    try fixture.fill(writer, to: 9)
    try fixture.begin(writer)
    try fixture.fill(writer, to: 12)
  }

  private func append(_ bytes: [UInt8], toSegment index: Int) throws {
    let segment = try fixture.segments[index]
    try fixture.put(try fixture.bytes(segment) + bytes, segment)
  }

  @Test func `an intact journal has no findings`() throws {
    #expect(
      try verifier.verify() == JournalVerifier(folder: URL(filePath: "/nowhere")).verify(),
      "a missing journal has none either")
    try threeSegments()
    let report = try verifier.verify()
    #expect(report.findings.isEmpty)
    #expect(report.segments == 3 && report.envelopes == 12)
    #expect(report.first == 1 && report.last == 12)
    #expect(try verifier.repair().isEmpty)
  }

  @Test func `segments removed at the beginning are not a finding`() throws {
    try threeSegments()
    try FileManager.default.removeItem(at: fixture.folder.appending(path: try fixture.segments[0]))
    let report = try verifier.verify()
    #expect(report.findings.isEmpty)
    #expect(report.first == 5)
  }

  @Test func `a missing segment is reported as a gap`() throws {
    try threeSegments()
    try FileManager.default.removeItem(at: fixture.folder.appending(path: try fixture.segments[1]))
    let report = try verifier.verify()
    #expect(report.findings.map(\.kind) == [.gap])
    let gap = try #require(report.findings.first)
    #expect(gap.sequence == 5)
    #expect(gap.segment == "00000000000000000010.journal")
    #expect(gap.text == "the envelopes 5 to 9: in no segment")
    #expect(report.envelopes == 7)
    #expect(try verifier.repair().isEmpty)
  }

  @Test func `a repeated sequence number is reported with its offset`() throws {
    try threeSegments()
    var again: [UInt8] = []
    SegmentLayout.appendRecord(try fixture.frame(Ping(), 8), to: &again)
    let segment = try fixture.segments[1]
    let offset = try fixture.bytes(segment).count
    try append(again, toSegment: 1)
    let report = try verifier.verify()
    #expect(report.findings.map(\.kind) == [.repeated])
    #expect(report.findings.first?.sequence == 8)
    #expect(report.findings.first?.offset == offset)
    #expect(report.last == 12)
  }

  @Test func `damage within a segment is reported with the unreadable envelopes, and later ones still count`() throws {
    try threeSegments()
    let segment = try fixture.segments[0]
    var bytes = try fixture.bytes(segment)
    let (second, third) = (try fixture.place(of: 2), try fixture.place(of: 3))
    bytes[second + 60] ^= 0xff
    bytes[third + 60] ^= 0xff
    try fixture.put(bytes, segment)
    let report = try verifier.verify()
    #expect(report.findings.map(\.kind) == [.damaged])
    #expect(report.findings.first?.offset == second)
    #expect(report.findings.first?.sequence == 2)
    #expect(report.findings.first?.text.hasSuffix("the envelopes 2 to 3 cannot be read") == true)
    #expect(report.envelopes == 10)
    #expect(try verifier.repair().isEmpty)
    #expect(try fixture.bytes(segment) == bytes, "repair must not change what it cannot restore")
  }

  @Test func `a truncated record before further segments is damage and not a torn end`() throws {
    try threeSegments()
    let segment = try fixture.segments[0]
    try fixture.put(Array(try fixture.bytes(segment).dropLast(3)), segment)
    let report = try verifier.verify()
    #expect(report.findings.map(\.kind) == [.damaged])
    #expect(report.findings.first?.sequence == 4)
    #expect(report.findings.first?.text.hasSuffix("envelope 4 cannot be read") == true)
    #expect(try verifier.repair().isEmpty)
  }

  @Test(arguments: [(byte: 200, count: 6), (byte: 7, count: 1), (byte: 0, count: 4096)])
  func `a torn end is reported, and repair removes it`(byte: UInt8, count: Int) throws {
    try threeSegments()
    let torn = [byte] + [UInt8](repeating: 0, count: count - 1)
    let whole = try fixture.segments.map { try fixture.bytes($0) }
    for index in [0, 2] { try append(torn, toSegment: index) }
    let report = try verifier.verify()
    #expect(report.findings.map(\.kind) == [.tornEnd, .tornEnd])
    #expect(report.findings.map(\.sequence) == [5, 13])
    #expect(report.findings.map(\.offset) == [whole[0].count, whole[2].count])
    #expect(report.envelopes == 12)
    #expect(try verifier.repair() == report.findings)
    #expect(try fixture.segments.map { try fixture.bytes($0) } == whole)
    #expect(try verifier.verify().findings.isEmpty)
    #expect(numbers(try fixture.reader.read()) == Array(1...12))
  }

  @Test func `a record that a running broker is writing is neither reported nor removed`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 3)
    let segment = fixture.folder.appending(path: try fixture.segments[0])
    let file = try FileHandle(forWritingTo: segment)
    try file.seekToEnd()
    try file.write(contentsOf: [200, 0, 0, 0, 1, 2])
    #expect(try verifier.verify().findings.isEmpty)
    #expect(try verifier.repair().isEmpty)
    try fixture.fill(writer, to: 4)
    #expect(try verifier.verify().last == 4)
  }

  @Test func `a leftover segment draft is reported, and repair removes it`() throws {
    try threeSegments()
    try fixture.put(Array("WLJ1".utf8), "00000000000000000013.journal.draft")
    let report = try verifier.verify()
    #expect(report.findings.map(\.kind) == [.draft])
    #expect(try verifier.repair() == report.findings)
    #expect(try fixture.segments.count == 3)
  }

  @Test func `a file that is not a segment is reported`() throws {
    try threeSegments()
    try fixture.put(Array("hello, world, hello".utf8), "00000000000000000005.journal")
    let report = try verifier.verify()
    #expect(report.findings.map(\.kind) == [.notAJournal])
    #expect(report.envelopes == 7)
    #expect(try verifier.repair().isEmpty)
  }

  @Test func `a large damaged area is reported and skipped`() throws {
    try threeSegments()
    let segment = try fixture.segments[2]
    let place = try fixture.bytes(segment).count
    var bytes = [UInt8](repeating: 0xee, count: 5 << 19)
    SegmentLayout.appendRecord(try fixture.frame(Ping(), 14), to: &bytes)
    try append(bytes, toSegment: 2)
    let report = try verifier.verify()
    #expect(report.findings.map(\.kind) == [.damaged])
    #expect(report.findings.first?.offset == place)
    #expect(report.last == 14)
  }
}
