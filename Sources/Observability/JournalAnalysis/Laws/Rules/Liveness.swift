// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// After the last disturbance all work is settled within a stated time.
struct Liveness: Law {
  let description = LawDescription(
    code: "liveness", title: "work is settled in time",
    statement: "Within 60 s (--within) after the last disturbance and after it began, each piece of work of the system "
      + "itself is done: an event or a request to host, agent or push server has its reply; the events of a session "
      + "whose tasks have all ended are sent to its owner; events whose completions were called are acknowledged, and "
      + "then deleted; an accepted push is sent or stored.",
    source:
      "ours: the time; a disturbance is the end or the beginning of a process or a connection, and a change of the "
      + "network or the clock. A pause of the journal of more than half of the time does not count: a machine that "
      + "sleeps, or whose clock is set, looks the same",
    check: "each piece of work that was done, or was not done in time",
    limits: "What the author's code must do, such as call a completion. Work of a device without a network or with a "
      + "held clock, of an owner that was force quit, cannot be launched, does not want launch events or does not take "
      + "the events, and of a process that has left or is away. How long a transfer takes, without a limit for it. A second "
      + "reply to a message that is sent again, when the destination or the broker ends. A request whose destination was "
      + "away for the deadline of a request, 5 s, unless it is sent again. Events that waited for another task of their "
      + "session are due from its end on.")

  /// Events that are sent until they are acknowledged. Others may be replaced by newer ones.
  private static let events: Set<Kind> = [
    ProcessExited.kind, MemoryExceeded.kind, ReloadTimelines.kind, DeliverPush.kind, PushProgress.kind,
    TokenReplaced.kind,
  ]
  /// Requests that are answered at once.
  private static let requests: Set<Kind> = [
    CreateTransfer.kind, OpenSession.kind, ProcessReady.kind, RegisterInstance.kind, RetireInstance.kind,
  ]

  /// One piece of work.
  private enum Work: Hashable, Sendable {
    /// The id alone is not enough: the request to an app about a push has the push's id.
    case reply(UUID, Kind)
    case delivery(LawTask)
    case acknowledgement(UUID)
    case deletion(UUID)
    case push(UUID)
    case transfer(LawTask)
  }

  private struct Open: Sendable {
    var began: Timestamp
    let mark: Mark
    let what: String
    /// The processes that must run for it.
    let source: Address
    let destination: Address
    /// A message that has its reply and was sent again, because its sender did not have the reply yet.
    var isRepetition = false
  }

  /// Open work, in the order in which it began.
  private struct Queue: Sendable {
    private(set) var open: [Work: Open] = [:]
    private var order: [(work: Work, sequence: UInt64)] = []
    private var head = 0

    mutating func begin(_ work: Work, _ item: Open) {
      guard open[work] == nil else { return }
      open[work] = item
      order.append((work, item.mark.sequence))
    }

    mutating func end(_ work: Work) -> Bool { open.removeValue(forKey: work) != nil }

    mutating func removeAll(where isMeant: (Open) -> Bool) {
      for (work, item) in open where isMeant(item) { open[work] = nil }
    }

    /// Removes and returns the oldest work when its time is over.
    mutating func popOver(_ isOver: (Open) -> Bool) -> (work: Work, item: Open)? {
      while head < order.count {
        let (work, sequence) = order[head]
        guard let item = open[work], item.mark.sequence == sequence else {
          head += 1
          continue
        }
        guard isOver(item) else { break }
        head += 1
        open[work] = nil
        return (work, item)
      }
      if head > 1024, head > order.count / 2 {
        order.removeFirst(head)
        head = 0
      }
      return nil
    }
  }

