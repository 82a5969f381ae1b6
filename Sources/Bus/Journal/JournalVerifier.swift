// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc
package import Messages

/// Checks the integrity of a journal, and repairs what a killed broker can leave behind. A reader reports the first
/// damage that it encounters; this reports all.
package struct JournalVerifier: Sendable {
  /// A defect of the journal.
  package struct Finding: Hashable, Sendable, Codable {
    package enum Kind: String, Sendable, Codable {
      /// Numbers that no segment contains.
      case gap
      /// The end of the journal, which a power failure has taken. The broker has reported it.
      case lost
      /// A number that occurred before.
      case repeated
      /// Corrupted bytes followed by valid ones.
      case damaged
      /// An incomplete record at the end of a segment, left by a killed broker. Readers skip it. Repairable.
      case tornEnd = "torn-end"
      /// A segment whose broker ended before it wrote the first record. Readers ignore it. Repairable.
      case draft
      /// A file named like a segment without content, left by a power failure. Repairable.
      case empty
      /// A file named like a segment that lacks the segment head.
      case notAJournal = "not-a-journal"

      /// Whether `repair` removes it. Nothing that ever was in the journal is lost by that.
      package var isRepairable: Bool { self == .tornEnd || self == .draft || self == .empty }
    }

    package let kind: Kind
    /// The file name.
    package let segment: String
    /// The offset in the file, in bytes.
    package let offset: Int
    /// The first number concerned: missing, repeated, or unreadable.
    package let sequence: UInt64
    /// A description for the user.
    package let text: String
  }

  /// The content of a journal and its defects.
  package struct Report: Hashable, Sendable, Codable {
    package fileprivate(set) var segments = 0
    /// How many envelopes can be read.
    package fileprivate(set) var envelopes = 0
    /// The lowest number; nil for an empty journal. Above 1 when the oldest segments were removed.
    package fileprivate(set) var first: UInt64?
    /// The highest number; nil for an empty journal.
    package fileprivate(set) var last: UInt64?
    /// In file order.
    package fileprivate(set) var findings: [Finding] = []
  }

  private let folder: SegmentFolder

  /// Creates a verifier of a folder, which a broker may be writing to, or of the file of one segment.
  package init(folder: URL) { self.folder = SegmentFolder(folder) }

  /// Reads all segments. It never writes, so a read-only or copied folder is sufficient; the record that a running
  /// broker is just writing is not a finding.
  ///
  /// - Throws: `notReadable`.
  package func verify() throws(JournalError) -> Report {
    let segments = try folder.segments()
    var pass = Pass()
    for (index, segment) in segments.enumerated() {
      let file: SegmentFile?
      do {
        file = try folder.open(segment)
      } catch {
        guard error.code == .notAJournal else { throw error }
        pass.foundNoJournal(segment, error, isEmpty: folder.length(ofSegment: segment) == 0)
        continue
      }
      guard let file else {
        // The broker has removed the oldest segments in the meantime.
        pass.expected = nil
        continue
      }
      let following = segments.indices.contains(index + 1) ? segments[index + 1] : nil
      try pass.walk(file, segment, following: following)
    }
    for draft in try folder.drafts() {
      guard try !folder.isBeingWritten(draft) else { continue }
      pass.found(.draft, in: draft, at: 0, sequence: pass.expected ?? 1, text: "a segment without a first record")
    }
    return pass.report
  }

  /// Truncates torn ends, and removes drafts and empty files. Files that a running broker is writing are not touched.
  /// Other findings are not repaired either: their readable part stays readable, and the rest cannot be restored.
  ///
  /// - Returns: the findings that were repaired.
  /// - Throws: `notReadable`, `notWritable`; repairs made before the error stay.
  @discardableResult
  package func repair() throws(JournalError) -> [Finding] {
    var mended: [Finding] = []
    for finding in try verify().findings where finding.kind.isRepairable {
      let path = folder.path(ofName: finding.segment)
      guard let file = try SegmentFile.writable(path), file.lock() else { continue }
      if finding.kind != .tornEnd {
        guard unlink(path) == 0 else { throw .last(.notWritable, path: path, call: "unlink") }
      } else {
        guard ftruncate(file.descriptor, off_t(finding.offset)) == 0 else {
          throw .last(.notWritable, path: path, call: "ftruncate")
        }
      }
      mended.append(finding)
    }
    return mended
  }
}

