import ArgumentParser
import Foundation
import Journal

/// `widgetlab journal`.
struct JournalCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "journal", abstract: "Looks after the journal itself.", subcommands: [JournalVerifyCommand.self])
}

/// `widgetlab journal verify`.
struct JournalVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Reads the whole journal and tells of every gap, repeat and damage.",
    discussion: """
      Exit code 0 when it is sound, 1 when there is a finding. A broker may be writing to it meanwhile.

      FINDINGS
        gap            numbers that are in no segment
        repeated       a number that was there before
        damaged        bytes that are not what was written, before others that are
        torn-end       an incomplete record, which the death of a broker leaves
        draft          a segment that a dying broker never began
        not-a-journal  a file with a segment's name and without its head

      --repair cuts torn ends off and removes drafts, by which nothing is lost that was ever in the journal; exit code 0 when \
      nothing is left to find. The others it leaves as they are: what can be read of them can be read by the tail too.

      EXAMPLES
        widgetlab journal verify
        widgetlab journal verify --repair
        widgetlab journal verify --json --journal ~/copied/journal
      """)

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalPlace

  @Flag(help: "Mend what a crash can leave, then look again.")
  var repair = false

  @Flag(help: "One JSON object: {\"segments\":…,\"envelopes\":…,\"findings\":[…],\"mended\":[…]}.")
  var json = false

  /// What was found, and what was mended before.
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
      if json { try Output.json(outcome) } else { for line in Self.lines(outcome) { Output.say(line) } }
      guard outcome.findings.isEmpty else { throw Exit.no }
    }
  }

  func outcome() throws -> Outcome {
    // There has to be one: an empty folder is sound, a wrong one is not.
    _ = try place.reader(options)
    let folder = try place.folder(options)
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
      + (mendable ? ["`widgetlab journal verify --repair` mends torn ends and drafts"] : [])
  }

  private static func line(_ finding: JournalVerifier.Finding) -> String {
    "\(finding.kind.rawValue.padded(14)) \(finding.segment) byte \(finding.offset): \(finding.text)"
  }
}
