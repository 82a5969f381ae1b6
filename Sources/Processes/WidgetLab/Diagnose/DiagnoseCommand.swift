import ArgumentParser
import Conversations
import Foundation
import Journal

/// `widgetlab diagnose`.
struct DiagnoseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diagnose",
    abstract: "Names what the authors of app and extension get wrong, from the journal.",
    discussion: """
      Once for each cause: what happened, by which envelopes (`widgetlab tail --around N` shows what stands there), the \
      rule, by whose word it holds, and what to do. It reads files and asks nobody, so that it works after a run too. \
      Exit code 0 when nothing is found that --fail-on counts, else 1. `widgetlab tail` prints the same as it happens.

      EXAMPLES
        widgetlab diagnose                             this instance's journal
        widgetlab diagnose reload-loop same-identifier only these
        widgetlab diagnose --since 5m --fail-on error  for scripts and CI
        widgetlab diagnose --journal ~/copied/journal --json
        widgetlab diagnose --follow                    each as it becomes true
        widgetlab diagnose --list                      all that is known by name

      JSON
      One list on a line; with --follow one object on each. An object has code, severity (note, warning, error), title, \
      process (such as extension/com.example.Widget), bundle, device, subject (the author's type, kind or session), what, \
      evidence ([{"sequence", "text"}]), rule, source, advice and times. Fields may be added, and none goes.
      """)

  enum Threshold: String, CaseIterable, ExpressibleByArgument {
    case note, warning, error, never

    /// Whether a diagnosis of this severity fails the run.
    func counts(_ severity: DiagnosisDescription.Severity) -> Bool {
      DiagnosisDescription.Severity(rawValue: rawValue).map { severity >= $0 } ?? false
    }
  }

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalPlace
  @OptionGroup var limits: DiagnosticOptions

  @Argument(help: "Only these; `widgetlab diagnose --list` names them.")
  var codes: [String] = []

  @Flag(name: [.short, .long], help: "Go on with what comes, until Ctrl-C.")
  var follow = false

  @Option(help: "Only what became true from here on: \(TailFilter.Moment.forms).")
  var since: String?

  @Option(help: "From which severity on the exit code is 1: note, warning, error or never.")
  var failOn = Threshold.warning

  @Flag(help: "A JSON list on a line.")
  var json = false

  @Flag(help: "Explain every mistake that is known by name, and read no journal.")
  var list = false

  @Flag(help: ArgumentHelp("With --list: as Documentation/diagnoses.md.", visibility: .hidden))
  var markdown = false

  func validate() throws {
    if let since, TailFilter.Moment(since) == nil {
      throw ValidationError("'\(since)' is no point in the journal; say \(TailFilter.Moment.forms).")
    }
    let known = DiagnosticTable.descriptions.map(\.code)
    for code in codes where !known.contains(code) {
      throw ValidationError("'\(code)' is no diagnosis; there are: \(known.joined(separator: ", "))")
    }
    if markdown, !list { throw ValidationError("--markdown: of what? Add --list.") }
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

  /// Reads the journal, and follows it if that is asked for.
  func diagnose() async throws -> Diagnostician {
    let filter = TailFilter(since: since.flatMap { TailFilter.Moment($0)?.fixed(now: .now) })
    var diagnostician = Diagnostician(limits.thresholds, codes: codes.isEmpty ? nil : Set(codes))
    guard follow else {
      var cursor = try place.reader(options).cursor()
      while let envelope = try cursor.next() {
        _ = diagnostician.take(envelope, counts: filter.place(envelope.header) == .inside)
      }
      return diagnostician
    }
    let reader = JournalReader(folder: URL(fileURLWithPath: try place.folder(options)))
    for try await envelope in reader.follow() {
      for diagnosis in diagnostician.take(envelope, counts: filter.place(envelope.header) == .inside) {
        if json {
          try Output.json(DiagnosisReport(diagnosis))
        } else {
          for line in DiagnosisText.lines(diagnosis, isColourful: Output.isColourful) + [""] { Output.say(line) }
        }
      }
    }
    return diagnostician
  }

  private func show(_ diagnosed: Diagnostician) throws {
    if json { return try Output.json(diagnosed.diagnoses.map(DiagnosisReport.init)) }
    for line in DiagnosisText.lines(of: diagnosed, isColourful: Output.isColourful) { Output.say(line) }
  }

  private func printList() throws {
    let descriptions = DiagnosticTable.descriptions.filter { codes.isEmpty || codes.contains($0.code) }
    if json { return try Output.json(descriptions.map(DescriptionReport.init)) }
    if markdown { return Output.say(String(DiagnosesPage.text.dropLast())) }
    for line in descriptions.flatMap({ DiagnosisText.lines($0, isColourful: Output.isColourful) + [""] }) {
      Output.say(line)
    }
  }
}

/// From when on it is a mistake.
struct DiagnosticOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Reloads that a day's budget pays: a policy that asks for more is named.", valueName: "n"))
  var reloadsPerDay = DiagnosticThresholds().reloadsPerDay

  @Option(help: ArgumentHelp("Reloads of a kind by a process within --loop-seconds that are a loop.", valueName: "n"))
  var loop = DiagnosticThresholds().loopCount

  @Option(help: ArgumentHelp("See --loop.", valueName: "seconds"))
  var loopSeconds = DiagnosticThresholds().loopSeconds

  @Option(help: ArgumentHelp("Timelines with the same content in a row that are too many.", valueName: "n"))
  var equal = DiagnosticThresholds().equalTimelines

  @Option(help: ArgumentHelp("How old the end of a timeline may be.", valueName: "seconds"))
  var past = DiagnosticThresholds().pastSeconds

  func validate() throws {
    guard (1...86_400).contains(reloadsPerDay) else { throw ValidationError("--reloads-per-day: from 1 to 86400.") }
    guard (2...10_000).contains(loop) else { throw ValidationError("--loop: from 2 to 10000.") }
    guard (0...1e9).contains(loopSeconds) else { throw ValidationError("--loop-seconds: seconds, 0 or more.") }
    guard (2...10_000).contains(equal) else { throw ValidationError("--equal: from 2 to 10000.") }
    guard (0...1e9).contains(past) else { throw ValidationError("--past: seconds, 0 or more.") }
  }

  var thresholds: DiagnosticThresholds {
    DiagnosticThresholds(
      reloadsPerDay: reloadsPerDay, loopCount: loop, loopSeconds: loopSeconds, equalTimelines: equal, pastSeconds: past)
  }
}
