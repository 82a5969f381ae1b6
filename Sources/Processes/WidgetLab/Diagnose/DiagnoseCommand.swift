// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Journal
import JournalAnalysis
import Messages

/// `widgetlab diagnose`.
struct DiagnoseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diagnose",
    abstract: "Reports mistakes in the code of app and extension, from the journal.",
    discussion: """
      Each cause is reported once: what happened, the envelopes that show it (`widgetlab tail --around N` prints their \
      context), the rule, its source, and what to do. It only reads files, so that it also works after a run. Exit \
      code 0 when nothing is found that --fail-on counts, else 1. `widgetlab tail` prints the same diagnoses live.

      EXAMPLES
        widgetlab diagnose                             this instance's journal
        widgetlab diagnose reload-loop same-identifier only these diagnoses
        widgetlab diagnose --since 5m --fail-on error  for scripts and CI
        widgetlab diagnose --journal ~/copied/journal --json
        widgetlab diagnose --follow                    live
        widgetlab diagnose --list                      all known diagnoses

      JSON
      One array on a line; with --follow one object per line. An object has code, severity (note, warning, error), \
      title, process (such as extension/com.example.Widget), bundle, device, subject (the author's type, kind or \
      session), what, evidence ([{"sequence", "text"}]), rule, source, advice and times. Fields may be added, but are \
      never removed.
      """)

  enum Threshold: String, CaseIterable, ExpressibleByArgument {
    case note, warning, error, never

    /// Whether a diagnosis of this severity makes the command fail.
    func counts(_ severity: DiagnosisDescription.Severity) -> Bool {
      DiagnosisDescription.Severity(rawValue: rawValue).map { severity >= $0 } ?? false
    }
  }

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalLocation
  @OptionGroup var limits: DiagnosticOptions

  @Argument(help: "Only these diagnoses; `widgetlab diagnose --list` lists them.")
  var codes: [String] = []

  @Flag(name: [.short, .long], help: "Wait for new entries, until Ctrl-C.")
  var follow = false

  @Option(help: "Only diagnoses from this point on: \(JournalFilter.Moment.forms).")
  var since: String?

  @Option(help: "The lowest severity with exit code 1: note, warning, error or never.")
  var failOn = Threshold.warning

  @Flag(help: "Print a JSON array on one line.")
  var json = false

  @Flag(help: "Explain all known diagnoses, without reading a journal.")
  var list = false

  @Flag(help: ArgumentHelp("With --list: print Documentation/diagnoses.md.", visibility: .hidden))
  var markdown = false

  func validate() throws {
    if let since, JournalFilter.Moment(since) == nil {
      throw ValidationError("'\(since)' is not a point in the journal; use \(JournalFilter.Moment.forms).")
    }
    let known = DiagnosticTable.descriptions.map(\.code)
    for code in codes where !known.contains(code) {
      throw ValidationError("'\(code)' is not a diagnosis; use one of: \(known.joined(separator: ", "))")
    }
    if markdown, !list { throw ValidationError("--markdown needs --list.") }
    try limits.validate()
  }

  func run() async throws {
    try await reporting {
      if list { return try printList() }
      let diagnosed = try await diagnose()
      if !follow { try show(diagnosed) }
      guard !diagnosed.diagnoses.contains(where: { failOn.counts($0.description.severity) }) else { throw Exit.no }
    }
  }

  /// Reads the journal, and follows it if requested.
  func diagnose() async throws -> Diagnostician {
    let filter = JournalFilter(since: since.flatMap { JournalFilter.Moment($0)?.fixed(now: .now) })
    var diagnostician = Diagnostician(limits.thresholds, codes: codes.isEmpty ? nil : Set(codes))
    guard follow else {
      var cursor = try place.reader(options).cursor()
      while let envelope = try cursor.next() {
        _ = diagnostician.handle(envelope, counts: filter.place(envelope.header) == .inside)
      }
      return diagnostician
    }
    let reader = JournalReader(folder: URL(fileURLWithPath: try place.folder(options)))
    for try await envelope in reader.follow() {
      for diagnosis in diagnostician.handle(envelope, counts: filter.place(envelope.header) == .inside) {
        if json {
          try Output.json(DiagnosisReport(diagnosis))
        } else {
          for line in DiagnosisText.lines(diagnosis, isColored: Output.isColored) + [""] { Output.print(line) }
        }
      }
    }
    return diagnostician
  }

  private func show(_ diagnosed: Diagnostician) throws {
    if json { return try Output.json(diagnosed.diagnoses.map(DiagnosisReport.init)) }
    for line in DiagnosisText.lines(of: diagnosed, isColored: Output.isColored) { Output.print(line) }
  }

  private func printList() throws {
    let descriptions = DiagnosticTable.descriptions.filter { codes.isEmpty || codes.contains($0.code) }
    if json { return try Output.json(descriptions) }
    if markdown { return Output.printText(String(DiagnosesPage.text.dropLast())) }
    for line in descriptions.flatMap({ DiagnosisText.lines($0, isColored: Output.isColored) + [""] }) {
      Output.print(line)
    }
  }
}

