import Conversations
import Foundation

/// One story from the journal, step by step: what was said of it, what led to it, and the lives and deaths in between.
struct Trace: Sendable {
  struct Step: Sendable {
    let envelope: Envelope
    let note: EnvelopeNote
    /// The number of the step that this one waited for.
    let after: UInt64?
    /// Since that step, by the clocks of the senders; microseconds. 0 for what was stamped before it: the two overlapped.
    let waited: Int64?
    /// Since the first step; microseconds.
    let time: Int64
    var sequence: UInt64 { envelope.header.sequence }
  }

  let subject: TraceSubject
  let steps: [Step]

  /// Gathers the steps.
  ///
  /// - Parameter envelopes: the whole journal, in order.
  init(_ subject: TraceSubject, in envelopes: [Envelope]) {
    self.subject = subject
    let gathered = TraceGathering(subject, envelopes).indices.map { envelopes[$0] }
    let notes = gathered.map { EnvelopeNote($0) }
    let start = gathered.first?.header.sentAt.microseconds ?? 0
    steps = gathered.indices.map { index in
      let sentAt = gathered[index].header.sentAt.microseconds
      let cause = Self.predecessor(of: index, gathered, notes).map { gathered[$0].header }
      return Step(
        envelope: gathered[index], note: notes[index], after: cause?.sequence,
        waited: cause.map { max(0, sentAt - $0.sentAt.microseconds) }, time: sentAt - start)
    }
  }

  /// What a step waited for: the envelope that it names as its cause; else, for a transfer, the step of that transfer
  /// before it; else the last step that its actor took part in: happened-before, as processes and messages order it.
  private static func predecessor(of index: Int, _ steps: [Envelope], _ notes: [EnvelopeNote]) -> Int? {
    let header = steps[index].header
    let earlier = steps[..<index]
    if let cause = header.cause, let found = earlier.lastIndex(where: { $0.header.id == cause }) { return found }
    if header.kind == TransferProgress.kind,
      let found = earlier.lastIndex(where: { [TransferProgress.kind, CreateTransfer.kind].contains($0.header.kind) })
    {
      return found
    }
    // Of a life the one who tells of it is not the actor.
    let isTold = header.source == .messageBus || [ProcessExited.kind, ProcessStarted.kind].contains(header.kind)
    let actor = isTold ? notes[index].subject ?? header.source : header.source
    return earlier.indices.last { other in
      let parties = [earlier[other].header.source, earlier[other].header.destination, notes[other].subject]
      return parties.contains(actor)
    }
  }
}

// MARK: Figures

extension Trace {
  /// Microseconds from the first to the last step.
  var total: Int64 { steps.last?.time ?? 0 }

  /// Whether the host has forgotten the session's events, because the owner acknowledged them, after all that was begun.
  var isAcknowledged: Bool {
    let end = steps.last { $0.envelope.header.kind == SessionAcknowledged.kind }?.sequence
    let begun = steps.last { $0.envelope.header.kind == CreateTransfer.kind }?.sequence
    return end.map { $0 > begun ?? 0 } ?? false
  }

  /// The lives of the owner that took part.
  var generations: [UInt32] {
    let found = steps.compactMap { step -> UInt32? in
      if step.envelope.header.source == subject.owner { return step.envelope.header.sourceGeneration }
      guard let started = step.envelope.reading(ProcessStarted.self), started.address == subject.owner else {
        return nil
      }
      return started.generation
    }
    return Set(found).subtracting([0]).sorted()
  }

  /// How often the owner died.
  var deaths: Int { steps.count { $0.envelope.reading(ProcessExited.self)?.address == subject.owner } }

  /// How often the session's events were sent again.
  var redeliveries: Int {
    let sent = steps.filter { $0.envelope.header.kind == SessionEvents.kind }.map(\.envelope.header.id)
    return sent.count - Set(sent).count
  }

  var longestWait: Step? { steps.max { $0.waited ?? 0 < $1.waited ?? 0 } }
}

/// Which envelopes belong to a trace.
private struct TraceGathering {
  private let subject: TraceSubject
  private let envelopes: [Envelope]
  private var chosen: Set<Int> = []