/// One pass over all segments.
private struct Pass {
  var report = JournalVerifier.Report()
  /// The next number; nil when the preceding ones are unknown.
  var expected: UInt64?

  mutating func found(
    _ kind: JournalVerifier.Finding.Kind, in segment: String, at offset: Int, sequence: UInt64, text: String
  ) {
    report.findings.append(
      JournalVerifier.Finding(kind: kind, segment: segment, offset: offset, sequence: sequence, text: text))
  }

  mutating func foundNoJournal(_ segment: UInt64, _ error: JournalError, isEmpty: Bool) {
    report.segments += 1
    let text = isEmpty ? "a segment without content" : error.message
    found(
      isEmpty ? .empty : .notAJournal, in: SegmentLayout.name(firstSequence: segment), at: 0, sequence: segment,
      text: text)
    expected = nil
  }

  mutating func walk(_ file: SegmentFile, _ segment: UInt64, following: UInt64?) throws(JournalError) {
    let name = SegmentLayout.name(firstSequence: segment)
    report.segments += 1
    if expected == nil { expected = segment }
    var walk = SegmentWalk(file)
    var damage: (offset: Int, text: String)?
    while let step = try walk.next() {
      switch step {
      case .record(let frame, let offset):
        do {
          let sequence = try EnvelopeHeader(decoding: frame).sequence
          if damage == nil, sequence > expected ?? sequence { skipLoss(frame, in: name, at: offset) }
          count(sequence, in: name, at: offset, after: damage)
          damage = nil
        } catch {
          damage = damage ?? (offset, "a record that is \(error)")
        }
      case .unreadable(let offset, let length):
        damage = damage ?? (offset, "\(length) bytes are corrupted")
      case .torn(let offset, let length):
        let next = expected ?? segment
        guard damage == nil, following.map({ $0 == next }) ?? true else {
          damage = damage ?? (offset, "\(length) bytes at the end are corrupted")
          break
        }
        guard following != nil || !file.isBeingWritten else { break }
        found(
          .tornEnd, in: name, at: offset, sequence: next, text: "\(length) bytes at the end are an incomplete record")
      }
    }
    guard let damage else { return }
    let next = expected ?? segment
    let lost = following.map { $0 > next ? ": \(numbers(next, $0 - 1)) cannot be read" : "" } ?? ""
    found(.damaged, in: name, at: damage.offset, sequence: next, text: damage.text + lost)
    expected = following.map { max($0, next) } ?? next
  }

  /// The broker that wrote this record has reported that the numbers before it were lost.
  private mutating func skipLoss(_ frame: [UInt8], in segment: String, at offset: Int) {
    guard let envelope = try? Envelope(decoding: frame), let next = expected, let lost = envelope.lostFrom, lost <= next
    else { return }
    let text =
      "the end of the journal before this segment, from envelope \(next) on, was lost; the numbers are not used again"
    found(.lost, in: segment, at: offset, sequence: next, text: text)
    expected = envelope.header.sequence
  }

  private mutating func count(
    _ sequence: UInt64, in segment: String, at offset: Int, after damage: (offset: Int, text: String)?
  ) {
    let next = expected ?? sequence
    if let damage {
      let lost = sequence > next ? ": \(numbers(next, sequence - 1)) cannot be read" : ""
      found(.damaged, in: segment, at: damage.offset, sequence: next, text: damage.text + lost)
    } else if sequence > next {
      found(.gap, in: segment, at: offset, sequence: next, text: "\(numbers(next, sequence - 1)): in no segment")
    }
    if sequence < next {
      found(.repeated, in: segment, at: offset, sequence: sequence, text: "envelope \(sequence) follows \(next - 1)")
    }
    report.envelopes += 1
    report.first = min(report.first ?? sequence, sequence)
    report.last = max(report.last ?? sequence, sequence)
    expected = max(next, sequence + 1)
  }

  private func numbers(_ first: UInt64, _ last: UInt64) -> String {
    first == last ? "envelope \(first)" : "the envelopes \(first) to \(last)"
  }
}

