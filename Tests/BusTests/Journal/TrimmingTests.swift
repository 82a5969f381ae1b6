// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Journal

@Suite struct `A journal with a size limit` {
  private let fixture = JournalFixture()

  private func writer(limit: Int) throws -> JournalWriter {
    let writer = try JournalWriter(folder: fixture.folder, segmentLimit: limit, limit: limit)
    try fixture.begin(writer)
    return writer
  }

  /// Starts a new segment and trims the journal, as a broker does when a segment is full.
  private func rotate(_ writer: JournalWriter) throws -> JournalTrimmed? {
    try fixture.begin(writer)
    guard let excess = try writer.excess() else { return nil }
    try writer.append([try fixture.frame(excess, writer.lastSequence + 1)])
    try writer.remove(excess)
    return excess
  }

  private func size() throws -> Int { try fixture.segments.reduce(0) { $0 + (try fixture.bytes($1).count) } }

  @Test func `a journal over its limit removes its oldest segments and records which`() throws {
    let limit = 40_000
    let writer = try writer(limit: limit)
    var removed: [JournalTrimmed] = []
    while removed.count < 5 {
      if writer.isFull, let trimmed = try rotate(writer) { removed.append(trimmed) }
      try fixture.fill(writer, to: writer.lastSequence + 3)
      #expect(try size() < limit + 2000, "only one batch may exceed the limit")
    }
    #expect(removed.first?.firstSequence == 1)
    for (one, next) in zip(removed, removed.dropFirst()) {
      #expect(next.firstSequence == one.lastSequence + 1)
      #expect(next.segments > 0 && next.bytes > 0)
    }
    let first = try #require(removed.last).lastSequence + 1
    #expect(numbers(try fixture.reader.read()) == Array(first...writer.lastSequence))
    let output = try fixture.reader.read().last { $0.header.kind == JournalTrimmed.kind }
    #expect(try output.map { try BodyCoding.decode(JournalTrimmed.self, from: $0.body) } == removed.last)
    let report = try JournalVerifier(folder: fixture.folder).verify()
    #expect(report.findings.isEmpty && report.first == first)
    #expect(try JournalRecovery.read(folder: fixture.folder).lastSequence == writer.lastSequence)
  }

  @Test func `the two newest segments are kept even over the limit`() throws {
    let writer = try writer(limit: 4000)
    try fixture.fill(writer, to: 200)
    #expect(try rotate(writer) == nil)
    try fixture.fill(writer, to: 400)
    let second = try #require(try fixture.segments.last)
    #expect(try rotate(writer)?.lastSequence == 200)
    #expect(try fixture.segments.count == 2 && fixture.segments.first == second)
  }

  @Test func `a journal below its limit is not trimmed`() throws {
    let writer = try writer(limit: 1 << 20)
    for _ in 0..<20 { #expect(try rotate(writer) == nil) }
    #expect(try fixture.segments.count == 21)
  }

  @Test func `the number of small segments from a crash loop is bounded`() throws {
    let limit = 16 << 20
    let writer = try writer(limit: limit)
    for _ in 0..<1100 { try fixture.begin(writer) }
    let trimmed = try #require(try rotate(writer))
    #expect(trimmed.segments > 1100 - 1024)
    #expect(try fixture.segments.count < 1024)
    #expect(try size() < 1 << 20)
    let first = try #require(try fixture.reader.read().first?.header.sequence)
    #expect(first > 1)
  }

  @Test func `a new writer removes an unfinished segment draft`() throws {
    try fixture.fill(try fixture.begunWriter(), to: 3)
    try fixture.put([1, 2, 3], "00000000000000000004.journal.draft")
    _ = try fixture.writer()
    #expect(try fixture.segments.count == 1)
  }

  @Test func `a reader within a removed segment reads it to its end`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 4)
    var cursor = fixture.reader.cursor()
    #expect(try cursor.next()?.header.sequence == 1)
    try fixture.begin(writer)
    try fixture.fill(writer, to: 8)
    try writer.remove(JournalTrimmed(firstSequence: 1, lastSequence: 4, segments: 1, bytes: 0))
    var seen: [UInt64] = []
    while let envelope = try cursor.next() { seen.append(envelope.header.sequence) }
    #expect(seen == [2, 3, 4, 5, 6, 7, 8])
  }

  @Test func `a reader that is too far behind fails with the removed sequence numbers`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 4)
    var cursor = fixture.reader.cursor()
    #expect(try cursor.next()?.header.sequence == 1)
    for last: UInt64 in [8, 12] {
      try fixture.begin(writer)
      try fixture.fill(writer, to: last)
    }
    try writer.remove(JournalTrimmed(firstSequence: 1, lastSequence: 8, segments: 2, bytes: 0))
    for _ in 2...4 { _ = try cursor.next() }
    let error = #expect(throws: JournalError.self) { try cursor.next() }
    #expect(error?.code == .trimmed)
    #expect(error?.message.contains("5 to 8") == true)
    #expect(numbers(try fixture.reader.read(from: .sequence(5))) == [9, 10, 11, 12])
  }
}
