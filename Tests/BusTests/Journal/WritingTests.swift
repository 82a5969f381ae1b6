// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Journal

@Suite struct `The journal writer` {
  private let fixture = JournalFixture()

  @Test func `appended records are read back in order`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 5)
    let read = try fixture.reader.read()
    #expect(numbers(read) == [1, 2, 3, 4, 5])
    #expect(read.map(\.header.kind) == [BusStarted.kind] + Array(repeating: Ping.kind, count: 4))
    #expect(try fixture.segments == ["00000000000000000001.journal"])
  }

  @Test func `a segment has the documented layout`() throws {
    let frame = try fixture.frame(BusStarted(pid: 1, generation: 1, registrations: []), 1)
    try fixture.writer().startSegment(with: frame)
    let bytes = try fixture.bytes(try fixture.segments[0])
    #expect(Array(bytes.prefix(16)) == Array("WLJ1".utf8) + [1, 0, 0, 0] + [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(bytes[16] == UInt8(frame.count & 0xff))
    #expect(Array(bytes.dropFirst(24)) == frame)
  }

  @Test func `the record checksum is zlib's CRC-32`() {
    #expect(SegmentLayout.checksum(Array("123456789".utf8)[...]) == 0xcbf4_3926)
  }

  @Test func `the record checksum matches a bitwise computation at every length`() {
    let bytes = (0..<400).map { UInt8(truncatingIfNeeded: $0 * 197 + $0 / 7) }
    for count in bytes.indices {
      let slow = bytes[..<count].reduce(~UInt32(0)) { sum, byte in
        (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
      }
      #expect(SegmentLayout.checksum(bytes[..<count]) == ~slow, "\(count) bytes")
    }
  }

  @Test func `a full segment is followed by another segment`() throws {
    let writer = try fixture.begunWriter(segmentLimit: 1000)
    while !writer.isFull { try fixture.fill(writer, to: writer.lastSequence + 1) }
    let last = writer.lastSequence
    try fixture.begin(writer)
    try fixture.fill(writer, to: last + 3)
    #expect(!writer.isFull)
    #expect(try fixture.segments.count == 2)
    #expect(numbers(try fixture.reader.read()) == Array(1...last + 3))
  }

  @Test func `a new writer continues with the next sequence number`() throws {
    try fixture.fill(try fixture.begunWriter(), to: 4)
    let writer = try fixture.begunWriter()
    #expect(writer.recovered.lastSequence == 4)
    #expect(writer.recovered.busGeneration == 1)
    try fixture.fill(writer, to: 7)
    #expect(numbers(try fixture.reader.read()) == Array(1...7))
  }

  @Test func `the sequence number of a torn record is used again in the next segment`() throws {
    try fixture.fill(try fixture.begunWriter(), to: 4)
    let segment = try fixture.segments[0]
    let whole = try fixture.bytes(segment)
    for cut in [1, 7, 100, whole.count - (try fixture.place(of: 4))] {
      try fixture.put(whole.dropLast(cut), segment)
      #expect(try fixture.writer().recovered.lastSequence == 3)
      #expect(numbers(try fixture.reader.read()) == [1, 2, 3])
    }
    try fixture.put(whole.dropLast(3), segment)
    try fixture.fill(try fixture.begunWriter(), to: 6)
    #expect(numbers(try fixture.reader.read()) == [1, 2, 3, 4, 5, 6])
  }

  @Test func `zeros at the end of a segment are a torn end`() throws {
    try fixture.fill(try fixture.begunWriter(), to: 3)
    let segment = try fixture.segments[0]
    try fixture.put(try fixture.bytes(segment) + [UInt8](repeating: 0, count: 4096), segment)
    #expect(numbers(try fixture.reader.read()) == [1, 2, 3])
    #expect(try fixture.begunWriter().lastSequence == 4)
    #expect(numbers(try fixture.reader.read()) == [1, 2, 3, 4])
  }

  @Test func `damage within a segment fails reading, and no sequence number is used again`() throws {
    try fixture.fill(try fixture.begunWriter(), to: 6)
    let segment = try fixture.segments[0]
    let whole = try fixture.bytes(segment)
    let place = try fixture.place(of: 3)
    for offset in [0, 4, 60] {
      var damaged = whole
      damaged[place + offset] ^= 0xff
      try fixture.put(damaged, segment)
      #expect(try fixture.writer().recovered.lastSequence == 6)
      let error = #expect(throws: JournalError.self) { try fixture.reader.read() }
      #expect(error?.code == .damaged)
      var cursor = fixture.reader.cursor()
      _ = try cursor.next()
      #expect(try cursor.next()?.header.sequence == 2)
      #expect(throws: JournalError.self) { try cursor.next() }
    }
  }

  @Test func `a full disk leaves the journal at its last complete record, and writing can continue`() throws {
    let writer = try fixture.begunWriter()
    try fixture.fill(writer, to: 3)
    let length = try fixture.bytes(try fixture.segments[0]).count
    let disk = writer.write
    writer.write = { file, bytes, offset throws(JournalError) in
      try file.write(Array(bytes.prefix(100)), at: offset)
      throw JournalError(.notWritable, path: file.path, message: "No space left on device")
    }
    let error = #expect(throws: JournalError.self) { try fixture.fill(writer, to: 9) }
    #expect(error?.code == .notWritable)
    writer.write = disk
    #expect(writer.lastSequence == 3)
    #expect(try fixture.bytes(try fixture.segments[0]).count == length)
    try fixture.fill(writer, to: 5)
    #expect(numbers(try fixture.reader.read()) == [1, 2, 3, 4, 5])
  }

  @Test func `a write that the kernel refuses fails with the kernel's reason`() throws {
    let full = try SegmentFile.empty("/dev/full")
    let error = #expect(throws: JournalError.self) { try full.write([1, 2, 3], at: 0) }
    #expect(error?.message.contains("No space left") == true)
  }

  @Test func `a writer fails when its folder cannot be created`() {
    let error = #expect(throws: JournalError.self) {
      try JournalWriter(folder: URL(filePath: "/proc/self/journal"))
    }
    #expect(error?.code == .notWritable)
  }
}

