import ArgumentParser
import Cluster
import Conversations
import Foundation
import Journal

/// `widgetlab tail`.
struct TailCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tail",
    abstract: "Prints every envelope, birth and death from the journal of the bus, and follows it.",
    discussion: """
      First what is there already, then each line as it happens, until Ctrl-C (--no-follow: until the end of what is there \
      now, which is also where --until, --around and --journal end unless you say --follow). It reads files and asks nobody, \
      so that it goes on over the death of every process, the bus included, and no sequence number is repeated or skipped. \
      A gap in the numbers is a filter of yours, and nothing else.

      The columns: seconds since the first line and since the line before, sequence, a mark (^ birth, ! death, x refused), \
      sender and receiver, their generations, the kind, the first digits of the story's correlation, and what it says.

      A line with a question mark names a mistake in an author's code (see `widgetlab diagnose`), once for each cause, below \
      the envelope by which it became true; a filter that hides the one hides the other. In JSON it is {"diagnosis":{…}}. \
      Usually it is left out of JSON, and with --around and --exit-when.

      EXAMPLES
        widgetlab tail                                     everything
        widgetlab tail --since 5m --kind 'transfer.*' --kind 'session.*'
        widgetlab tail --since 13:05 --until 13:06:30      that minute and a half
        widgetlab tail --around 4711 --context 20          what happened there
        widgetlab tail --where 'kind == transfer.* && session == "daily"'
        widgetlab tail --where 'mark == death || to == host && attempt > 0'
        widgetlab tail --columns time,kind,from,note --color never
        widgetlab tail --journal ~/copied/journal          from another machine
        widgetlab tail --no-follow --output json           one object per line

      FOR SCRIPTS
      Exit code 0 as soon as an envelope matches, which is the last line; 1 when the time is over or the journal ends. What \
      is in the journal already counts too, unless you say --since now.

        widgetlab tail --since now --timeout 60 --output json \\
          --exit-when 'kind == session.acknowledged && session == "daily"'

      \(FilterExpression.lesson)
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case pretty
    case json
  }

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalPlace

  @Flag(name: [.customShort("f"), .customLong("follow")], inversion: .prefixedNo, help: "Go on with what comes.")
  var follow: Bool?

  @Option(help: "Begin here: \(TailFilter.Moment.forms).")
  var since: String?

  @Option(help: "End here, in the same forms.")
  var until: String?

  @Option(help: ArgumentHelp("Only what stands around this number.", valueName: "sequence"))
  var around: UInt64?

  @Option(help: ArgumentHelp("How many lines before and after --around.", valueName: "lines"))
  var context = 10

  @Option(help: "Only kinds that match this glob, with their answers; may be given again.")
  var kind: [String] = []

  @Option(help: "Only envelopes from, to or about an address that matches this glob; may be given again.")
  var address: [String] = []

  @Option(help: ArgumentHelp("Only envelopes for which this holds; see EXPRESSIONS.", valueName: "expression"))
  var `where`: String?

  @Option(help: ArgumentHelp("End with exit code 0 at the first for which this holds.", valueName: "expression"))
  var exitWhen: String?

  @Option(help: ArgumentHelp("With --exit-when: how long to wait for it, then exit code 1.", valueName: "seconds"))
  var timeout: Double?

  @Option(help: "pretty or json.")
  var output = Format.pretty

  @Flag(inversion: .prefixedNo, help: "Name mistakes in the authors' code.")
  var diagnoses: Bool?

  @Option(help: ArgumentHelp("Which, in this order: \(TailColumn.names).", valueName: "list"))
  var columns: String?

  @Option(help: "auto (a terminal without NO_COLOR), always or never.")
  var color = ColourPolicy.auto

  @Option(help: "The first column: rel (seconds since the first line) or wall (time of day, UTC).")
  var time = TailLines.Clock.relative

  func validate() throws {
    for text in [since, until].compactMap(\.self) where TailFilter.Moment(text) == nil {
      throw ValidationError("'\(text)' is no point in the journal; say \(TailFilter.Moment.forms).")
    }
    _ = try self.where.map { try FilterExpression(argument: $0, of: "--where") }
    _ = try exitWhen.map { try FilterExpression(argument: $0, of: "--exit-when") }
    _ = try columns.map(TailColumn.list)
    if let timeout, !(0...1e9).contains(timeout) { throw ValidationError("--timeout: seconds, 0 or more.") }
    if timeout != nil, exitWhen == nil { throw ValidationError("--timeout: how long for what? Add --exit-when.") }
    if !(0...1_000_000).contains(context) { throw ValidationError("--context: lines, from 0 to 1000000.") }
    if around != nil, since != nil || until != nil || exitWhen != nil {
      throw ValidationError("--around says where to look; leave --since, --until and --exit-when out.")
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

  /// Whether it waits for what is written from now on.
  var follows: Bool { follow ?? (until == nil && around == nil && place.journal == nil) }

  private func reader() throws -> JournalReader {
    let folder = try place.folder(options)
    if !follows { return try place.reader(options) }
    if !FileManager.default.fileExists(atPath: folder) {
      Output.complain("widgetlab: nothing has gone over this bus yet; waiting for \(folder)")
    }
    return JournalReader(folder: URL(fileURLWithPath: folder))
  }

  func filter(now: Timestamp) throws -> TailFilter {
    TailFilter(
      kinds: kind, addresses: address, since: since.flatMap { TailFilter.Moment($0)?.fixed(now: now) },
      until: until.flatMap { TailFilter.Moment($0)?.fixed(now: now) },
      expression: try self.where.map { try FilterExpression(argument: $0, of: "--where", now: now) })
  }

  func printer(
    _ filter: TailFilter, now: Timestamp, emit: @escaping @Sendable (String) -> Void = Output.say
  ) throws -> TailPrinter {
    TailPrinter(
      format: output,
      lines: TailLines(
        clock: time, columns: try columns.map(TailColumn.list) ?? TailColumn.usual, isColourful: color.isColourful),
      filter: filter, exitWhen: try exitWhen.map { try FilterExpression(argument: $0, of: "--exit-when", now: now) },
      around: around.map { TailPrinter.Around(sequence: $0, context: context) },
      diagnostician: diagnoses ?? (output == .pretty && around == nil && exitWhen == nil) ? Diagnostician() : nil,
      isColourful: color.isColourful, emit: emit)
  }

  /// A filter may have to go far back for the lines before the middle.
  func start(_ filter: TailFilter) -> JournalPosition {
    guard let around else { return filter.start }
    guard kind.isEmpty, address.isEmpty, self.where == nil else { return .beginning }
    return .sequence(around > UInt64(context) ? around - UInt64(context) : 1)
  }

  /// How long to go on: the time-out, or until a time that is to come.
  private func limit(_ filter: TailFilter, now: Timestamp) -> Duration? {
    if let timeout { return .seconds(timeout) }
    guard follows, case .time(let end) = filter.until else { return nil }
    return .microseconds(max(0, end.microseconds - now.microseconds))
  }

  private func judge(_ verdict: TailPrinter.Verdict) throws {
    switch verdict {
    case .matched: return
    case .missing:
      throw Complaint(
        Exit.no, "there is no envelope \(around ?? 0) in this journal", at: try place.folder(options),
        advice: "see which there are with `widgetlab tail --no-follow --columns sequence,time,kind`")
    case .ended, .goOn:
      guard let exitWhen else { return }
      let time = verdict == .goOn ? timeout.map { "within \($0) s" } ?? "in time" : "to the end of the journal"
      throw Complaint(Exit.no, "no envelope matched \(time)", at: exitWhen)
    }
  }
}

extension TailLines.Clock: ExpressibleByArgument {}

extension FilterExpression {
  /// Reads the argument of an option.
  ///
  /// - Throws: what the parser of arguments prints, with exit code 64.
  init(argument text: String, of option: String, now: Timestamp = .now) throws {
    do {
      self = try FilterExpression(text, now: now)
    } catch {
      throw ValidationError("\(option): \(error)")
    }
  }
}
