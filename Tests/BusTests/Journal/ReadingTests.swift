// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Journal

@Suite struct `The journal reader` {
  private let fixture = JournalFixture()

  /// Three segments: 1 to 4, 5 to 9, 10 to 12.
  private func threeSegments() throws -> JournalWriter {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 4)
    try fixture.begin(writer)
    try fixture.fill(writer, to: 9)
    try fixture.begin(writer)
    try fixture.fill(writer, to: 12)
    return writer
  }

  @Test func `a reader starts at a given sequence number`() throws {
    _ = try threeSegments()
    for first: UInt64 in 1...12 {
      #expect(numbers(try fixture.reader.read(from: .sequence(first))) == Array(first...12))
    }
    #expect(try fixture.reader.read(from: .sequence(13)).isEmpty)
    #expect(try fixture.reader.read(from: .end).isEmpty)
  }

  @Test func `a reader starts at a given time`() throws {
    let writer = try fixture.writer()
    for number: UInt64 in 1...9 {
      let frame = try fixture.frame(Ping(), number, sentAt: Timestamp(microseconds: Int64(number) * 1000))
      if number % 3 == 1 { try writer.startSegment(with: frame) } else { try writer.append([frame]) }
    }
    for number: UInt64 in 1...9 {
      let time = Timestamp(microseconds: Int64(number) * 1000 - 500)
      #expect(numbers(try fixture.reader.read(from: .time(time))) == Array(number...9))
    }
    #expect(try fixture.reader.read(from: .time(Timestamp(microseconds: 9001))).isEmpty)
  }

  @Test func `a missing journal folder reads as empty, and a cursor at its end sees the first record`() throws {
    #expect(try fixture.reader.read().isEmpty)
    var cursor = fixture.reader.cursor(from: .end)
    #expect(try cursor.next() == nil)
    _ = try fixture.begunWriter()
    #expect(try cursor.next()?.header.sequence == 1, "the first record of an empty folder is new")
  }

  @Test func `reading across a missing segment fails with a gap`() throws {
    _ = try threeSegments()
    try FileManager.default.removeItem(at: fixture.folder.appending(path: try fixture.segments[1]))
    let error = #expect(throws: JournalError.self) { try fixture.reader.read() }
    #expect(error?.code == .gap)
  }

  @Test func `reading starts at the first existing segment when earlier ones were removed`() throws {
    _ = try threeSegments()
    try FileManager.default.removeItem(at: fixture.folder.appending(path: try fixture.segments[0]))
    #expect(numbers(try fixture.reader.read()) == Array(5...12))
    #expect(numbers(try fixture.reader.read(from: .sequence(2))) == Array(5...12))
  }

  @Test func `a read-only copy of a journal can be read`() throws {
    _ = try threeSegments()
    let copy = JournalFixture()
    try FileManager.default.copyItem(at: fixture.folder, to: copy.folder)
    for segment in try copy.segments {
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o400], ofItemAtPath: copy.folder.appending(path: segment).path)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: copy.folder.path)
    #expect(numbers(try copy.reader.read()) == Array(1...12))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: copy.folder.path)
  }

  @Test func `a cursor returns a record only when it is complete`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 3)
    let segment = try fixture.segments[0]
    let whole = try fixture.bytes(segment)
    try fixture.put(Array(whole.prefix(try fixture.place(of: 3))), segment)
    var cursor = fixture.reader.cursor()
    #expect(try cursor.next()?.header.sequence == 1)
    #expect(try cursor.next()?.header.sequence == 2)
    let file = try FileHandle(forWritingTo: fixture.folder.appending(path: segment))
    try file.seekToEnd()
    for byte in whole.dropFirst(try fixture.place(of: 3)) {
      #expect(try cursor.next() == nil)
      try file.write(contentsOf: [byte])
    }
    #expect(try cursor.next()?.header.sequence == 3)
    #expect(try cursor.next() == nil)
  }

  @Test func `a cursor skips a torn end once the next segment exists`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 3)
    let segment = try fixture.segments[0]
    var cursor = fixture.reader.cursor()
    while try cursor.next() != nil {}
    let file = try FileHandle(forWritingTo: fixture.folder.appending(path: segment))
    try file.seekToEnd()
    try file.write(contentsOf: [200, 0, 0, 0, 1, 2])
    #expect(try cursor.next() == nil)
    try fixture.fill(try fixture.begunWriter(), to: 5)
    #expect(try cursor.next()?.header.sequence == 4)
    #expect(try cursor.next()?.header.sequence == 5)
    #expect(try cursor.next() == nil)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a follower sees every sequence number once across rotations and restarts of the writer`() async throws {
    let total: UInt64 = 1000
    let reader = fixture.reader
    let following = Task {
      var seen: [UInt64] = []
      for try await envelope in reader.follow() {
        seen.append(envelope.header.sequence)
        if envelope.header.sequence >= total { break }
      }
      return seen
    }
    var writer = try fixture.begunWriter(segmentLimit: 20_000)
    while writer.lastSequence < total {
      if writer.isFull { try fixture.begin(writer) }
      if writer.lastSequence % 7 == 0 {
        let torn = try FileHandle(forWritingTo: fixture.folder.appending(path: try fixture.segments.last ?? ""))
        try torn.seekToEnd()
        try torn.write(contentsOf: [250, 0, 0, 0, 9, 9, 9, 9, 1])
        writer = try fixture.begunWriter(segmentLimit: 20_000)
      }
      try fixture.fill(writer, to: writer.lastSequence + 5)
      try Task.checkCancellation()
      await Task.yield()
    }
    let last = writer.lastSequence
    #expect(last >= total)
    #expect(try await following.value == Array(1...total))
  }

  @Test(.timeLimit(.minutes(1))) func `a cancelled follower ends`() async throws {
    try fixture.fill(try fixture.begunWriter(), to: 2)
    let reader = fixture.reader
    let (stream, continuation) = AsyncStream.makeStream(of: UInt64.self)
    let following = Task {
      for try await envelope in reader.follow() { continuation.yield(envelope.header.sequence) }
    }
    for await number in stream where number == 2 { break }
    following.cancel()
    try await following.value
  }
}
