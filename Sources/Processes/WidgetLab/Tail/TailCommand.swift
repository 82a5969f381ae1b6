// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import Journal
import JournalAnalysis
import Messages

/// `widgetlab tail`.
struct TailCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tail",
    abstract: "Prints every envelope from the journal of the bus, and follows it.",
    discussion: """
      Prints the existing journal, then each line as it is written, until Ctrl-C. With --no-follow it stops at the \
      current end of the journal; so do --until, --around and --journal, unless --follow is given. It only reads \
      files, so that it continues whichever process exits, the bus included. No sequence number is repeated or \
      skipped. A gap in the numbers is caused by your filter, by the removal of old segments when the journal is over \
      its limit (`journal.trimmed`), or by a power failure that took the end of the journal (`bus.started`).

      Columns: seconds since the first line and since the previous line, sequence, a mark (^ process started, ! \
      process exited, x refused), sender and receiver, their generations, the kind, the first digits of the \
      correlation id, and a note.

      A line with a question mark names a mistake in an author's code (see `widgetlab diagnose`), once for each cause, \
      below the envelope that shows it. A filter that hides the envelope also hides this line. In JSON it is \
      {"diagnosis":{…}}. By default it is omitted in JSON, and with --around and --exit-when.

      EXAMPLES
        widgetlab tail                                     everything
        widgetlab tail --since 5m --kind 'transfer.*' --kind 'session.*'
        widgetlab tail --since 13:05 --until 13:06:30      90 seconds
        widgetlab tail --around 4711 --context 20          the context of an envelope
        widgetlab tail --where 'kind == transfer.* && session == "daily"'
        widgetlab tail --where 'mark == exit || to == host && attempt > 0'
        widgetlab tail --columns time,kind,from,note --color never
        widgetlab tail --journal ~/copied/journal          from another machine
        widgetlab tail --no-follow --output json           one object per line

      FOR SCRIPTS
      Exit code 0 as soon as an envelope matches, which is the last line printed; 1 at the timeout or the end of the \
      journal. Existing entries count too, unless --since now is given.

        widgetlab tail --since now --timeout 60 --output json \\
          --exit-when 'kind == session.acknowledged && session == "daily"'

      \(FilterExpression.lesson)
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case pretty
    case json
  }

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalLocation

  @Flag(name: [.customShort("f"), .customLong("follow")], inversion: .prefixedNo, help: "Wait for new entries.")
  var follow: Bool?

  @Option(help: "Start at this point: \(JournalFilter.Moment.forms).")
  var since: String?

  @Option(help: "End at this point, in the same forms.")
  var until: String?

  @Option(help: ArgumentHelp("Only the lines around this sequence number.", valueName: "sequence"))
  var around: UInt64?

  @Option(help: ArgumentHelp("The number of lines before and after --around.", valueName: "lines"))
  var context = 10

  @Option(help: "Only kinds that match this glob, and their replies; may be repeated.")
  var kind: [String] = []

  @Option(help: "Only envelopes from, to or about an address that matches this glob; may be repeated.")
  var address: [String] = []

  @Option(help: ArgumentHelp("Only envelopes that match; see EXPRESSIONS.", valueName: "expression"))
  var `where`: String?

  @Option(help: ArgumentHelp("Exit with code 0 at the first envelope that matches.", valueName: "expression"))
  var exitWhen: String?

  @Option(help: ArgumentHelp("With --exit-when: exit with code 1 after this time.", valueName: "seconds"))
  var timeout: Double?

  @Option(help: "pretty or json.")
  var output = Format.pretty

  @Flag(inversion: .prefixedNo, help: "Report mistakes in the authors' code.")
  var diagnoses: Bool?

  @Option(help: ArgumentHelp("The columns, in this order: \(TailColumn.names).", valueName: "list"))
  var columns: String?

  @Option(help: "auto (a terminal without NO_COLOR), always or never.")
  var color = ColorPolicy.auto

  @Option(help: "The first column: rel (seconds since the first line) or wall (time of day, UTC).")
  var time = TailLines.Clock.relative

  func validate() throws {
    for text in [since, until].compactMap(\.self) where JournalFilter.Moment(text) == nil {
      throw ValidationError("'\(text)' is not a point in the journal; use \(JournalFilter.Moment.forms).")
    }
    _ = try self.where.map { try FilterExpression(argument: $0, of: "--where") }
    _ = try exitWhen.map { try FilterExpression(argument: $0, of: "--exit-when") }
    _ = try columns.map(TailColumn.list)
    if let timeout, !(0...1e9).contains(timeout) { throw ValidationError("--timeout: seconds, 0 or more.") }
    if timeout != nil, exitWhen == nil { throw ValidationError("--timeout needs --exit-when.") }
    if !(0...1_000_000).contains(context) { throw ValidationError("--context: lines, from 0 to 1000000.") }
    if around != nil, since != nil || until != nil || exitWhen != nil {
      throw ValidationError("--around cannot be combined with --since, --until or --exit-when.")
    }
  }

  func run() async throws {
    try await reporting {
      let now = Timestamp.now
      let filter = try filter(now: now)
      let reader = try reader()
      let verdict = try await printer(filter, now: now).run(
        reader, from: start(filter), follows: follows, limit: limit(filter, now: now))
      try judge(verdict)
    }
  }

  /// Whether it waits for new entries.
  var follows: Bool { follow ?? (until == nil && around == nil && place.journal == nil) }

  private func reader() throws -> JournalReader {
    let folder = try place.folder(options)
    if !follows { return try place.reader(options) }
    if !FileManager.default.fileExists(atPath: folder) {
      Output.printError("widgetlab: the journal is empty; waiting for \(folder)")
    }
    return JournalReader(folder: URL(fileURLWithPath: folder))
  }

  func filter(now: Timestamp) throws -> JournalFilter {
    JournalFilter(
      kinds: kind, addresses: address, since: since.flatMap { JournalFilter.Moment($0)?.fixed(now: now) },
      until: until.flatMap { JournalFilter.Moment($0)?.fixed(now: now) },
      expression: try self.where.map { try FilterExpression(argument: $0, of: "--where", now: now) })
  }

  func printer(
    _ filter: JournalFilter, now: Timestamp, emit: (@Sendable (String) -> Void)? = nil
  ) throws -> TailPrinter {
    TailPrinter(
      format: output,
      lines: TailLines(
        clock: time, columns: try columns.map(TailColumn.list) ?? TailColumn.usual, isColored: color.isColored),
      filter: filter, exitWhen: try exitWhen.map { try FilterExpression(argument: $0, of: "--exit-when", now: now) },
      around: around.map { TailPrinter.Around(sequence: $0, context: context) },
      diagnostician: diagnoses ?? (output == .pretty && around == nil && exitWhen == nil) ? Diagnostician() : nil,
      isColored: color.isColored, emit: emit)
  }

  /// With a filter, the lines before the middle may be far back in the journal.
  func start(_ filter: JournalFilter) -> JournalPosition {
    guard let around else { return filter.start }
    guard kind.isEmpty, address.isEmpty, self.where == nil else { return .beginning }
    return .sequence(around > UInt64(context) ? around - UInt64(context) : 1)
  }

  /// How long to continue: the timeout, or until a time in the future.
  private func limit(_ filter: JournalFilter, now: Timestamp) -> Duration? {
    if let timeout { return .saturating(seconds: timeout) }
    guard follows, case .time(let end) = filter.until else { return nil }
    return .microseconds(max(0, end.microseconds - now.microseconds))
  }

  private func judge(_ verdict: TailPrinter.Verdict) throws {
    switch verdict {
    case .matched: return
    case .missing:
      throw CommandError(
        Exit.no, "this journal has no envelope \(around ?? 0)", at: try place.folder(options),
        advice: "`widgetlab tail --no-follow --columns sequence,time,kind` lists them")
    case .ended, .goOn:
      guard let exitWhen else { return }
      let time = verdict == .goOn ? timeout.map { "within \($0) s" } ?? "in time" : "until the end of the journal"
      throw CommandError(Exit.no, "no envelope matched \(time)", at: exitWhen)
    }
  }
}

extension TailLines.Clock: ExpressibleByArgument {}

extension FilterExpression {
  /// Parses the argument of an option.
  ///
  /// - Throws: a validation error that the argument parser prints, with exit code 64.
  init(argument text: String, of option: String, now: Timestamp = .now) throws {
    do {
      self = try FilterExpression(text, now: now)
    } catch {
      throw ValidationError("\(option): \(error)")
    }
  }
}

/// The journal that a command reads: that of an instance, or a copied one.
struct JournalLocation: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A journal that was copied from elsewhere: its folder, the instance folder, one file of it (a segment), or the \
      failure file of a campaign (`widgetlab chaos`). No cluster needs to run.
      """, valueName: "path"))
  var journal: String?

  /// Returns the folder of the segments, or the file of one. It may not exist yet, unless it was given explicitly.
  ///
  /// - Throws: a command error when what was given does not exist, or is a file of something else.
  func folder(_ options: InstanceOptions, reading: Bool = true) throws -> String {
    guard let journal else { return InstanceFolder(try options.folder(reading: reading)).journal }
    let path = URL(fileURLWithPath: journal).standardizedFileURL.path
    let inside = InstanceFolder(path).journal
    if isFolder(inside) { return inside }
    if let extracted = try ChaosFailure.journal(in: path) { return extracted }
    guard FileManager.default.fileExists(atPath: path) else {
      throw CommandError(
        Exit.unavailable, "no such folder or file", at: path, advice: "give the folder of the segments, or one segment")
    }
    guard isFolder(path) || JournalReader.isSegment(URL(fileURLWithPath: path)) else {
      throw CommandError(
        Exit.unavailable, "this file is not a segment of a journal", at: path,
        advice: "give a file of the folder `journal` of an instance, or that folder")
    }
    return path
  }

  /// Returns a reader of an existing journal.
  ///
  /// - Throws: a command error when the journal does not exist yet.
  func reader(_ options: InstanceOptions, reading: Bool = true) throws -> JournalReader {
    let folder = try folder(options, reading: reading)
    guard FileManager.default.fileExists(atPath: folder) else {
      throw CommandError(
        Exit.unavailable, "the journal does not exist", at: folder,
        advice:
          "start the instance with `widgetlab up`, or give a copied one with --journal\(InstanceOptions.adviceToName)")
    }
    return JournalReader(folder: URL(fileURLWithPath: folder))
  }

  private func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
