// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import Journal
import JournalAnalysis
import Messages

/// `widgetlab check`.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks that the journal obeys the laws of the system: nothing lost, misrouted, doubled or overdrawn.",
    discussion: """
      Each law answers: it holds, it is broken, or it is unknown, such as when the journal begins or ends in the middle \
      of work. The number of checks counts only those that had something to judge. The envelopes of each finding are \
      printed; `widgetlab tail --around N` shows their context. Only files are read, so that it also works after a run.

      Exit code 0 when all laws hold, 1 when one is broken, 2 when none is broken and one is unknown.

      EXAMPLES
        widgetlab check                    this instance's journal
        widgetlab check ~/copied/journal   a copied folder, or one segment
        widgetlab check chaos-7.tar        the journal of a failed campaign
        widgetlab check --law no-loss      only this law
        widgetlab check --json             for scripts and CI
        widgetlab check --list             all laws, with their sources
        widgetlab up --check               while the cluster runs

      JSON
      One object: answer (holds, broken, unknown), envelopes, first and last (sequence numbers), laws: an array of \
      code, answer, checks, broken and unknown (all findings, counted), breaches and doubts (the first 16 of each): what, \
      evidence ([{"sequence", "text"}]). Fields may be added, but are never removed.
      """)

  @OptionGroup var options: InstanceOptions
  @OptionGroup var limits: LawOptions

  @Argument(
    help: """
      A journal, an instance folder, one segment file, or the failure file of a campaign (`widgetlab chaos`); by default \
      the journal of this instance.
      """,
    completion: .file())
  var journal: String?

  @Option(name: .customLong("law"), help: ArgumentHelp("Only this law; may be repeated.", valueName: "code"))
  var codes: [String] = []

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Explain all laws, without reading a journal.")
  var list = false

  @Flag(help: ArgumentHelp("With --list: print Documentation/laws.md.", visibility: .hidden))
  var markdown = false

  func validate() throws {
    let known = LawTable.descriptions.map(\.code)
    for code in codes where !known.contains(code) {
      throw ValidationError("'\(code)' is not a law; use one of: \(known.joined(separator: ", "))")
    }
    if markdown, !list { throw ValidationError("--markdown needs --list.") }
    try limits.validate()
  }

  func run() async throws {
    try await reporting {
      if list { return try printList() }
      let checker = try check()
      let verdicts = checker.verdicts()
      if json {
        try Output.json(LawReport(verdicts, of: checker))
      } else {
        for line in LawText.lines(verdicts, of: checker, isColored: Output.isColored) { Output.print(line) }
      }
      try Self.exit(with: LawVerdict.answer(verdicts))
    }
  }

  static func exit(with answer: LawVerdict.Answer) throws {
    switch answer {
    case .holds: return
    case .broken: throw Exit.no
    case .unknown: throw Exit.unknown
    }
  }

  /// Reads the journal to its end, or to where it cannot be read further.
  func check() throws -> LawChecker {
    var checker = LawChecker(limits.limits, codes: codes.isEmpty ? nil : Set(codes))
    var cursor = try reader().cursor()
    var progress = CheckProgress()
    defer { progress.clear() }
    do {
      while let envelope = try cursor.next() {
        _ = checker.handle(envelope)
        progress.show(checker)
      }
    } catch {
      checker.lostTrack("the journal cannot be read further: \(error)")
    }
    return checker
  }

  private func reader() throws -> JournalReader {
    var place = try JournalLocation.parse([])
    place.journal = journal
    return try place.reader(options)
  }

  private func printList() throws {
    let laws = LawTable.descriptions.filter { codes.isEmpty || codes.contains($0.code) }
    if json { return try Output.json(laws) }
    if markdown { return Output.printText(String(LawsPage.text.dropLast())) }
    for line in laws.flatMap({ LawText.lines($0, isColored: Output.isColored) + [""] }) { Output.print(line) }
  }
}

/// Limits of laws.
struct LawOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Within how long after the last disturbance work must be settled.", valueName: "seconds"))
  var within = LawLimits().settle

  @Option(
    help: ArgumentHelp(
      "Within how long after the last disturbance an accepted task must have ended (default: any time).",
      valueName: "seconds"))
  var transfersWithin: Double?

  func validate() throws {
    for limit in [within, transfersWithin].compactMap(\.self) where !(1...1e6).contains(limit) {
      throw ValidationError("--within and --transfers-within: 1 to 1000000 seconds.")
    }
  }

  var limits: LawLimits { LawLimits(settle: within, transfer: transfersWithin) }
}