  var findings = LawFindings()
  private var queue = Queue()
  /// The latest messages that have their reply.
  private var answered = Recent<Work, Bool>()
  private var transfers = Queue()
  /// Sessions whose owner wants no launch for their events.
  private var withoutLaunch: Set<LawSession> = []
  /// When a task of each session ended last, or its events were acknowledged: what waited for that is due from then on.
  private var lastEnds: [LawSession: Timestamp] = [:]
  private var quit: Set<String> = []
  private var notLaunched: Set<Address> = []
  /// Pushes that were sent or stored before the notice of their acceptance: another replica did it.
  private var handled = Recent<UUID, Bool>()
  /// The time of the current envelope, and the date in its header.
  private var at = Timestamp(microseconds: 0)
  private var sentAt = Timestamp(microseconds: 0)
  /// Addresses that left in order; nothing is expected of them.
  private var left: Set<Address> = []
  /// The generations that are connected, as far as the journal shows: when a process and the broker end together, no
  /// record shows the end of the process.
  private var connected: [Address: UInt32] = [:]
  /// Since when a process has not been connected, by the clock of the sender: deadlines pass also in a pause that does not
  /// count as time.
  private var awaySince: [Address: Timestamp] = [:]
  /// Seconds after which a sender gives a request up, at the earliest. Source: the default of `Connection.request`.
  private static let shortestDeadline = 5.0

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    judgeTime(record)
    let header = seen.header
    let former = sentAt
    (at, sentAt) = (record.at, header.sentAt)
    switch seen.body {
    case .registration(let changed): take(changed)
    case .busStarted(let started):
      left = []
      if record.isAnotherBroker(started) { takeBrokerEnd(at: former) }
    case .opened(let opened):
      let session = LawSession(owner: header.source, session: opened.identifier)
      if opened.configuration.sessionSendsLaunchEvents {
        withoutLaunch.remove(session)
      } else {
        withoutLaunch.insert(session)
      }
    case .quit(let request): quit.insert(request.bundle)
    case .state(let state):
      if state.launchFailure == nil { notLaunched.remove(state.address) } else { notLaunched.insert(state.address) }
    default: break
    }
    // A refused request opens nothing: the events wait on.
    if header.kind == OpenSession.kind.answered(.ok), let bundle = header.destination.bundleIdentifier {
      quit.remove(bundle)
    }
    takeReplies(seen)
    takeTransfers(seen, record)
    takePushes(seen, record)
  }

  // MARK: Beginning and end of work

  private mutating func begin(
    _ work: Work, at seen: LawEnvelope, what: String, by address: Address, for other: Address,
    isRepetition: Bool = false
  ) {
    queue.begin(
      work,
      Open(
        began: at, mark: Mark(seen.header), what: what, source: address, destination: other,
        isRepetition: isRepetition))
  }

  private mutating func end(_ work: Work) {
    if queue.end(work) { findings.check(true, LawFinding("")) }
  }

  /// Work of a process that has ended goes with it, or begins again with the next instance.
  private mutating func take(_ changed: RegistrationChanged) {
    let address = changed.registration.address
    switch changed.change {
    case .connected:
      left.remove(address)
      // If the deadline has not passed, it is sent again, and its time continues.
      if let since = awaySince.removeValue(forKey: address), Self.isDeadlineOver(since, sentAt) {
        queue.removeAll { $0.destination == address && Self.requests.contains($0.mark.kind) }
      }
      let generation = changed.registration.generation
      if let former = connected.updateValue(generation, forKey: address), former != generation {
        queue.removeAll { $0.source == address }
      }
    case .left:
      left.insert(address)
      connected[address] = nil
    case .disconnected, .retired: connected[address] = nil
    case .registered: break
    }
    if changed.change != .connected { queue.removeAll { $0.source == address } }
    if changed.change == .disconnected || changed.change == .retired {
      awaySince[address] = awaySince[address] ?? sentAt
    }
    if changed.change == .left { queue.removeAll { $0.destination == address } }
    // The sender may have the reply by now. If not, it sends the message once more.
    if changed.change != .registered { queue.removeAll { $0.isRepetition && $0.destination == address } }
  }

  /// Senders that are still there send their messages again. A command that ended with the broker does not.
  private mutating func takeBrokerEnd(at last: Timestamp) {
    queue.removeAll { $0.isRepetition || $0.source.role.isPassing }
    connected = connected.filter { !$0.key.role.isPassing }
    for address in connected.keys where awaySince[address] == nil { awaySince[address] = last }
  }

  /// Also when the clock was set back: then it may be.
  private static func isDeadlineOver(_ since: Timestamp, _ now: Timestamp) -> Bool {
    Double(abs(now.microseconds - since.microseconds)) >= shortestDeadline * 1e6
  }

  private mutating func takeReplies(_ seen: LawEnvelope) {
    let header = seen.header
    if Self.events.contains(header.kind) || Self.requests.contains(header.kind), !left.contains(header.destination) {
      let work = Work.reply(header.id, header.kind)
      begin(
        work, at: seen, what: "a reply to \(header.kind.name)", by: header.source, for: header.destination,
        isRepetition: answered[work] != nil)
    }
    guard let cause = header.cause else { return }
    if header.kind.answer != nil { endReply(.reply(cause, header.kind.questionKind)) }
    if let kind = seen.envelope.reading(Refused.self).flatMap({ Kind($0.kindName) }) { endReply(.reply(cause, kind)) }
    if let kind = seen.envelope.reading(Undelivered.self).flatMap({ Kind($0.kindName) }) {
      let work = Work.reply(cause, kind)
      // A request may fail then; an event is sent again, unless its sender has the reply.
      if MessageTable[kind]?.style == .request || queue.open[work]?.isRepetition == true { _ = queue.end(work) }
    }
  }

  private mutating func endReply(_ work: Work) {
    answered[work] = true
    end(work)
  }

  private mutating func takeTransfers(_ seen: LawEnvelope, _ record: LawRecord) {
    let header = seen.header
    switch seen.body {
    case .progress(let progress):
      let task = LawTask(owner: progress.owner, session: progress.session, identifier: progress.taskIdentifier)
      if progress.step.isEnd {
        lastEnds[LawSession(owner: task.owner, session: task.session)] = at
        if record.tasks.settled[task] == nil {
          begin(.delivery(task), at: seen, what: "the delivery of \(task)", by: header.source, for: progress.owner)
        }
        endTransfer(task)
      } else if record.limits.transfer != nil {
        transfers.begin(
          .transfer(task),
          Open(
            began: at, mark: Mark(header), what: "the end of \(task)", source: header.source,
            destination: progress.owner))
      }
    case .events(let events):
      let inline = events.outcomesFile == nil ? events.outcomes.map(\.task.taskIdentifier) : nil
      for identifier in inline ?? events.fileTasks?.identifiers ?? [] {
        let task = LawTask(owner: header.destination, session: events.session, identifier: identifier)
        if header.destinationGeneration > 0 { end(.delivery(task)) }
        endTransfer(task)
      }
    case .completion(let called):
      guard called.outstanding == 0, let cause = header.cause else { return }
      begin(
        .acknowledgement(cause), at: seen, what: "the acknowledgement of the events of \(called.session)",
        by: header.source,
        for: header.source)
    case .discarded(let notice):
      end(.deletion(notice.delivery))
      for identifier in notice.tasks?.identifiers ?? [] {
        _ = queue.end(.delivery(LawTask(owner: notice.owner, session: notice.session, identifier: identifier)))
      }
    default:
      guard header.kind == SessionEvents.kind.answered(.acknowledged), let cause = header.cause else { return }
      end(.acknowledgement(cause))
      if let delivery = record.tasks.delivery(cause) {
        lastEnds[LawSession(owner: delivery.owner, session: delivery.session)] = at
      }
      if record.tasks.discarded[cause] == nil {
        begin(
          .deletion(cause), at: seen, what: "the deletion of acknowledged events", by: header.destination,
          for: header.destination
        )
      }
    }
  }

  private mutating func endTransfer(_ task: LawTask) {
    if transfers.end(.transfer(task)) { findings.check(true, LawFinding("")) }
  }

  private mutating func takePushes(_ seen: LawEnvelope, _ record: LawRecord) {
    guard case .logged(let logged) = seen.body else { return }
    if logged.step.name == .accepted {
      let source = seen.header.source
      guard handled[logged.uniqueID] == nil else { return }
      begin(.push(logged.uniqueID), at: seen, what: "sending or storing a push", by: source, for: source)
    } else {
      if seen.header.source.isReplica { handled[logged.uniqueID] = true }
      end(.push(logged.uniqueID))
    }
    // The next step may be among those that the journal omits.
    if logged.omitted != nil { queue.removeAll { $0.mark.kind == PushLogged.kind } }
  }

  // MARK: Time

  private mutating func judgeTime(_ record: LawRecord) {
    var busy: Set<LawSession>?
    while let (work, item) = queue.popOver({ record.isOver($0.began, within: record.limits.settle) }) {
      guard isDue(work, item: item, in: record, busy: &busy) else {
        switch work {
        case .delivery: wait(work, item: item, from: record.now)
        case .reply where record.isAway(item.destination) && !isGone(item): wait(work, item: item, from: record.now)
        case .reply, .acknowledgement, .deletion, .push, .transfer: break
        }
        continue
      }
      if let last = lastEnd(work), !record.isOver(last, within: record.limits.settle) {
        wait(work, item: item, from: last)
        continue
      }
      let finding = overdue(item, limit: record.limits.settle, in: record)
      findings.check(false, finding)
    }
    guard let limit = record.limits.transfer else { return }
    while let (_, item) = transfers.popOver({ record.isOver($0.began, within: limit) }) {
      let finding = overdue(item, limit: limit, in: record)
      findings.check(false, finding)
    }
  }

  /// Judges it again when the same time has passed since then.
  private mutating func wait(_ work: Work, item: Open, from time: Timestamp) {
    var item = item
    item.began = time
    queue.begin(work, item)
  }

  private func overdue(_ item: Open, limit: Double, in record: LawRecord) -> LawFinding {
    LawFinding(
      "\(item.what) is missing \(Amount.text(seconds: limit)) after it was due, and after the last disturbance",
      [item.mark.evidence, record.disturbance?.evidence].compactMap(\.self))
  }

  /// The sessions that have a delivery already, or a task that has not ended.
  private static func busySessions(_ record: LawRecord) -> Set<LawSession> {
    var sessions: Set<LawSession> = []
    for delivery in record.tasks.deliveries.values where delivery.acknowledgements.isEmpty {
      sessions.insert(LawSession(owner: delivery.owner, session: delivery.session))
    }
    for (task, entry) in record.tasks.entries where entry.accepted != nil && entry.ended == nil {
      sessions.insert(LawSession(owner: task.owner, session: task.session))
    }
    return sessions
  }

  /// Whether the system itself must have done it.
  ///
  /// - Parameter busy: the busy sessions, once they were needed.
  private func isDue(_ work: Work, item: Open, in record: LawRecord, busy: inout Set<LawSession>?) -> Bool {
    guard !isGone(item) else { return false }
    switch work {
    case .reply:
      // It is sent again when its destination is back.
      return !record.isAway(item.destination)
    case .deletion, .push:
      // The notice of it may be lost.
      return !record.mayHaveLost(from: item.source, since: item.mark.sequence)
    case .delivery(let task):
      let session = LawSession(owner: task.owner, session: task.session)
      guard !record.isWaiting(task.owner.device), !withoutLaunch.contains(session), !notLaunched.contains(task.owner),
        !isQuit(task.owner)
      else { return false }
      let waiting = busy ?? Self.busySessions(record)
      busy = waiting
      return !waiting.contains(session)
    case .acknowledgement, .transfer: return true
    }
  }

  /// When the session of events had its last task end, or an earlier delivery acknowledged.
  private func lastEnd(_ work: Work) -> Timestamp? {
    guard case .delivery(let task) = work else { return nil }
    return lastEnds[LawSession(owner: task.owner, session: task.session)]
  }

  /// Whether a process of it left in order.
  private func isGone(_ item: Open) -> Bool { left.contains(item.source) || left.contains(item.destination) }

  mutating func forget(_ address: Address, at seen: LawEnvelope, in record: LawRecord) {
    guard let device = address.device else { return }
    queue.removeAll { $0.source == address || ($0.destination.device == device && $0.mark.source == address) }
    transfers.removeAll { $0.source == address }
  }

  private func isQuit(_ owner: Address) -> Bool {
    guard let bundle = owner.bundleIdentifier else { return false }
    return quit.contains { bundle == $0 || bundle.hasPrefix($0 + ".") }
  }

  mutating func finish(_ record: LawRecord) {
    judgeTime(record)
    let open = queue.open.sorted { $0.value.mark.sequence < $1.value.mark.sequence }
    var busy: Set<LawSession>?
    for (work, item) in open where !isGone(item) {
      var isAway = false
      if case .reply = work { isAway = record.isAway(item.destination) }
      guard isAway || isDue(work, item: item, in: record, busy: &busy) else { continue }
      let reason = isAway ? ", and \(item.destination.tailName) is away" : ""
      findings.doubt(LawFinding("the journal ends before \(item.what)\(reason)", [item.mark.evidence]))
    }
    for item in transfers.open.values.sorted(by: { $0.mark.sequence < $1.mark.sequence }) {
      findings.doubt(LawFinding("the journal ends before \(item.what)", [item.mark.evidence]))
    }
  }
}
