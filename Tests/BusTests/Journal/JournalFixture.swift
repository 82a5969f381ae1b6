// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

@testable import Journal

/// A temporary folder for one test, and frames stamped as by a broker.
final class JournalFixture {
  let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: folder) }

  var reader: JournalReader { JournalReader(folder: folder) }

  func writer(segmentLimit: Int = JournalWriter.defaultSegmentLimit) throws -> JournalWriter {
    try JournalWriter(folder: folder, segmentLimit: segmentLimit)
  }

  /// A writer that has started a segment, as a broker does.
  func begunWriter(
    segmentLimit: Int = JournalWriter.defaultSegmentLimit, knowing registrations: [Registration] = []
  ) throws -> JournalWriter {
    let writer = try writer(segmentLimit: segmentLimit)
    try begin(writer, knowing: registrations)
    return writer
  }

  func begin(_ writer: JournalWriter, knowing registrations: [Registration] = []) throws {
    let isFirst = writer.lastSequence == writer.recovered.lastSequence
    let started = BusStarted(
      pid: 1, generation: writer.recovered.busGeneration + 1, registrations: registrations,
      lostFrom: isFirst ? writer.recovered.lostFrom : nil)
    try writer.startSegment(with: try frame(started, writer.lastSequence + 1))
  }

  /// Appends pings until this is the journal's last sequence number.
  func fill(_ writer: JournalWriter, to last: UInt64) throws {
    try writer.append(try (writer.lastSequence + 1...last).map { try frame(Ping(), $0) })
  }

  func frame<T: Message>(_ value: T, _ sequence: UInt64, sentAt: Timestamp = .now) throws -> [UInt8] {
    let header = EnvelopeHeader(kind: T.kind, sentAt: sentAt, source: .messageBus, destination: .journal)
    var frame = try Envelope(header: header, body: try BodyCoding.encode(value)).encoded()
    EnvelopeHeader.stamp(&frame, sequence: sequence, sourceGeneration: 1, destinationGeneration: 0)
    return frame
  }

  var segments: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  func bytes(_ segment: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: segment))) }

  func put(_ bytes: [UInt8], _ segment: String) throws {
    try Data(bytes).write(to: folder.appending(path: segment))
  }

  /// The offset of a record in a segment that starts with sequence number 1.
  func place(of sequence: UInt64) throws -> Int {
    var offset = SegmentLayout.headLength
    let bytes = try bytes(try segments[0])
    for _ in 1..<sequence {
      guard case .record(let frame) = SegmentLayout.record(in: bytes[offset...]) else { break }
      offset += SegmentLayout.recordHeadLength + frame.count
    }
    return offset
  }
}

func numbers(_ envelopes: [Envelope]) -> [UInt64] { envelopes.map(\.header.sequence) }
