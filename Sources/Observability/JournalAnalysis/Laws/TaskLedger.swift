// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// A task of a background session, of all devices.
struct LawTask: Hashable, Sendable, CustomStringConvertible {
  let owner: Address
  let session: String
  let identifier: Int

  var description: String { "task \(identifier) of \(session) of \(owner.tailName)" }
}

/// The tasks of background sessions and the deliveries of their events, from creation until the host has discarded them.
struct TaskLedger: Sendable {
  /// A task that is not acknowledged.
  struct Entry: Sendable {
    /// `transfer.create`, or the first envelope that mentions the task.
    var created: Envelope
    /// The host has it on disk: the reply, or the first progress.
    var accepted: Envelope?
    /// It finished, failed or was cancelled.
    var ended: Envelope?
    /// Of the whole file, by the host.
    var sha256: String?
    var bytes: Int64?

    mutating func accept(_ envelope: Envelope) { accepted = accepted ?? envelope }
  }

  /// What was sent to one instance of the owner.
  struct Attempt: Sendable {
    /// The first one with it.
    let envelope: Envelope
    /// In the order of the delegate calls, unless they are in a file; `nil` when the journal does not name them.
    let tasks: [Int]?
    let members: Set<Int>?
    let isOrdered: Bool
    let events: SessionEvents
  }

  /// A delivery that the host has not discarded.
  struct Delivery: Sendable {
    let owner: Address
    let session: String
    /// By generation of the receiver.
    var attempts: [UInt32: Attempt] = [:]
    /// By generation of the sender.
    var acknowledgements: [UInt32: Mark] = [:]
    /// The owner replied that it cannot take the events.
    var unclaimed: Mark?

    /// The tasks that were in what an instance acknowledged; `nil` when the journal does not name them.
    var acknowledged: Set<Int>? {
      var all: Set<Int> = []
      for generation in acknowledgements.keys {
        guard let attempt = attempts[generation] else { continue }
        guard let tasks = attempt.tasks else { return nil }
        all.formUnion(tasks)
      }
      return all
    }
  }

  /// What is remembered of a delivery that the host has discarded.
  struct Discarded: Sendable {
    let mark: Mark
    /// The instances that had received it.
    let generations: Set<UInt32>
  }

  private(set) var entries: [LawTask: Entry] = [:]
  private(set) var deliveries: [UUID: Delivery] = [:]
  /// Deliveries that were acknowledged, while the host's notice that it has discarded them is missing: it may be lost.
  private(set) var acknowledged = Recent<UUID, Delivery>()
  private(set) var discarded = Recent<UUID, Discarded>()
  /// Tasks that were acknowledged.
  private(set) var settled = Recent<LawTask, Mark>()
  private var creations: [UUID: LawTask] = [:]

  /// A delivery that the host has not discarded, as far as the journal shows.
  func delivery(_ id: UUID) -> Delivery? { deliveries[id] ?? acknowledged[id] }

  /// The task of a request to create it.
  func task(createdBy id: UUID?) -> LawTask? { id.flatMap { creations[$0] } }

  // MARK: Updating

  mutating func handle(_ seen: LawEnvelope) {
    let (header, envelope) = (seen.header, seen.envelope)
    switch seen.body {
    case .create(let create):
      let task = LawTask(owner: header.source, session: create.session, identifier: create.taskIdentifier)
      // A request that was sent again, after the task has been acknowledged already, creates nothing.
      guard header.attempt == 0 || settled[task] == nil else { return }
      creations[header.id] = task
      if entries[task] == nil { entries[task] = Entry(created: envelope) }
    case .progress(let progress): take(progress, envelope)
    case .events(let events): take(events, envelope)
    case .unclaimed(let unclaimed): deliveries[unclaimed.delivery]?.unclaimed = Mark(header)
    case .discarded(let notice): discard(notice, header)
    case .refusal(let error):
      guard header.kind == CreateTransfer.kind.answered(.failed), let task = creation(answeredBy: header) else {
        return
      }
      // After an indefinite failure it may still run.
      if error.isDefinite, entries[task]?.accepted == nil { entries[task] = nil }
    default:
      if header.kind == CreateTransfer.kind.answered(.ok) {
        if let task = creation(answeredBy: header) { entries[task]?.accept(envelope) }
      } else if header.kind == SessionEvents.kind.answered(.acknowledged) {
        acknowledge(header)
      }
    }
  }

