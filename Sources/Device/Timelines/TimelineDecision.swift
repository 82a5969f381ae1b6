package import Conversations
package import Foundation

/// What Timelines asks of the rest of the host, in order.
package enum TimelineIntent: Sendable, Equatable {
  /// Have the extension run and keep it running until `release`; then say `awake`.
  case wantAwake(Address, because: String)
  case release(Address, because: String)
  /// The same, and have the extension suspended at once when nobody else wants it, in the middle of what it does.
  case halt(Address, because: String)
  /// The database of the room cannot be written any longer: the host must not go on.
  case broken(String)
}

/// Which reloads are owed, and which extension is asked for what: a plain value without clock or I/O.
///
/// Reloads of one kind that come while one is owed are one reload; one that comes while the extension is being asked
/// is owed again. An extension is asked for one kind at a time.
package struct TimelineDecision: Sendable {
  /// The name of the reason why an extension is kept awake.
  package static let assertion = "timeline"

  /// A reload that is owed.
  package struct Owed: Sendable, Equatable {
    /// How often it was asked for; an answer pays what was owed when the extension was asked.
    package var serial: Int
    /// The envelope that asked for it last, and its story.
    package var cause: UUID?
    package var correlation: UUID?
    /// Lives that ended while they were asked.
    package var deaths = 0

    package init(serial: Int, cause: UUID?, correlation: UUID?) {
      self.serial = serial
      self.cause = cause
      self.correlation = correlation
    }
  }

  /// One question to one extension.
  package struct Question: Sendable, Equatable {
    package let purpose: RequestTimeline.Purpose
    package let address: Address
    package let kind: String
    package let serial: Int
  }

  package enum Event: Sendable {
    /// The host begins: what was owed still is.
    case began
    case reload(from: Address, kind: String?, cause: UUID?, correlation: UUID?)
    /// Somebody waits for a snapshot under this number. That is not owed: whoever waits asks the host's next life again.
    case snapshot(kind: String, serial: Int)
    /// The extension said `ready` with the kinds that it has.
    case learned(Address, kinds: [String])
    case awake(Address)
    case lifeEnded(Address)
    case answered(Question)
    case failed(Question, reason: String)
    /// The time for an answer is over, which is so many seconds.
    case overran(Question, limit: Double)
  }

  package enum Answer: Sendable, Equatable {
    case intent(TimelineIntent)
    case ask(Question)
    /// The life that was asked is over: nobody waits for its answer any longer.
    case stopAsking(Address)
    /// A reload came to nothing.
    case gaveUp(bundle: String, kind: String, reason: String, Story)
    case noSnapshot(serial: Int, reason: String)
  }

  private let extensions: [Address]
  /// By extension. The empty kind stands for all.
  package private(set) var owed: [Address: [String: Owed]]
  package private(set) var kinds: [Address: [String]]
  private var asking: [Address: Question] = [:]
  /// By extension, in the order in which they were asked for. A kind that nobody is known to have is asked of all that
  /// never ran.
  private var snapshots: [Address: [Question]] = [:]

  package init(extensions: [Address], owed: [Address: [String: Owed]] = [:], kinds: [Address: [String]] = [:]) {
    self.extensions = extensions.sorted { $0.text < $1.text }
    self.owed = owed
    self.kinds = kinds
  }

  package mutating func take(_ event: Event) -> [Answer] {
    switch event {
    case .began: return extensions.filter { !isDone($0) }.map(want)
    case .reload(let source, let kind, let cause, let correlation):
      return reload(source, kind, Story(cause: cause, correlation: correlation))
    case .snapshot(let kind, let serial): return snapshot(kind, serial)
    case .learned(let address, let kinds):
      self.kinds[address] = kinds
      return []
    case .awake(let address): return isDone(address) ? [] : next(address)
    case .lifeEnded(let address): return lifeEnded(address)
    case .answered(let question):
      guard asking[question.address] == question else { return [] }
      pay(question)
      return next(question.address)
    case .failed(let question, let reason):
      guard asking[question.address] == question else { return [] }
      let story = story(question)
      pay(question)
      return [gaveUp(question, reason, story)] + next(question.address)
    case .overran(let question, let limit): return overran(question, limit)
    }
  }

  /// The extension is halted half-way, and asked for what else it owes when it goes on.
  private mutating func overran(_ question: Question, _ limit: Double) -> [Answer] {
    guard asking[question.address] == question else { return [] }
    let story = story(question)
    pay(question)
    let reason =
      "no \(question.purpose) within \(limit.formatted()) s: the extension is halted half-way, and the last timeline "
      + "stays"
    return [
      .stopAsking(question.address), gaveUp(question, reason, story),
      .intent(.halt(question.address, because: TimelineDecision.assertion)),
    ] + (isDone(question.address) ? [] : [want(question.address)])
  }

  /// The story that an answer belongs to.
  package func story(_ question: Question) -> Story {
    let owed = owed[question.address]?[question.kind]
    return Story(cause: owed?.cause, correlation: owed?.correlation)
  }

  /// Whether an extension is to be asked for nothing.
  private func isDone(_ address: Address) -> Bool {
    owed[address]?.isEmpty ?? true && snapshots[address]?.isEmpty ?? true
  }

  private func want(_ address: Address) -> Answer {
    .intent(.wantAwake(address, because: TimelineDecision.assertion))
  }

  private func gaveUp(_ address: Address, _ kind: String, _ reason: String, _ story: Story) -> Answer {
    .gaveUp(bundle: address.bundleIdentifier ?? address.short, kind: kind, reason: reason, story)
  }

  private func gaveUp(_ question: Question, _ reason: String, _ story: Story) -> Answer {
    switch question.purpose {
    case .timeline: gaveUp(question.address, question.kind, reason, story)
    case .snapshot: .noSnapshot(serial: question.serial, reason: reason)
    }
  }

  /// Whose timelines a process may ask for: its own bundle's, those of the extensions in its bundle; all, for the operator.
  private func targets(of source: Address) -> [Address] {
    switch source.role {
    case .operator: return extensions
    case .widgetExtension: return extensions.filter { $0 == source }
    default:
      let prefix = (source.bundleIdentifier ?? "") + "."
      return extensions.filter { $0.bundleIdentifier?.hasPrefix(prefix) == true && $0.device == source.device }
    }
  }

  private mutating func reload(_ source: Address, _ kind: String?, _ story: Story) -> [Answer] {
    let all = targets(of: source)
    let having = kind.map { kind in all.filter { kinds[$0]?.contains(kind) == true } } ?? all
    // A kind that nobody is known to have may be new: every extension is launched, and asked.
    let targets = having.isEmpty ? all : having
    guard !targets.isEmpty else {
      return [gaveUp(source, kind ?? "all", "no widget extension belongs to \(source.short)", story)]
    }
    for target in targets {
      var item = owed[target]?[kind ?? ""] ?? Owed(serial: 0, cause: nil, correlation: nil)
      item.serial += 1
      item.cause = story.cause
      item.correlation = story.correlation
      owed[target, default: [:]][kind ?? ""] = item
    }
    return targets.map(want)
  }

  private mutating func snapshot(_ kind: String, _ serial: Int) -> [Answer] {
    let having = extensions.filter { kinds[$0]?.contains(kind) == true }.prefix(1)
    let targets = having.isEmpty ? extensions.filter { kinds[$0] == nil } : Array(having)
    guard !targets.isEmpty else { return [.noSnapshot(serial: serial, reason: unknown(kind))] }
    for target in targets {
      snapshots[target, default: []].append(
        Question(purpose: .snapshot, address: target, kind: kind, serial: serial))
    }
    return targets.map(want)
  }

  /// Asks an extension that runs for what it owes next, or lets it go.
  private mutating func next(_ address: Address) -> [Answer] {
    guard asking[address] == nil else { return [] }
    var answers = expandAll(address) + dropUnknown(address) + dropUnknownSnapshots(address)
    let timeline = owed[address]?.min { $0.key < $1.key }
      .map { Question(purpose: .timeline, address: address, kind: $0.key, serial: $0.value.serial) }
    if let question = timeline ?? snapshots[address]?.first {
      asking[address] = question
      answers.append(.ask(question))
    } else {
      answers.append(.intent(.release(address, because: TimelineDecision.assertion)))
    }
    return answers
  }

  private mutating func expandAll(_ address: Address) -> [Answer] {
    guard let all = owed[address]?.removeValue(forKey: "") else { return [] }
    let own = kinds[address] ?? []
    for kind in own where owed[address]?[kind] == nil { owed[address]?[kind] = all }
    guard own.isEmpty else { return [] }
    return [
      gaveUp(address, "all", "the extension has no widget", Story(cause: all.cause, correlation: all.correlation))
    ]
  }

  private mutating func dropUnknown(_ address: Address) -> [Answer] {
    let own = kinds[address] ?? []
    var answers: [Answer] = []
    for (kind, item) in (owed[address] ?? [:]).sorted(by: { $0.key < $1.key }) where !own.contains(kind) {
      owed[address]?[kind] = nil
      let mayHave = extensions.contains { owed[$0]?[kind] != nil || kinds[$0]?.contains(kind) == true }
      guard !mayHave else { continue }
      let story = Story(cause: item.cause, correlation: item.correlation)
      answers.append(gaveUp(address, kind, unknown(kind), story))
    }
    return answers
  }

  private mutating func dropUnknownSnapshots(_ address: Address) -> [Answer] {
    let own = kinds[address] ?? []
    let dropped = (snapshots[address] ?? []).filter { !own.contains($0.kind) }
    snapshots[address]?.removeAll { !own.contains($0.kind) }
    let left = Set(snapshots.values.joined().map(\.serial))
    return dropped.filter { !left.contains($0.serial) }
      .map { .noSnapshot(serial: $0.serial, reason: unknown($0.kind)) }
  }

  private func unknown(_ kind: String) -> String {
    let existing = extensions.flatMap { kinds[$0] ?? [] }.sorted().joined(separator: ", ")
    return "no widget is of kind \(kind); there are: \(existing.isEmpty ? "none" : existing)"
  }

  /// The extension answered: nothing is owed, unless it was asked for again meanwhile.
  private mutating func pay(_ question: Question) {
    asking[question.address] = nil
    guard question.purpose == .timeline else {
      snapshots[question.address]?.removeAll { $0 == question }
      return
    }
    if owed[question.address]?[question.kind]?.serial == question.serial {
      owed[question.address]?[question.kind] = nil
    } else {
      owed[question.address]?[question.kind]?.deaths = 0
    }
  }

  private mutating func lifeEnded(_ address: Address) -> [Answer] {
    guard let question = asking.removeValue(forKey: address) else { return [] }
    guard question.purpose == .timeline else {
      pay(question)
      return afterwards(question, "the extension died while it was asked", .none)
    }
    let deaths = (owed[address]?[question.kind]?.deaths ?? 0) + 1
    guard deaths > 1 else {
      owed[address]?[question.kind]?.deaths = deaths
      return [.stopAsking(address), want(address)]
    }
    let story = story(question)
    owed[address]?[question.kind] = nil
    return afterwards(question, "the extension died twice while it was asked", story)
  }

  /// What follows a death after which the question is not asked again.
  private func afterwards(_ question: Question, _ reason: String, _ story: Story) -> [Answer] {
    let address = question.address
    return [
      .stopAsking(address), gaveUp(question, reason, story),
      isDone(address) ? .intent(.release(address, because: TimelineDecision.assertion)) : want(address),
    ]
  }
}
