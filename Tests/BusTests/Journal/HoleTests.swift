// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Journal

@Suite struct `A power failure within a batch of the journal` {
  private let fixture = JournalFixture()

  /// Writes a batch of 2 to 4, and one of 5 to 60, of which the disk has all but the beginning.
  ///
  /// - Parameters:
  ///   - filling: what the disk has there.
  ///   - skipping: the bytes of the second batch before that.
  private func lose(_ filling: UInt8 = 0, skipping: Int = 0) throws -> Int {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 4)
    try fixture.fill(writer, to: 60)
    let begin = try fixture.place(of: 5)
    let segment = try fixture.segments[0]
    var bytes = try fixture.bytes(segment)
    for index in begin + skipping..<(begin / 512 + 3) * 512 { bytes[index] = filling }
    try fixture.put(bytes, segment)
    return begin
  }

  private func open(isSynchronized: Bool = true) throws -> JournalWriter {
    let writer = try JournalWriter(folder: fixture.folder, isSynchronized: isSynchronized)
    try fixture.begin(writer)
    try fixture.fill(writer, to: writer.lastSequence + 1)
    return writer
  }

  @Test(arguments: [0, 20]) func `leaves a journal that ends before the batch, and can be read`(skipping: Int) throws {
    let begin = try lose(skipping: skipping)
    #expect(try JournalVerifier(folder: fixture.folder).verify().findings.count == 1)
    #expect(try open().lastSequence == 6)
    let report = try JournalVerifier(folder: fixture.folder).verify()
    #expect(report.findings.isEmpty && report.last == 6)
    #expect(try fixture.bytes(try fixture.segments[0]).count == begin)
  }

  @Test func `keeps what follows when batches did not wait for the disk, because it may have been forwarded`() throws {
    _ = try lose()
    #expect(try open(isSynchronized: false).lastSequence == 62)
    #expect(try JournalVerifier(folder: fixture.folder).verify().findings.map(\.kind) == [.damaged])
  }

  @Test func `differs from a damaged file, which keeps what follows`() throws {
    _ = try lose(7)
    #expect(try open().lastSequence == 62)
    #expect(try JournalVerifier(folder: fixture.folder).verify().findings.map(\.kind) == [.damaged])
  }
}