  /// The host of a device no longer knows its tasks: their numbers may begin again.
  mutating func forget(_ device: String) {
    entries = entries.filter { $0.key.owner.device != device }
    deliveries = deliveries.filter { $0.value.owner.device != device }
    creations = creations.filter { $0.value.owner.device != device }
    acknowledged.removeAll { $1.owner.device == device }
    settled.removeAll { task, _ in task.owner.device == device }
    discarded.removeAll { $1.mark.source.device == device }
  }

  private mutating func creation(answeredBy header: EnvelopeHeader) -> LawTask? {
    header.cause.flatMap { creations.removeValue(forKey: $0) }
  }

  private mutating func take(_ progress: TransferProgress, _ envelope: Envelope) {
    let task = LawTask(owner: progress.owner, session: progress.session, identifier: progress.taskIdentifier)
    guard settled[task] == nil else { return }
    var entry = entries[task] ?? Entry(created: envelope)
    entry.accepted = entry.accepted ?? envelope
    if progress.step.isEnd {
      entry.ended = entry.ended ?? envelope
      entry.sha256 = progress.sha256
      entry.bytes = progress.step == .finished ? progress.bytes : nil
    }
    entries[task] = entry
  }

  private mutating func take(_ events: SessionEvents, _ envelope: Envelope) {
    let header = envelope.header
    guard discarded[header.id] == nil else { return }
    var delivery =
      delivery(header.id) ?? Delivery(owner: header.destination, session: events.session)
    let inline = events.outcomesFile == nil ? events.outcomes.map(\.task.taskIdentifier) : nil
    let tasks = inline ?? events.fileTasks?.identifiers
    // The first envelope to this instance: what it did since then may be in lost notices.
    let first = delivery.attempts[header.destinationGeneration]?.envelope ?? envelope
    delivery.attempts[header.destinationGeneration] = Attempt(
      envelope: first, tasks: tasks, members: tasks.map { Set($0) }, isOrdered: inline != nil, events: events)
    delivery.unclaimed = nil
    if acknowledged[header.id] == nil { deliveries[header.id] = delivery } else { acknowledged[header.id] = delivery }
  }

  private mutating func acknowledge(_ header: EnvelopeHeader) {
    guard let id = header.cause, var delivery = delivery(id) else { return }
    delivery.acknowledgements[header.sourceGeneration] = Mark(header)
    deliveries[id] = nil
    acknowledged[id] = delivery
    for identifier in delivery.attempts[header.sourceGeneration]?.tasks ?? [] {
      settle(LawTask(owner: delivery.owner, session: delivery.session, identifier: identifier), header)
    }
  }

  private mutating func discard(_ notice: SessionAcknowledged, _ header: EnvelopeHeader) {
    let knownDelivery = delivery(notice.delivery)
    deliveries[notice.delivery] = nil
    acknowledged[notice.delivery] = nil
    discarded[notice.delivery] = Discarded(
      mark: Mark(header), generations: Set((knownDelivery?.attempts ?? [:]).keys))
    for identifier in notice.tasks?.identifiers ?? knownDelivery?.attempts.values.flatMap({ $0.tasks ?? [] }) ?? [] {
      settle(LawTask(owner: notice.owner, session: notice.session, identifier: identifier), header)
    }
  }

  private mutating func settle(_ task: LawTask, _ header: EnvelopeHeader) {
    if let created = entries.removeValue(forKey: task)?.created.header.id { creations[created] = nil }
    settled[task] = Mark(header)
  }
}

extension TransferProgress.Step {
  /// Whether nothing more is loaded after it.
  var isEnd: Bool {
    switch self {
    case .finished, .failed, .cancelled: true
    case .started, .resumed, .restarted, .retrying, .waiting: false
    }
  }
}

/// A background session, of all devices.
struct LawSession: Hashable, Sendable, CustomStringConvertible {
  let owner: Address
  let session: String
  var description: String { "\(session) of \(owner.tailName)" }
}
