// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

@testable import Device
@testable import DeviceRules

/// The processes of the tests of timelines, and their first date.
enum TimelineSamples {
  static let app = Address.app("iphone", "com.example.Coffee")
  static let widget = Address.widgetExtension("iphone", "com.example.Coffee.Widget")
  static let other = Address.widgetExtension("iphone", "org.other.Widget")
  /// Nine in the morning, when the `standard` policy accrues.
  static let origin = Date(timeIntervalSince1970: 1_000_026_000)
}

private let widget = TimelineSamples.widget
private let other = TimelineSamples.other
private let origin = TimelineSamples.origin
let person = Address.operator("1")

/// A state machine with its current date. Its actions are returned as text.
struct TimelineFixture {
  var stateMachine: TimelineStateMachine
  var now = origin

  init(_ settings: TimelineSettings = TimelineSettings(), _ policy: BudgetPolicy = BudgetPolicy()) {
    stateMachine = TimelineStateMachine(extensions: [widget, other], settings: settings, policy: policy)
  }

  /// Returns a fixture with one placement whose first timeline was stored.
  static func placed(
    _ settings: TimelineSettings = TimelineSettings(), _ policy: BudgetPolicy = BudgetPolicy(),
    policyOfTimeline: ReloadPolicy = .never, dates: [Double] = [0]
  ) -> TimelineFixture {
    var fixture = TimelineFixture(settings, policy)
    fixture.kindsReported(["Coffee"])
    fixture.place(1)
    fixture.giveAll(policyOfTimeline, dates)
    return fixture
  }

  @discardableResult
  mutating func handle(_ event: TimelineStateMachine.Event) -> [String] {
    stateMachine.handle(event, now: now).map(\.words)
  }

  mutating func kindsReported(_ kinds: [String], _ address: Address = TimelineSamples.widget) {
    handle(.kindsReported(address, Dictionary(uniqueKeysWithValues: kinds.map { ($0, .systemSmall) })))
  }

  @discardableResult
  mutating func place(_ id: Int, kind: String = "Coffee", configuration: [String: ArchivedValue] = [:]) -> [String] {
    handle(.placed(placement(id, kind: kind, configuration: configuration), .none))
  }

  func placement(_ id: Int, kind: String = "Coffee", configuration: [String: ArchivedValue] = [:]) -> Placement {
    Placement(
      id: id, bundle: widget.bundleIdentifier ?? "", kind: kind, family: .systemSmall, location: .homeScreen,
      configuration: configuration)
  }

  @discardableResult
  mutating func reload(_ source: Address = person, _ kind: String? = "Coffee", isInside: Bool = false) -> [String] {
    handle(.reload(from: source, kind: kind, isInside: isInside, .none))
  }

  /// Replies to all requests to the extension.
  @discardableResult
  mutating func giveAll(_ policy: ReloadPolicy = .never, _ dates: [Double] = [0]) -> [String] {
    var words = handle(.awake(widget))
    while let asked = stateMachine.outstanding[widget] {
      words += asked.purpose == .timeline ? give(policy, dates) : handle(.answered(asked))
    }
    return words
  }

  /// Replies with a timeline whose entries have the given offsets in seconds from the current date.
  @discardableResult
  mutating func give(_ policy: ReloadPolicy = .never, _ dates: [Double] = [0]) -> [String] {
    guard let providerRequest = stateMachine.outstanding[widget] else { return ["nothing is asked"] }
    // The same view: no entry is animated.
    let transition = EntryTransition(.text(""), Data())
    let entries = dates.map {
      UpcomingEntry(date: now + $0, text: ["\($0)"], relevance: nil, transition: transition)
    }
    let facts = TimelineFacts(
      reloadCause: providerRequest.reloadCause, entries: dates.count, first: entries[0].date,
      last: entries[dates.count - 1].date,
      policy: policy, bytes: 1, digest: "", note: nil)
    return handle(.gave(providerRequest, facts, entries))
  }

  @discardableResult
  mutating func fail(_ failure: ReloadFailed.Failure = .failed) -> [String] {
    guard let asked = stateMachine.outstanding[widget] else { return ["nothing is asked"] }
    return handle(.failed(asked, TimelineFault(failure, "it failed")))
  }

  mutating func pass(_ seconds: Double) { now += seconds }

  /// Advances to the next due date and handles it.
  @discardableResult
  mutating func next() -> [String] {
    guard let instant = stateMachine.nextInstant else { return ["nothing is due"] }
    now = max(now, instant)
    return handle(.timerFired)
  }

  /// Seconds until the next due date.
  var due: Double? { stateMachine.nextInstant.map { ($0.timeIntervalSince(now) * 1000).rounded() / 1000 } }
}

extension [TimelineStateMachine.ProviderRequest] {
  /// The first request to an extension.
  subscript(_ address: Address) -> Element? { first { $0.address == address } }
}

extension TimelineStateMachine.Action {
  var words: String {
    switch self {
    case .asks(.process(.want(let address, _, _))): "want \(address.tail)"
    case .asks(.process(.release(let address, _))): "release \(address.tail)"
    case .asks(.process(.halt(let address, _))): "halt \(address.tail)"
    case .asks(.process(.evict(let address, _, _))): "evict \(address.tail)"
    case .asks(.relevanceChanged): "relevance"
    case .asks(.reported(let report)): "push \(report.push.short) at \(report.placement): \(report.outcome.words)"
    case .asks(let request): "\(request)"
    case .ask(let providerRequest):
      "ask \(providerRequest.placement.id) \(providerRequest.placement.kind) \(providerRequest.purpose)"
    case .stopAsking(let providerRequest): "stop \(providerRequest.address.tail)"
    case .decided(let decided, _):
      "\(decided.entry.verdict) \(decided.entry.reload) of \(decided.entry.placement): \(decided.entry.because), "
        + decided.entry.rule
    case .shown(let shown, _): "shown \(shown.placement): \(shown.text.joined())"
    case .reloadFailed(let failed, _): "failed \(failed.widgetKind): \(failed.reason)"
    case .noSnapshot(_, let reason): "no snapshot: \(reason)"
    }
  }
}

extension ReloadOutcome {
  var words: String {
    switch self {
    case .pending: "pending"
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
  /// The id of a test push. `push(3).short` is `3`.
  static func push(_ number: Int) -> UUID {
    UUID(uuidString: "00000000-0000-0000-0000-\(String(1_000_000_000_000 + number).dropFirst())") ?? UUID()
  }
  var short: String { "\(Int(uuidString.suffix(12)) ?? -1)" }
}

extension Address {
  fileprivate var tail: String { self == widget ? "widget" : self == other ? "other" : text }
}
