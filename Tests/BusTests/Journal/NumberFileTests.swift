// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Journal

/// The journal's end is lost, and the file of the numbers is not.
@Suite struct `Numbers that are given once` {
  private let fixture = JournalFixture()
  private var path: String { fixture.folder.path + "-numbers" }

  private func writer(isSynchronized: Bool = false) throws -> JournalWriter {
    try JournalWriter(folder: fixture.folder, isSynchronized: isSynchronized, numbers: path)
  }

  /// Writes 9 envelopes, up to generation 7, and ends as a killed broker does.
  private func write(isSynchronized: Bool = false) throws {
    let writer = try writer(isSynchronized: isSynchronized)
    try fixture.begin(writer)
    try fixture.fill(writer, to: 5)
    for number: UInt64 in 6...9 {
      try fixture.frame(Ping(), number).withUnsafeBytes { writer.add($0) }
      try writer.append(givingUpTo: UInt32(number) - 2)
    }
  }

  /// Replaces the identifier of the start of the machine.
  private func restartMachine() throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    for index in 24..<40 where bytes[24..<40].contains(where: { $0 != 0 }) { bytes[index] ^= 0x55 }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  private func expectContinued(_ writer: JournalWriter) throws {
    #expect(writer.recovered.lostFrom == nil)
    #expect(writer.recovered.lastSequence == 9 && writer.recovered.busGeneration == 1)
    #expect(writer.recovered.droppedGeneration == 0)
  }

  @Test func `a broker that was killed loses nothing, so the next one continues without a gap`() throws {
    defer { unlink(path) }
    try write()
    try expectContinued(try writer())
  }

  @Test(arguments: [nil, 1, 4, 8] as [UInt64?])
  func `after the loss of the journal's end no number and no generation is given again`(kept: UInt64?) throws {
    defer { unlink(path) }
    try write()
    let segment = try fixture.segments[0]
    if let kept {
      let length = try fixture.place(of: kept + 1)
      try fixture.put(Array(try fixture.bytes(segment).prefix(length)), segment)
    } else {
      try FileManager.default.removeItem(at: fixture.folder)
    }
    // A broker that ends before it wrote anything does not hide the loss.
    _ = try writer()
    let next = try writer()
    #expect(next.recovered.lostFrom == (kept ?? 0) + 1)
    #expect(next.recovered.lastSequence >= 9)
    #expect(next.recovered.busGeneration >= 7 && next.recovered.droppedGeneration >= 7)
    try fixture.begin(next)
    let first = next.lastSequence
    try fixture.fill(next, to: first + 2)
    #expect(numbers(try fixture.reader.read()) == Array(1..<(kept ?? 0) + 1) + [first, first + 1, first + 2])
    let findings = try JournalVerifier(folder: fixture.folder).verify().findings
    #expect(findings.map(\.kind) == (kept == nil ? [] : [.lost]))
    #expect(findings.allSatisfy { $0.sequence == (kept ?? 0) + 1 && !$0.kind.isRepairable })
    #expect(try writer().recovered.lostFrom == nil, "the loss is recorded")
  }

  @Test func `a generation is reserved before it is given, also far above the first reservation`() throws {
    defer { unlink(path) }
    let writer = try writer()
    try fixture.begin(writer)
    try fixture.frame(Ping(), 2).withUnsafeBytes { writer.add($0) }
    try writer.append(givingUpTo: 12_345)
    try FileManager.default.removeItem(at: fixture.folder)
    #expect(try self.writer().recovered.droppedGeneration >= 12_345)
  }

  @Test func `after a restart of the machine a journal that may have lost its end counts as one that has`() throws {
    defer { unlink(path) }
    try write()
    try restartMachine()
    let next = try writer()
    #expect(next.recovered.lostFrom == 10 && next.recovered.lastSequence > 9)
  }

  @Test(arguments: [false, true])
  func `a journal whose end is on the disk continues after a restart of the machine`(isSynchronized: Bool) throws {
    defer { unlink(path) }
    try write(isSynchronized: isSynchronized)
    if !isSynchronized {
      let last = try writer()
      try last.close()
    }
    try restartMachine()
    try expectContinued(try writer())
  }

  @Test func `a journal of an earlier version, which has no such file, continues`() throws {
    defer { unlink(path) }
    try write()
    unlink(path)
    try expectContinued(try writer())
    try Data().write(to: URL(fileURLWithPath: path))
    try expectContinued(try writer())
  }

  @Test(arguments: [[], [0, 0, 0], [UInt8](repeating: 0, count: 16), Array("hello, world, hello".utf8)])
  func `a file without the head of a segment is set aside, and what is readable stays`(content: [UInt8]) throws {
    defer { unlink(path) }
    try write()
    let name = SegmentLayout.name(firstSequence: 10)
    try fixture.put(content, name)
    #expect(
      try JournalVerifier(folder: fixture.folder).verify().findings.map(\.kind)
        == [content.isEmpty ? .empty : .notAJournal])
    let next = try writer()
    #expect(next.setAside.map { URL(fileURLWithPath: $0).lastPathComponent } == [name + ".damaged"])
    try expectContinued(next)
    try fixture.begin(next)
    #expect(numbers(try fixture.reader.read()) == Array(1...10))
  }

  @Test func `an empty file is removed by a repair`() throws {
    try write()
    unlink(path)
    let name = SegmentLayout.name(firstSequence: 10)
    try fixture.put([], name)
    #expect(try JournalVerifier(folder: fixture.folder).repair().map(\.segment) == [name])
    #expect(try !fixture.segments.contains(name))
    #expect(try JournalVerifier(folder: fixture.folder).verify().findings.isEmpty)
  }

  @Test func `a gap that no broker has reported is still an error`() throws {
    defer { unlink(path) }
    try write()
    let writer = try writer()
    try fixture.begin(writer)
    let segment = try fixture.segments[0]
    try fixture.put(Array(try fixture.bytes(segment).prefix(try fixture.place(of: 7))), segment)
    #expect(throws: JournalError.self) { try fixture.reader.read() }
  }
}