  init(_ subject: TraceSubject, _ envelopes: [Envelope]) {
    self.subject = subject
    self.envelopes = envelopes
    addStory()
    let story = chosen
    addCauses()
    addAnswers()
    addLives(around: story)
  }

  var indices: [Int] { chosen.sorted() }

  /// What carries the correlation or is the envelope that was named, and what follows from it in no story of its own.
  private mutating func addStory() {
    var ids: Set<UUID> = []
    for index in envelopes.indices {
      let header = envelopes[index].header
      let isOwn = header.correlation == nil || header.correlation == subject.correlation
      let follows = isOwn && header.cause.map(ids.contains) ?? false
      let isStory = header.correlation != nil && header.correlation == subject.correlation
      guard isStory || follows || header.id == subject.envelope else { continue }
      chosen.insert(index)
      ids.insert(header.id)
    }
  }

  /// What the steps name as their causes, and their causes.
  private mutating func addCauses() {
    let places = Dictionary(envelopes.indices.map { (envelopes[$0].header.id, $0) }) { first, _ in first }
    var open = Array(chosen)
    while let index = open.popLast() {
      guard let cause = envelopes[index].header.cause.flatMap({ places[$0] }), chosen.insert(cause).inserted else {
        continue
      }
      open.append(cause)
    }
  }

  private mutating func addAnswers() {
    let ids = Set(chosen.map { envelopes[$0].header.id })
    for index in envelopes.indices where envelopes[index].header.kind.answer != nil {
      if envelopes[index].header.cause.map(ids.contains) == true { chosen.insert(index) }
    }
  }

  /// Spawns, births, deaths, stops and resumes of the owner, and what happened to the host, the agents and the bus; from the
  /// spawn of the first life that took part to the end of the story, or of the journal when it has not ended.
  private mutating func addLives(around story: Set<Int>) {
    guard let owner = subject.owner, let first = story.min(), let last = story.max() else { return }
    let told = story.filter { envelopes[$0].header.correlation == subject.correlation }.max() ?? last
    let hasEnded = envelopes[told].header.kind == SessionAcknowledged.kind
    let begin =
      envelopes[..<first].lastIndex { $0.reading(SpawnProcess.self)?.address == owner } ?? chosen.min() ?? first
    let end = hasEnded ? last : envelopes.indices.last ?? last
    var orders: Set<UUID> = []
    for index in begin...end {
      let header = envelopes[index].header
      let isAnswer = header.kind.answer != nil && header.cause.map(orders.contains) == true
      guard isAnswer || isLife(of: owner, envelopes[index]) || isUpheaval(envelopes[index]) else { continue }
      if header.kind.answer == nil { orders.insert(header.id) }
      chosen.insert(index)
    }
  }

  private func isLife(of owner: Address, _ envelope: Envelope) -> Bool {
    if envelope.header.kind == ProcessReady.kind { return envelope.header.source == owner }
    let kinds = [
      SpawnProcess.kind, SignalProcess.kind, ProcessStarted.kind, MemoryExceeded.kind, ProcessExited.kind,
      ProcessState.kind, RegistrationChanged.kind,
    ]
    guard kinds.contains(envelope.header.kind), EnvelopeNote(envelope).subject == owner else { return false }
    return envelope.reading(RegistrationChanged.self).map { Self.isComingOrGoing($0) } ?? true
  }

  /// The host, an agent or the bus came or went.
  private func isUpheaval(_ envelope: Envelope) -> Bool {
    if envelope.header.kind == BusStarted.kind {
      // A segment that is full is no new broker.
      let before = envelopes.last { $0.header.sequence < envelope.header.sequence && $0.header.kind == BusStarted.kind }
      let generation = envelope.reading(BusStarted.self)?.generation
      return generation != before?.reading(BusStarted.self)?.generation
    }
    guard let changed = envelope.reading(RegistrationChanged.self), Self.isComingOrGoing(changed) else { return false }
    return [.host, .agent].contains(changed.registration.address.role)
  }

  private static func isComingOrGoing(_ changed: RegistrationChanged) -> Bool {
    [.connected, .disconnected, .left].contains(changed.change)
  }
}
