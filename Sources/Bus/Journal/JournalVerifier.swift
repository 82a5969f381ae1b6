import Conversations
package import Foundation
import Glibc

/// Looks whether a journal is whole, and mends what the death of a broker can leave. A reader tells of the first damage
/// that it meets; this tells of all.
package struct JournalVerifier: Sendable {
  /// Something that is not as it should be.
  package struct Finding: Hashable, Sendable, Codable {
    package enum Kind: String, Sendable, Codable {
      /// Numbers that are in no segment.
      case gap
      /// A number that was there before.
      case repeated
      /// Bytes that are not what was written, before others that are.
      case damaged
      /// An incomplete record at the end of a segment, which the death of its broker left. Readers pass it by.
      /// Repairable.
      case tornEnd = "torn-end"
      /// A segment whose broker died before it had its first record. Readers do not see it. Repairable.
      case draft
      /// A file with a segment's name and without its head.
      case notAJournal = "not-a-journal"

      /// Whether `repair` mends it: nothing that was ever in the journal is lost by that.
      package var isRepairable: Bool { self == .tornEnd || self == .draft }
    }

    package let kind: Kind
    /// The name of the file.
    package let segment: String
    /// Where in the file, in bytes.
    package let offset: Int
    /// The first number that it is about: missing, repeated, or not readable.
    package let sequence: UInt64
    /// What was found, for a person.
    package let text: String
  }

  /// What is there, and what is wrong with it.
  package struct Report: Hashable, Sendable, Codable {
    package fileprivate(set) var segments = 0
    /// How many envelopes can be read.
    package fileprivate(set) var envelopes = 0
    /// The lowest number; nil for an empty journal. Above 1 when the oldest segments were removed.
    package fileprivate(set) var first: UInt64?
    /// The highest number; nil for an empty journal.
    package fileprivate(set) var last: UInt64?
    /// In the order of their places.
    package fileprivate(set) var findings: [Finding] = []
  }

  private let folder: SegmentFolder

  /// A verifier of a folder that a broker may be writing to.
  package init(folder: URL) { self.folder = SegmentFolder(path: folder.path(percentEncoded: false)) }

  /// Reads all segments. It only reads, so a folder that is read-only or copied will do; the record that a living
  /// broker is writing just now is no finding.
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
        pass.foundNoJournal(segment, error)
        continue
      }
      guard let file else {
        // The broker removed the oldest segments meanwhile.
        pass.expected = nil
        continue
      }
      let following = segments.indices.contains(index + 1) ? segments[index + 1] : nil
      try pass.walk(file, segment, following: following)
    }
    for draft in try folder.drafts() {
      guard try !folder.isBeingWritten(draft) else { continue }
      pass.found(.draft, draft, 0, pass.expected ?? 1, "a segment that was never begun")
    }
    return pass.report
  }

  /// Cuts torn ends off and removes drafts. What a living broker is writing is left alone, and so is everything of
  /// another kind: that can be read as far as it goes, and no tool knows what it was.
  ///
  /// - Returns: what was mended.
  /// - Throws: `notReadable`, `notWritable`; what was mended before stays so.
  @discardableResult
  package func repair() throws(JournalError) -> [Finding] {
    var mended: [Finding] = []
    for finding in try verify().findings where finding.kind.isRepairable {
      let path = "\(folder.path)/\(finding.segment)"
      guard let file = try SegmentFile.writable(path), file.lock() else { continue }
      if finding.kind == .draft {
        guard unlink(path) == 0 else { throw .last(.notWritable, path, "unlink") }
      } else {
        guard ftruncate(file.descriptor, off_t(finding.offset)) == 0 else {
          throw .last(.notWritable, path, "ftruncate")
        }
      }
      mended.append(finding)
    }
    return mended
  }
}

/// One reading of all segments.
private struct Pass {
  var report = JournalVerifier.Report()
  /// The number that comes next; nil when nothing is known of what came before.
  var expected: UInt64?

  mutating func found(
    _ kind: JournalVerifier.Finding.Kind, _ segment: String, _ offset: Int, _ sequence: UInt64, _ text: String
  ) {
    report.findings.append(
      JournalVerifier.Finding(kind: kind, segment: segment, offset: offset, sequence: sequence, text: text))
  }

  mutating func foundNoJournal(_ segment: UInt64, _ error: JournalError) {
    report.segments += 1
    found(.notAJournal, SegmentLayout.name(firstSequence: segment), 0, segment, error.message)
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
          count(sequence, name, offset, after: damage)
          damage = nil
        } catch {
          damage = damage ?? (offset, "a record that is \(error)")
        }
      case .unreadable(let offset, let length):
        damage = damage ?? (offset, "\(length) bytes are not what was written")
      case .torn(let offset, let length):
        let next = expected ?? segment
        guard damage == nil, following.map({ $0 == next }) ?? true else {
          damage = damage ?? (offset, "\(length) bytes at the end are not what was written")
          break
        }
        guard following != nil || !file.isBeingWritten else { break }
        found(.tornEnd, name, offset, next, "\(length) bytes at the end are no whole record")
      }
    }
    guard let damage else { return }
    let next = expected ?? segment
    let lost = following.map { $0 > next ? ": \(numbers(next, $0 - 1)) cannot be read" : "" } ?? ""
    found(.damaged, name, damage.offset, next, damage.text + lost)
    expected = following.map { max($0, next) } ?? next
  }

  private mutating func count(
    _ sequence: UInt64, _ segment: String, _ offset: Int, after damage: (offset: Int, text: String)?
  ) {
    let next = expected ?? sequence
    if let damage {
      let lost = sequence > next ? ": \(numbers(next, sequence - 1)) cannot be read" : ""
      found(.damaged, segment, damage.offset, next, damage.text + lost)
    } else if sequence > next {
      found(.gap, segment, offset, next, "\(numbers(next, sequence - 1)): in no segment")
    }
    if sequence < next {
      found(.repeated, segment, offset, sequence, "envelope \(sequence) stands after \(next - 1)")
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