/// The progress over a long journal: a line on standard error that is overwritten, if standard error is a terminal.
struct CheckProgress {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var next = 100_000

  mutating func show(_ checker: LawChecker) {
    guard isShown, checker.envelopes >= next else { return }
    next += 100_000
    write("\r\u{1b}[K\(checker.envelopes) envelopes")
  }

  func clear() {
    if isShown, next > 100_000 { write("\r\u{1b}[K") }
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}

/// Checks the laws on the journal of a cluster while it runs.
///
/// The whole journal of the instance is read, so that work of an earlier run of the cluster is known.
actor LawFollowing {
  private var checker = LawChecker()
  private var cursor: JournalCursor
  private var isOver = false
  private let report: @Sendable (LawChecker.News) -> Void
  private var task: Task<Void, Never>?

  /// - Parameters:
  ///   - journal: the folder of the segments, which may not exist yet.
  ///   - report: called with each violation that the journal shows.
  init(journal: String, report: @escaping @Sendable (LawChecker.News) -> Void) {
    cursor = JournalReader(folder: URL(fileURLWithPath: journal)).cursor()
    self.report = report
  }

  /// Begins to follow, until `end()`.
  func begin() { task = Task { await follow() } }

  /// Reads the rest of the journal. Call it when nothing more is written.
  ///
  /// - Returns: what was found.
  func end() async -> LawChecker {
    task?.cancel()
    await task?.value
    read(atMost: .max)
    return checker
  }

  private func follow() async {
    while !Task.isCancelled {
      // A long journal is read in pieces, so that the end of the cluster does not wait for it.
      guard read(atMost: 1000) < 1000 else {
        await Task.yield()
        continue
      }
      do {
        // The journal sends no notification; a mounted folder may deliver none either.
        try await Task.sleep(for: .milliseconds(100))
      } catch {
        return
      }
    }
  }

  /// Returns how many envelopes were read.
  @discardableResult
  private func read(atMost limit: Int) -> Int {
    guard !isOver else { return 0 }
    var count = 0
    do {
      while count < limit, let envelope = try cursor.next() {
        count += 1
        for news in checker.handle(envelope) { report(news) }
      }
    } catch {
      isOver = true
      checker.lostTrack("the journal cannot be read further: \(error)")
    }
    return count
  }
}

/// Documentation/laws.md, generated from the table of laws.
enum LawsPage {
  /// The whole page, ending in a newline.
  static var text: String { introduction + "\n\n" + laws + "\n" }

  private static let introduction = """
    # Laws

    Generated by `widgetlab check --list --markdown` from `LawTable`; do not edit it by hand.

    A law is a statement about every journal. [Diagnoses](diagnoses.md) report mistakes in an author's code; a broken law
    is a mistake in WidgetLab. `widgetlab check` reads a journal and answers for each law:

    - **holds**: nothing in the journal contradicts it, and everything could be judged;
    - **broken**: envelopes contradict it; they are printed with their sequence numbers;
    - **unknown**: nothing contradicts it, and something could not be judged: the journal begins or ends in the middle of
      work, envelopes are missing, or a fact was not recorded.

    Beside the answer is the number of checks that had something to judge. A law with nothing to check holds, and its line
    states that. A law judges only what the journal states and guesses nothing. Notices may be lost when a connection or
    the broker ends: a check that needs a notice which may be lost is not made. Work that is settled is forgotten, so that
    memory does not grow with the journal.

        widgetlab check                        # exit code 0: all hold; 1: one is broken; 2: one is unknown
        widgetlab check ~/copied/journal --json
        widgetlab check --law no-loss --within 10
        widgetlab up --check                   # a line when a law breaks, and the verdicts at the end

    `up --check` costs the CPU time of reading and judging each envelope once, about 4 to 14 µs in a release build
    ([performance](performance.md#the-laws)), in the process `widgetlab`.

    Each law has situations that look like a breach and are none. A test makes each of them.

    `liveness` reads time from the envelopes. A journal that ends less than `--within` seconds after the last disturbance
    leaves open work unknown.
    """

  private static var laws: String {
    LawTable.descriptions.map { law in
      """
      ## `\(law.code)`: \(law.title)

      \(law.statement)

      - Source: \(law.source).
      - One check: \(law.check).
      - Not judged: \(law.limits)
      - No breach: \(LawSituation.of(law).map(\.what).joined(separator: "; ")).
      """
    }.joined(separator: "\n\n")
  }
}
