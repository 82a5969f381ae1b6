// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// What a campaign needs to know from the journal, envelope by envelope: the instances of launched processes, what each
/// process did last, and how much work was done.
package struct CampaignObserver: Sendable {
  /// A process instance of an app or an extension.
  package struct Instance: Hashable, Sendable {
    package let generation: UInt32
    package let pid: Int32
    package let executable: String
    /// When it reported ready; `nil` before.
    package fileprivate(set) var readyAt: Timestamp?
  }

  /// A message that a process sent or received.
  private struct Last {
    let text: String
    let time: Timestamp
  }

  /// A process that has done nothing for longer was idle.
  package static let idle = Duration.milliseconds(50)

  private let victims: [Address: ChaosVictim]
  private var last: [ChaosVictim: Last] = [:]
  /// The running instances of launched processes.
  package private(set) var instances: [ChaosVictim: Instance] = [:]
  /// Brokers in the order of their start.
  package private(set) var busGenerations: [UInt32] = []
  /// Whether each broker since the first has written to the journal.
  package var hasEveryBus: Bool {
    guard let first = busGenerations.first else { return false }
    return busGenerations == Array(first..<first + UInt32(busGenerations.count))
  }

  /// What was done so far.
  package private(set) var work = CampaignWork()
  private var deliveries: Set<UUID> = []
  private var completed: Set<TaskKey> = []
  /// What contradicts the expected content.
  package private(set) var wrongFiles: [String] = []
  /// The hash that each session's files must have.
  private let digests: [String: String]
  /// Processes that ended by a trap.
  package private(set) var traps: [ProcessTrap] = []
  /// The tasks that ended, for the judge of the downloads.
  package private(set) var ended: [DownloadJudge.Ended] = []
  /// When another host began, or the network changed: a download may be repeated then.
  package private(set) var interruptions: [Timestamp] = []
  private var created: [TaskKey: Timestamp] = [:]
  /// Whether messages have the times of another clock. How downloads end is not judged then.
  private var isTimeAway = false
  private var hostGeneration: UInt32 = 0

  private struct TaskKey: Hashable {
    let owner: Address
    let session: String
    let task: Int
  }

  /// Creates an instance that has seen no envelope.
  ///
  /// - Parameters:
  ///   - victims: the processes by address.
  ///   - digests: the SHA-256 of the files of a session, by its identifier; a session that is not there is not checked.
  package init(victims: [Address: ChaosVictim], digests: [String: String] = [:]) {
    self.victims = victims
    self.digests = digests
  }

  /// An observer of a journal that lost its end, or belongs to an older database: it knows what was judged before.
  package func afterLoss() -> CampaignObserver {
    var next = CampaignObserver(victims: victims, digests: digests)
    next.traps = traps
    next.isTimeAway = isTimeAway
    next.ended = ended
    next.interruptions = interruptions
    next.work = work
    next.wrongFiles = wrongFiles
    return next
  }

  /// The clock of the processes has jumped, or is back.
  ///
  /// - Returns: whether that is news.
  package mutating func timeJumped(_ isAway: Bool) -> Bool {
    defer {
      isTimeAway = isAway
      created = [:]
    }
    return isAway != isTimeAway
  }

  /// What a process was doing at a time, by its last message in the journal.
  package func state(of victim: ChaosVictim, at time: Timestamp) -> String {
    guard victim != .provider else { return "not observed" }
    guard let last = last[victim] else { return "idle" }
    return .microseconds(time.microseconds - last.time.microseconds) > Self.idle ? "idle" : last.text
  }

  /// Processes the next envelope.
  package mutating func handle(_ envelope: Envelope) {
    let header = envelope.header
    remember(header)
    switch header.kind {
    case BusStarted.kind:
      guard let body = read(BusStarted.self, envelope), body.generation != busGenerations.last else { return }
      busGenerations.append(body.generation)
    case ProcessStarted.kind:
      // The instance's own `process.ready` may precede this notice.
      guard let body = read(ProcessStarted.self, envelope), let victim = victims[body.address],
        instances[victim]?.generation != body.generation
      else { return }
      instances[victim] = Instance(
        generation: body.generation, pid: body.pid, executable: body.executable, readyAt: nil)
    case ProcessReady.kind:
      guard let body = read(ProcessReady.self, envelope), let victim = victims[header.source] else { return }
      // The notice of its start may follow, or be lost with a connection.
      instances[victim] = Instance(
        generation: header.sourceGeneration, pid: body.pid, executable: body.executable, readyAt: header.sentAt)
    case ProcessExited.kind:
      guard let body = read(ProcessExited.self, envelope), let victim = victims[body.address] else { return }
      if instances[victim]?.generation == body.generation { instances[victim] = nil }
      if case .signalled(let signal) = body.ending,
        let trap = ProcessTrap(victim.rawValue, pid: body.pid, signal: signal, output: body.outputTail),
        !traps.contains(trap)
      {
        traps.append(trap)
      }
    default: count(envelope)
    }
  }

  private mutating func remember(_ header: EnvelopeHeader) {
    if victims[header.source] == .host, header.sourceGeneration != hostGeneration {
      hostGeneration = header.sourceGeneration
      interruptions.append(header.sentAt)
    }
    // The campaign's own question, which it asks while it waits for a process.
    guard header.kind.questionKind != Ping.kind else { return }
    if let source = victims[header.source] { last[source] = Last(text: "sent \(header.kind)", time: header.sentAt) }
    if let destination = victims[header.destination], header.destinationGeneration > 0 {
      last[destination] = Last(text: "received \(header.kind)", time: header.sentAt)
    }
    last[.messageBus] = Last(text: "routed \(header.kind)", time: header.sentAt)
  }

  private mutating func count(_ envelope: Envelope) {
    let header = envelope.header
    switch header.kind {
    case CreateTransfer.kind:
      guard let body = read(CreateTransfer.self, envelope) else { return }
      let key = TaskKey(owner: header.source, session: body.session, task: body.taskIdentifier)
      if !isTimeAway { created[key] = created[key] ?? header.sentAt }
    case SetNetwork.kind: interruptions.append(header.sentAt)
    case CreateTransfer.kind.answered(.ok): work.accepted += 1
    case SessionEvents.kind:
      if !deliveries.insert(header.id).inserted { work.redelivered += 1 }
    case DelegateCalled.kind:
      guard let body = read(DelegateCalled.self, envelope), body.method == "didCompleteWithError" else { return }
      let key = TaskKey(owner: header.source, session: body.session, task: body.taskIdentifier ?? 0)
      if let code = body.failureCode { end(key, end: .failure(code), at: header.sentAt) }
      if !completed.insert(key).inserted { work.repeated += 1 }
    case SessionAcknowledged.kind: work.acknowledged += 1
    case PushLogged.kind:
      guard let body = read(PushLogged.self, envelope) else { return }
      if body.step.name == .accepted { work.pushesAccepted += 1 }
      if body.step.name == .delivered { work.pushesDelivered += 1 }
    case EntryShown.kind: work.shown += 1
    case TransferProgress.kind:
      guard let body = read(TransferProgress.self, envelope), body.step == .finished else { return }
      let key = TaskKey(owner: body.owner, session: body.session, task: body.taskIdentifier)
      if let hash = body.sha256 { end(key, end: .file(hash), at: header.sentAt) }
      compare(body, header)
    default: break
    }
  }

  /// A task has one end. Its delegate may be called again.
  private mutating func end(_ key: TaskKey, end: DownloadJudge.Ended.End, at time: Timestamp) {
    guard let start = created.removeValue(forKey: key) else { return }
    ended.append(
      DownloadJudge.Ended(session: key.session, task: key.task, created: start, ended: time, end: end))
  }

  private mutating func compare(_ body: TransferProgress, _ header: EnvelopeHeader) {
    guard let expected = digests[body.session] else { return }
    work.compared += 1
    guard body.sha256 != expected, wrongFiles.count < 16 else { return }
    wrongFiles.append(
      "#\(header.sequence): the file of task \(body.taskIdentifier) of \(body.session) is not the served one")
  }

  private func read<M: Message>(_: M.Type, _ envelope: Envelope) -> M? {
    try? BodyCoding.decode(M.self, from: envelope.body)
  }
}

/// How much work a campaign did, from the journal.
package struct CampaignWork: Hashable, Sendable, Codable {
  /// Background tasks that the host accepted.
  package var accepted = 0
  /// Deliveries of events that the host deleted after their acknowledgement.
  package var acknowledged = 0
  /// Deliveries of events that were sent again.
  package var redelivered = 0
  /// Calls of `didCompleteWithError` for a task that had been called before.
  package var repeated = 0
  /// Downloaded files whose bytes were compared with those of the provider.
  package var compared = 0
  package var pushesAccepted = 0
  package var pushesDelivered = 0
  /// Timeline entries that were shown.
  package var shown = 0

  package init() {}

  /// Adds the work of another campaign.
  mutating func add(_ other: CampaignWork) {
    for path in [
      \CampaignWork.accepted, \.acknowledged, \.redelivered, \.repeated, \.compared, \.pushesAccepted,
      \.pushesDelivered,
      \.shown,
    ] { self[keyPath: path] += other[keyPath: path] }
  }
}