/// Thresholds of diagnoses.
struct DiagnosticOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Reloads that a day's budget pays for; a policy with more is reported.", valueName: "n"))
  var reloadsPerDay = DiagnosticThresholds().reloadsPerDay

  @Option(help: ArgumentHelp("Reloads of a kind by a process within --loop-seconds that form a loop.", valueName: "n"))
  var loop = DiagnosticThresholds().loopCount

  @Option(help: ArgumentHelp("See --loop.", valueName: "seconds"))
  var loopSeconds = DiagnosticThresholds().loopSeconds

  @Option(help: ArgumentHelp("Consecutive timelines with the same content that are reported.", valueName: "n"))
  var equal = DiagnosticThresholds().equalTimelines

  @Option(help: ArgumentHelp("Maximum age of the end of a timeline.", valueName: "seconds"))
  var past = DiagnosticThresholds().pastSeconds

  func validate() throws {
    guard (1...86_400).contains(reloadsPerDay) else { throw ValidationError("--reloads-per-day must be 1 to 86400.") }
    guard (2...10_000).contains(loop) else { throw ValidationError("--loop must be 2 to 10000.") }
    guard (0...1e9).contains(loopSeconds) else { throw ValidationError("--loop-seconds must be 0 or more.") }
    guard (2...10_000).contains(equal) else { throw ValidationError("--equal must be 2 to 10000.") }
    guard (0...1e9).contains(past) else { throw ValidationError("--past must be 0 or more seconds.") }
  }

  var thresholds: DiagnosticThresholds {
    DiagnosticThresholds(
      reloadsPerDay: reloadsPerDay, loopCount: loop, loopSeconds: loopSeconds, equalTimelines: equal, pastSeconds: past)
  }
}

/// Documentation/diagnoses.md, generated from the table of diagnoses.
enum DiagnosesPage {
  /// The whole page, ending in a newline.
  static var text: String { introduction + "\n\n" + table + "\n" }

  private static let introduction = """
    # Diagnoses

    Generated by `widgetlab diagnose --list --markdown` from `DiagnosticTable`; do not edit it by hand.

    Authors' mistakes are reported while the cluster runs: `widgetlab tail` prints a line when a mistake occurs, and
    `widgetlab diagnose` reports each cause once, with the envelopes that show it, the rule, its source, and what to do.
    A diagnosis depends only on the journal: a copy of a journal gives the same diagnoses.

    In CI, after a run:

        widgetlab diagnose --since seq:1 --fail-on warning    # exit code 1 when there is a warning or an error
        widgetlab diagnose --json > diagnoses.json

    An object of the JSON array has `code`, `severity`, `title`, `process`, `bundle`, `device`, `subject`, `what`,
    `evidence` (an array of `sequence` and `text`), `rule`, `source`, `advice` and `times`. Codes do not change; fields
    may be added, but are never removed. Thresholds, beyond which valid behaviour counts as a mistake, are ours, and can
    be set with flags of the command: `--reloads-per-day`, `--loop` and `--loop-seconds`, `--equal`, `--past`. `tail`
    uses the defaults.

    Not detected, because it is not visible on the bus: a 404 body that is used as the file, and a second session object
    with the same identifier in one process.
    """

  private static var table: String {
    let rows = DiagnosticTable.descriptions.map { description in
      "| `\(description.code)` | \(description.severity.rawValue) | \(description.title) | \(description.rule) | "
        + "\(description.source) | \(description.advice) |"
    }
    let heading = "| code | severity | what | rule | source | what to do |"
    return (["## Every diagnosis", "", heading, "| --- | --- | --- | --- | --- | --- |"] + rows).joined(separator: "\n")
  }
}