/// The state that a new broker restores from the journal of its predecessors.
package struct JournalRecovery: Hashable, Sendable {
  /// The highest number that may have been given; 0 for a new journal.
  package var lastSequence: UInt64 = 0
  /// The generation of the last broker; 0 when there was none.
  package var busGeneration: UInt32 = 0
  /// The registration of each address. None is connected, since the broker has ended.
  package var registrations: [Address: Registration] = [:]
  /// Standing keys that were registered over the bus, by public key.
  package var standingKeys: [String: StandingKeyFacts] = [:]
  /// Rejected keys, in the order of their rejection: revoked ones, and those of process instances that a later instance
  /// of the same address replaced.
  package var formerKeys: [String] = []

  /// The highest generation of a registration that is not known any more: a broker has dropped it, or it was lost.
  package var droppedGeneration: UInt32 = 0
  /// The first number that was lost with the end of the journal; nil when nothing was lost.
  package var lostFrom: UInt64?
  /// The highest generation of any address, the bus included.
  package var highestGeneration: UInt32 {
    registrations.values.reduce(max(busGeneration, droppedGeneration)) { max($0, $1.generation) }
  }

  package init() {}

  /// Reads the last segment that begins with `bus.started`, and everything after it. Unreadable records are skipped:
  /// the broker must start nevertheless, and readers report the damage.
  ///
  /// - Throws: `notReadable`, `notAJournal`.
  package static func read(folder: URL) throws(JournalError) -> JournalRecovery {
    let folder = SegmentFolder(folder)
    let segments = try folder.segments()
    var begin = segments.startIndex
    for index in segments.indices.reversed() {
      begin = index
      if try folder.firstEnvelope(ofSegment: segments[index])?.header.kind == BusStarted.kind { break }
    }
    var recovery = JournalRecovery()
    for segment in segments[begin...] {
      recovery.lastSequence = max(recovery.lastSequence, segment - 1)
      try folder.forEachReadable(inSegment: segment) { recovery.apply($0) }
    }
    for address in recovery.registrations.keys { recovery.registrations[address]?.isConnected = false }
    return recovery
  }

  /// The end of the journal is lost: continues with numbers and generations above all that may have been given.
  mutating func lost(sequence: UInt64, generation: UInt32) {
    lostFrom = lastSequence + 1
    lastSequence = max(lastSequence, sequence)
    busGeneration = max(busGeneration, generation)
    droppedGeneration = max(droppedGeneration, generation)
  }

  /// Applies one record.
  package mutating func apply(_ envelope: Envelope) {
    lastSequence = max(lastSequence, envelope.header.sequence)
    guard envelope.header.source == .messageBus else { return }
    switch envelope.header.kind {
    case BusStarted.kind:
      guard let started = try? BodyCoding.decode(BusStarted.self, from: envelope.body) else { return }
      busGeneration = max(busGeneration, started.generation)
      formerKeys = started.revoked + formerKeys.filter { !started.revoked.contains($0) }
      standingKeys = Dictionary(started.keys.map { ($0.publicKey, $0) }, uniquingKeysWith: { $1 })
      droppedGeneration = max(droppedGeneration, started.droppedGeneration)
      for registration in started.registrations { put(registration) }
    case RegistrationChanged.kind:
      guard let changed = try? BodyCoding.decode(RegistrationChanged.self, from: envelope.body) else { return }
      put(changed.registration)
    case KeyChanged.kind:
      guard let changed = try? BodyCoding.decode(KeyChanged.self, from: envelope.body) else { return }
      put(changed)
    default: break
    }
  }

  private mutating func put(_ registration: Registration) {
    let previous = registrations.updateValue(registration, forKey: registration.address)
    if let key = previous?.publicKey, key != registration.publicKey { formerKeys.append(key) }
  }

  private mutating func put(_ changed: KeyChanged) {
    let name = changed.key.publicKey
    switch changed.change {
    case .registered: standingKeys[name] = changed.key
    case .used: if standingKeys[name] != nil { standingKeys[name] = changed.key }
    case .revoked:
      standingKeys[name] = nil
      formerKeys.append(name)
    }
  }
}
