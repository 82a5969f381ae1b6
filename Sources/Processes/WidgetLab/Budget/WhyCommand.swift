import ArgumentParser
import Conversations
import Foundation
import Journal

/// `widgetlab why`.
struct WhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Tells the story of one reload: who asked, what the budget said, and what came of it.",
    discussion: """
      A reload's number stands in `widgetlab budget PLACEMENT` and in the notes of `budget.decided` in the tail.

      EXAMPLES
        widgetlab why 12
        widgetlab why 12 --json     because, asker, lines, outcome
      """)

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalPlace

  @Argument(help: "The reload's number.")
  var reload: Int

  @Flag(help: "One JSON object on a line; times are seconds since 1970.")
  var json = false

  func run() async throws {
    try await reporting {
      let envelopes = try place.reader(options).read(from: .beginning)
      guard let story = ReloadStory(reload, in: envelopes) else {
        throw Complaint(
          Exit.no, "the journal has no reload \(reload)", at: try place.folder(options),
          advice: "`widgetlab budget PLACEMENT` lists the reloads of a placed widget")
      }
      if json { return Output.say(String(decoding: try BodyCoding.data(story), as: UTF8.self)) }
      for line in story.text { Output.say(line) }
    }
  }
}

/// One reload, as the journal tells it.
struct ReloadStory: Encodable, Sendable {
  let reload: Int
  let placement: Int
  let widgetKind: String
  let because: ReloadCause
  /// The address of who asked for it, if somebody did.
  var asker: String?
  /// What the budget said, in order.
  var lines: [LedgerEntry]
  /// What came of it, in words.
  var outcome: String

  /// `nil` when the journal does not know it.
  init?<Envelopes: Sequence<Envelope>>(_ reload: Int, in envelopes: Envelopes) {
    var lines: [LedgerEntry] = []
    var asked: [UUID: Address] = [:]
    var asker: Address?
    var isAllowed = false
    var isAsking = false
    var outcome: String?
    for envelope in envelopes {
      switch envelope.header.kind {
      case ReloadTimelines.kind: asked[envelope.header.id] = envelope.header.source
      case BudgetDecided.kind:
        guard let line = envelope.reading(BudgetDecided.self)?.entry, line.reload == reload else { continue }
        lines.append(line)
        asker = asker ?? envelope.header.cause.flatMap { asked[$0] }
        isAllowed = line.verdict == .granted || line.verdict == .free
        (isAsking, outcome) = (false, nil)
      case RequestTimeline.kind where isAllowed:
        let request = envelope.reading(RequestTimeline.self)
        if request?.placement == lines.last?.placement, request?.purpose == .timeline { isAsking = true }
      case TimelineStored.kind where isAsking && outcome == nil:
        guard let stored = envelope.reading(TimelineStored.self), stored.placement == lines.last?.placement else {
          continue
        }
        outcome = "a timeline of \(stored.entries) entries, \(stored.bytes) bytes"
      case ReloadFailed.kind where isAsking && outcome == nil:
        guard let failed = envelope.reading(ReloadFailed.self), failed.placement == lines.last?.placement else {
          continue
        }
        let next = failed.nextTry.map { ", tried again at \(Amount.text($0))" } ?? ""
        outcome = "nothing: \(failed.reason)\(next)"
      default: continue
      }
    }
    guard let last = lines.last else { return nil }
    self.reload = reload
    placement = last.placement
    widgetKind = last.widgetKind
    because = last.because
    self.asker = asker?.short
    self.lines = lines
    self.outcome = outcome ?? Self.pending(last, isAsking)
  }

  private static func pending(_ last: LedgerEntry, _ isAsking: Bool) -> String {
    switch last.verdict {
    case .granted, .free:
      isAsking ? "nothing yet: the provider is being asked" : "nothing yet: its extension is awaited"
    case .delayed where Withholding(rawValue: last.rule) != nil: "nothing yet: it waits until the device is unlocked"
    case .delayed: "nothing yet: it waits until \(last.until.map(Amount.text) ?? "it can be paid")"
    case .merged: "nothing of its own: a newer reload of the placement stands for it"
    case .refused: "nothing: it was refused"
    }
  }

  var text: [String] {
    var table = TextTable(headings: ["WHEN", "DECIDED"])
    table.rows = lines.map { [Amount.text($0.date), $0.text] }
    let who = asker.map { ", asked for by \($0)" } ?? ""
    return ["reload \(reload) of placement \(placement) (\(widgetKind)): because of \(because.rawValue)\(who)"]
      + table.lines + ["outcome: \(outcome)"]
  }
}
