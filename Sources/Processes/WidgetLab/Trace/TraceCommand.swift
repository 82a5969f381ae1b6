// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Journal
import JournalAnalysis
import Messages

/// `widgetlab trace`.
struct TraceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trace",
    abstract: "Shows every step of one background session, over all generations of its owner, and where the time went.",
    discussion: """
      Shows every step with the session's correlation id, its causes, and in between the spawns, starts, exits, stops \
      and continuations of its owner and the exits of host, agent and bus. Each step shows what it waited for (AFTER: \
      the number of the envelope that it names as its cause, else of the last envelope of its process) and for how \
      long.

      It reads the journal, so that it also works when no process is running, or on another machine.

      EXAMPLES
        widgetlab trace                        lists the sessions
        widgetlab trace com.example.figures    a session by its identifier
        widgetlab trace 3fa94c                 by the correlation id in the tail
        widgetlab trace 3fa94c --output json   one JSON object
        widgetlab trace 3fa94c --output mermaid > trace.mmd
        widgetlab trace daily --since 5m       only the last download
        widgetlab trace daily --journal ~/copied/journal

      An envelope's id is also accepted. --output mermaid prints a sequence diagram of under 50,000 characters. Of a \
      longer one the middle is left out, which the diagram states.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case pretty, json, mermaid
  }

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalLocation

  @Argument(help: "A session's identifier, or the first digits of a correlation or of an envelope's id.")
  var operation: String?

  @Option(help: "Only envelopes from this point on: \(JournalFilter.Moment.forms).")
  var since: String?

  @Option(help: "Only envelopes up to this point, in the same forms.")
  var until: String?

  @Option(help: "pretty, json or mermaid.")
  var output = Format.pretty

  @Option(help: "auto (a terminal without NO_COLOR), always or never.")
  var color = ColorPolicy.auto

  func validate() throws {
    for text in [since, until].compactMap(\.self) where JournalFilter.Moment(text) == nil {
      throw ValidationError("'\(text)' is not a point in the journal; use \(JournalFilter.Moment.forms).")
    }
  }

  func run() async throws {
    try await reporting {
      let now = Timestamp.now
      let range = JournalFilter(
        since: since.flatMap { JournalFilter.Moment($0)?.fixed(now: now) },
        until: until.flatMap { JournalFilter.Moment($0)?.fixed(now: now) })
      let envelopes = try place.reader(options).read(from: range.start).filter { range.place($0.header) == .inside }
      guard let operation else { return try list(TraceSubject.sessions(in: envelopes)) }
      let trace = Trace(try subject(operation, in: envelopes), in: envelopes)
      switch output {
      case .pretty:
        for line in trace.lines(isColored: color.isColored) { Output.print(line, isColored: color.isColored) }
      case .json: try Output.json(trace.report)
      case .mermaid: Output.printText(trace.mermaid)
      }
    }
  }

  /// Finds the subject of a trace.
  ///
  /// - Throws: a command error that lists the possible subjects.
  func subject(_ text: String, in envelopes: [Envelope]) throws -> TraceSubject {
    do {
      return try TraceSubject(text, in: envelopes)
    } catch {
      throw CommandError(error)
    }
  }

  private func list(_ sessions: [TraceSubject]) throws {
    guard !sessions.isEmpty else {
      throw CommandError(
        Exit.no, "the journal contains no session", at: try place.folder(options),
        advice: "start one with `widgetlab reload --all`")
    }
    var table = TextTable(headings: ["CORR", "SESSION", "OWNER"])
    table.rows = sessions.map {
      [$0.correlation.map { String($0.digits.prefix(6)) } ?? "-", $0.session ?? "-", $0.owner?.short ?? "-"]
    }
    for line in table.lines { Output.print(line) }
  }
}

extension CommandError {
  /// The error of a trace whose subject was not found. It lists the possible subjects.
  fileprivate init(_ error: TraceSubjectError) {
    let list = error.candidates.prefix(20).map { "         \($0)" }.sorted().joined(separator: "\n")
    switch error.code {
    case .ambiguous:
      self.init(
        Exit.usage, "'\(error.text)' matches \(error.candidates.count) sessions",
        advice: "use the first digits of one:\n\(list)")
    case .unknown:
      self.init(
        Exit.no, "the journal has no session, correlation or envelope '\(error.text)'",
        advice: error.candidates.isEmpty
          ? "the journal contains no session; start one with `widgetlab reload --all`"
          : "use a session or the first digits of its correlation id:\n\(list)")
    }
  }
}
