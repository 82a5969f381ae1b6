import Archive
import Conversations
import Foundation

@testable import Timelines

let app = Address.app("iphone", "com.example.Coffee")
let widget = Address.widgetExtension("iphone", "com.example.Coffee.Widget")
let other = Address.widgetExtension("iphone", "org.other.Widget")
let person = Address.operator("1")
/// Nine in the morning: the hours of `standard` pay.
let origin = Date(timeIntervalSince1970: 1_000_026_000)

/// A decision with its time, and its answers in words.
struct Bench {
  var decision: TimelineDecision
  var now = origin

  init(_ settings: TimelineSettings = TimelineSettings(), _ policy: BudgetPolicy = BudgetPolicy()) {
    decision = TimelineDecision(extensions: [widget, other], settings: settings, policy: policy)
  }

  /// One placement of one kind, whose first timeline has come.
  static func placed(
    _ settings: TimelineSettings = TimelineSettings(), _ policy: BudgetPolicy = BudgetPolicy(),
    policyOfTimeline: ReloadPolicy = .never, dates: [Double] = [0]
  ) -> Bench {
    var bench = Bench(settings, policy)
    bench.knows(["Coffee"])
    bench.place(1)
    bench.giveAll(policyOfTimeline, dates)
    return bench
  }

  @discardableResult
  mutating func take(_ event: TimelineDecision.Event) -> [String] {
    decision.take(event, now: now).map(\.words)
  }

  mutating func knows(_ kinds: [String], _ address: Address = widget) {
    take(.knows(address, Dictionary(uniqueKeysWithValues: kinds.map { ($0, .systemSmall) })))
  }

  @discardableResult
  mutating func place(_ id: Int, kind: String = "Coffee", configuration: [String: ArchivedValue] = [:]) -> [String] {
    take(.placed(placement(id, kind, configuration), .none))
  }

  func placement(_ id: Int, _ kind: String = "Coffee", _ configuration: [String: ArchivedValue] = [:]) -> Placement {
    Placement(
      id: id, bundle: widget.bundleIdentifier ?? "", kind: kind, family: .systemSmall, location: .homeScreen,
      configuration: configuration)
  }

  @discardableResult
  mutating func reload(_ source: Address = person, _ kind: String? = "Coffee", isInside: Bool = false) -> [String] {
    take(.reload(from: source, kind: kind, isInside: isInside, .none))
  }

  /// Answers all that is asked of the extension.
  @discardableResult
  mutating func giveAll(_ policy: ReloadPolicy = .never, _ dates: [Double] = [0]) -> [String] {
    var words = take(.awake(widget))
    while let question = decision.asking[widget] {
      words += question.purpose == .timeline ? give(policy, dates) : take(.answered(question))
    }
    return words
  }

  /// A timeline of entries so many seconds from now.
  @discardableResult
  mutating func give(_ policy: ReloadPolicy = .never, _ dates: [Double] = [0]) -> [String] {
    guard let question = decision.asking[widget] else { return ["nothing is asked"] }
    let entries = dates.map { UpcomingEntry(date: now + $0, text: ["\($0)"], relevance: nil) }
    let facts = TimelineFacts(
      because: question.because, entries: dates.count, first: entries[0].date, last: entries[dates.count - 1].date,
      policy: policy, bytes: 1, digest: "", note: nil)
    return take(.gave(question, facts, entries))
  }

  @discardableResult
  mutating func fail(_ failure: ReloadFailed.Failure = .failed) -> [String] {
    guard let question = decision.asking[widget] else { return ["nothing is asked"] }
    return take(.failed(question, failure, reason: "it failed"))
  }

  mutating func pass(_ seconds: Double) { now += seconds }

  /// Goes to the next instant that is due.
  @discardableResult
  mutating func next() -> [String] {
    guard let instant = decision.nextInstant else { return ["nothing is due"] }
    now = max(now, instant)
    return take(.instantCame)
  }

  /// Seconds until the next instant.
  var due: Double? { decision.nextInstant.map { ($0.timeIntervalSince(now) * 1000).rounded() / 1000 } }
}

extension TimelineDecision.Answer {
  var words: String {
    switch self {
    case .intent(.wantAwake(let address, _)): "want \(address.tail)"
    case .intent(.release(let address, _)): "release \(address.tail)"
    case .intent(.halt(let address, _)): "halt \(address.tail)"
    case .intent(.broken): "broken"
    case .intent(.relevanceChanged): "relevance"
    case .intent(.pushed(let placement, let pushed)): "push \(pushed.push.short) at \(placement): \(pushed.state.words)"
    case .ask(let question): "ask \(question.placement.id) \(question.placement.kind) \(question.purpose)"
    case .stopAsking(let address): "stop \(address.tail)"
    case .decided(let line, _): "\(line.verdict) \(line.reload) of \(line.placement): \(line.because), \(line.rule)"
    case .shown(let shown, _): "shown \(shown.placement): \(shown.text.joined())"
    case .gaveUp(let failed, _): "failed \(failed.widgetKind): \(failed.reason)"
    case .noSnapshot(_, let reason): "no snapshot: \(reason)"
    }
  }
}

extension PushedReload.State {
  var words: String {
    switch self {
    case .owed: "owed"
    case .delayed(let rule, _): "delayed, \(rule)"
    case .refused(let rule): "refused, \(rule)"
    case .stored: "stored"
    case .failed(let reason): "failed, \(reason)"
    case .gaveUp(let reason): "gave up, \(reason)"
    case .superseded: "superseded"
    }
  }
}

extension UUID {
  /// A push of a test: `push(3)` reads `3`.
  static func push(_ number: Int) -> UUID {
    UUID(uuidString: "00000000-0000-0000-0000-\(String(1_000_000_000_000 + number).dropFirst())") ?? UUID()
  }
  var short: String { "\(Int(uuidString.suffix(12)) ?? -1)" }
}

extension Address {
  fileprivate var tail: String { self == widget ? "widget" : self == other ? "other" : text }
}
