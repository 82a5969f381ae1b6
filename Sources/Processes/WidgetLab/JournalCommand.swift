// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Journal
import JournalAnalysis

/// `widgetlab journal`.
struct JournalCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "journal", abstract: "Checks the journal.", subcommands: [JournalVerifyCommand.self])
}

/// `widgetlab journal verify`.
struct JournalVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Reads the whole journal and reports every gap, repetition and damage.",
    discussion: """
      Exit code 0 when it is sound, 1 when there is a finding. A broker may write to the journal at the same time.

      FINDINGS
        gap            sequence numbers that are in no segment
        lost           the end of the journal was lost before the bus started; numbers are skipped there
        repeated       a sequence number that occurred before
        damaged        bytes that differ from what was written, before intact records
        torn-end       an incomplete record, left by a broker that was killed
        draft          a segment that a broker created and never used
        empty          a segment without content, left by a power failure
        not-a-journal  a file with a segment's name but without its header

      --repair truncates torn ends, and removes drafts and empty segments; no complete record is lost. Exit code 0 \
      when no findings remain. Other findings are not repaired; `widgetlab tail` reads as much of them as it can.

      EXAMPLES
        widgetlab journal verify
        widgetlab journal verify --repair
        widgetlab journal verify --json --journal ~/copied/journal
      """)

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalLocation

  @Flag(help: "Repair what a crash can cause, then verify again.")
  var repair = false

  @Flag(help: "Print one JSON object: {\"segments\":…,\"envelopes\":…,\"findings\":[…],\"mended\":[…]}.")
  var json = false

  /// The findings, and the repairs made before.
  struct Outcome: Encodable, Equatable {
    let folder: String
    let segments: Int
    let envelopes: Int
    let first: UInt64?
    let last: UInt64?
    let findings: [JournalVerifier.Finding]
    let mended: [JournalVerifier.Finding]
  }

  func run() async throws {
    try await reporting {
      let outcome = try outcome()
      if json { try Output.json(outcome) } else { for line in Self.lines(outcome) { Output.print(line) } }
      guard outcome.findings.isEmpty else { throw Exit.no }
    }
  }

  func outcome() throws -> Outcome {
    // The journal must exist: an empty folder is sound, a wrong path is not.
    _ = try place.reader(options, reading: !repair)
    let folder = try place.folder(options, reading: !repair)
    let verifier = JournalVerifier(folder: URL(fileURLWithPath: folder))
    let mended = repair ? try verifier.repair() : []
    let report = try verifier.verify()
    return Outcome(
      folder: folder, segments: report.segments, envelopes: report.envelopes, first: report.first, last: report.last,
      findings: report.findings, mended: mended)
  }

  static func lines(_ outcome: Outcome) -> [String] {
    let range = outcome.first.flatMap { first in outcome.last.map { ", #\(first) to #\($0)" } } ?? ""
    let findings = outcome.findings.count
    let verdict = findings == 0 ? "sound" : "\(findings) finding\(findings == 1 ? "" : "s")"
    let mended = outcome.mended.map { "mended  \(line($0))" }
    let mendable = outcome.findings.contains(where: \.kind.isRepairable)
    return mended + outcome.findings.map(line)
      + ["\(outcome.folder): \(outcome.segments) segments, \(outcome.envelopes) envelopes\(range): \(verdict)"]
      + (mendable ? ["`widgetlab journal verify --repair` repairs torn ends, drafts and empty segments"] : [])
  }

  private static func line(_ finding: JournalVerifier.Finding) -> String {
    "\(finding.kind.rawValue.padded(14)) \(finding.segment) byte \(finding.offset): \(finding.text)"
  }
}
