import ArgumentParser
import Conversations
import Foundation
import Journal

/// `widgetlab trace`.
struct TraceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trace",
    abstract: "Tells the whole story of one background session, over all lives of its owner, and where the time went.",
    discussion: """
      Every step that carries the session's story, what led to it, and in between the spawns, births, deaths, stops and \
      resumes of its owner and the deaths of host, agent and bus. Each step says what it waited for (AFTER: the number of \
      the envelope that it names as its cause, else what its process did or heard last) and for how long.

      It reads the journal, so that it works when everything is dead, or on another machine.

      EXAMPLES
        widgetlab trace                        the sessions that there are
        widgetlab trace com.example.figures    a session by its identifier
        widgetlab trace 3fa94c                 a story by its CORR in the tail
        widgetlab trace 3fa94c --output json   one JSON object
        widgetlab trace 3fa94c --output mermaid > story.mmd
        widgetlab trace daily --since 5m       the last download of many
        widgetlab trace daily --journal ~/copied/journal

      An envelope's id will do as well. --output mermaid is a sequence diagram of under 50,000 characters; a longer story \
      loses its middle, and says so.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case pretty, json, mermaid
  }

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalPlace

  @Argument(help: "A session's identifier, or the first digits of a correlation or of an envelope's id.")
  var story: String?

  @Option(help: "Only what was said from here on: \(TailFilter.Moment.forms).")
  var since: String?

  @Option(help: "Only what was said up to here, in the same forms.")
  var until: String?

  @Option(help: "pretty, json or mermaid.")
  var output = Format.pretty

  @Option(help: "auto (a terminal without NO_COLOR), always or never.")
  var color = ColourPolicy.auto

  func validate() throws {
    for text in [since, until].compactMap(\.self) where TailFilter.Moment(text) == nil {
      throw ValidationError("'\(text)' is no point in the journal; say \(TailFilter.Moment.forms).")
    }
  }

  func run() async throws {
    try await reporting {
      let now = Timestamp.now
      let range = TailFilter(
        since: since.flatMap { TailFilter.Moment($0)?.fixed(now: now) },
        until: until.flatMap { TailFilter.Moment($0)?.fixed(now: now) })
      let envelopes = try place.reader(options).read(from: range.start).filter { range.place($0.header) == .inside }
      guard let story else { return try list(TraceSubject.sessions(in: envelopes)) }
      let trace = Trace(try TraceSubject(story, in: envelopes), in: envelopes)
      switch output {
      case .pretty: for line in trace.lines(isColourful: color.isColourful) { Output.say(line) }
      case .json: try Output.json(trace.report)
      case .mermaid: Output.say(trace.mermaid)
      }
    }
  }

  private func list(_ sessions: [TraceSubject]) throws {
    guard !sessions.isEmpty else {
      throw Complaint(
        Exit.no, "no session was ever opened", at: try place.folder(options),
        advice: "start one with `widgetlab reload --all`")
    }
    var table = TextTable(headings: ["CORR", "SESSION", "OWNER"])
    table.rows = sessions.map {
      [$0.correlation.map { String($0.digits.prefix(6)) } ?? "-", $0.session ?? "-", $0.owner?.short ?? "-"]
    }
    for line in table.lines { Output.say(line) }
  }
}