@Suite struct `Journal recovery` {
  private let fixture = JournalFixture()
  private let address = Address.widgetExtension("iphone", "com.example.W")

  @Test func `recovered registrations are those of the last start with all later changes`() throws {
    let host = Registration(address: .host("iphone"), generation: 3, incarnation: UUID(), isConnected: true)
    let writer = try fixture.begunWriter(knowing: [host])
    var life = Registration(address: address, generation: 1, publicKey: "first")
    try writer.append([try fixture.frame(RegistrationChanged(.registered, life), 2)])
    life = Registration(address: address, generation: 2, publicKey: "second", isConnected: true)
    try writer.append([try fixture.frame(RegistrationChanged(.registered, life), 3)])
    let recovered = try JournalRecovery.read(folder: fixture.folder)
    #expect(recovered.registrations[.host("iphone")]?.generation == 3)
    #expect(recovered.registrations[address]?.generation == 2)
    #expect(recovered.registrations.values.allSatisfy { !$0.isConnected })
    #expect(recovered.formerKeys == ["first"])
  }

  @Test func `recovery needs only the last segment`() throws {
    try fixture.fill(try fixture.begunWriter(), to: 5)
    let life = Registration(address: address, generation: 7, publicKey: "key")
    _ = try fixture.begunWriter(knowing: [life])
    try FileManager.default.removeItem(at: fixture.folder.appending(path: try fixture.segments[0]))
    let recovered = try JournalRecovery.read(folder: fixture.folder)
    #expect(recovered.lastSequence == 6)
    #expect(recovered.busGeneration == 2)
    #expect(recovered.registrations == [address: life])
  }

  @Test func `recovery from an empty folder is empty`() throws {
    #expect(try JournalRecovery.read(folder: fixture.folder) == JournalRecovery())
  }
}
