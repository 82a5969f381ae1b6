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
      now). It reads files and asks nobody, so that it goes on over the death of every process, the bus included, and no \
      sequence number is repeated or skipped. A gap in the numbers is a filter of yours, and nothing else.

      The columns: seconds since the first line and since the line before, sequence, a mark (^ birth, ! death, x refused), \
      sender and receiver, their generations, the kind, the first digits of the story's correlation, and what it says.

      EXAMPLES
        widgetlab tail                                     everything
        widgetlab tail --since 5m --kind 'transfer.*' --kind 'session.*'
        widgetlab tail --since seq:4711 --until seq:4800   those, and no more
        widgetlab tail --address 'extension/*'             what extensions do
        widgetlab tail --no-follow --output json         one object per line
        widgetlab tail --where 'kind == transfer.* && session == "daily"'
        widgetlab tail --where 'mark == death || to == host && attempt > 0'

      \(FilterExpression.lesson)
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case pretty
    case json
  }

  @OptionGroup var options: InstanceOptions

  @Flag(name: [.customShort("f"), .customLong("follow")], inversion: .prefixedNo, help: "Go on with what comes.")
  var follow = true

  @Option(help: "Begin here: \(TailFilter.Moment.forms).")
  var since: String?

  @Option(help: "End here, in the same forms.")
  var until: String?

  @Option(help: "Only kinds that match this glob, with their answers; may be given again.")
  var kind: [String] = []

  @Option(help: "Only envelopes from, to or about an address that matches this glob; may be given again.")
  var address: [String] = []

  @Option(help: ArgumentHelp("Only envelopes for which this holds; see EXPRESSIONS.", valueName: "expression"))
  var `where`: String?

  @Option(help: "pretty or json.")
  var output = Format.pretty

  @Option(help: "The first column: rel (seconds since the first line) or wall (time of day, UTC).")
  var time = TailLines.Clock.relative

  func validate() throws {
    for text in [since, until].compactMap(\.self) where TailFilter.Moment(text) == nil {
      throw ValidationError("'\(text)' is no point in the journal; say \(TailFilter.Moment.forms).")
    }
    if let text = self.where { _ = try FilterExpression(argument: text, of: "--where") }
  }

  func run() async throws {
    try await reporting {
      let folder = InstanceFolder(try options.folder()).journal
      if !FileManager.default.fileExists(atPath: folder) {
        guard follow else {
          throw Complaint(
            Exit.unavailable, "there is no journal", at: folder, advice: "start the instance with `widgetlab up`")
        }
        Output.complain("widgetlab: nothing has gone over this bus yet; waiting for \(folder)")
      }
      let now = Timestamp.now
      let filter = TailFilter(
        kinds: kind, addresses: address, since: since.flatMap { TailFilter.Moment($0)?.fixed(now: now) },
        until: until.flatMap { TailFilter.Moment($0)?.fixed(now: now) },
        expression: try self.where.map { try FilterExpression(argument: $0, of: "--where", now: now) })
      var printer = TailPrinter(format: output, clock: time, filter: filter)
      let reader = JournalReader(folder: URL(fileURLWithPath: folder))
      // A time in the past that ends the tail: nothing that comes can lie before it.
      var goesOn = follow
      if case .time = filter.until { goesOn = false }
      if goesOn {
        for try await envelope in reader.follow(from: filter.start) {
          guard printer.isGoingOn(after: envelope) else { return }
        }
      } else {
        var cursor = reader.cursor(from: filter.start)
        while let envelope = try cursor.next() {
          guard printer.isGoingOn(after: envelope) else { return }
        }
      }
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

/// Prints what a filter lets through.
struct TailPrinter {
  private let format: TailCommand.Format
  private let filter: TailFilter
  private var lines: TailLines
  private var hasBegun = false

  init(format: TailCommand.Format, clock: TailLines.Clock, filter: TailFilter) {
    self.format = format
    self.filter = filter
    self.lines = TailLines(clock: clock, isColourful: Output.isColourful)
  }

  /// Prints an envelope if it passes; `false` when all that follow lie behind the end.
  mutating func isGoingOn(after envelope: Envelope) -> Bool {
    switch filter.place(envelope.header) {
    case .before: return true
    case .after:
      // Clocks of several senders: a late one may stand before an earlier one, numbers may not.
      if case .sequence = filter.until { return false }
      return true
    case .inside: break
    }
    guard filter.passes(envelope) else { return true }
    switch format {
    case .json: Output.say(EnvelopeJSON.line(envelope))
    case .pretty:
      if !hasBegun { Output.say(Colour.faint(TailLines.heading, Output.isColourful)) }
      Output.say(lines.line(envelope))
    }
    hasBegun = true
    return true
  }
}

extension TailFilter {
  /// Where in the journal reading begins.
  var start: JournalPosition {
    switch since {
    case .sequence(let first): .sequence(first)
    case .time(let time): .time(time)
    case .ago, .timeOfDay, nil: .beginning
    }
  }
}
