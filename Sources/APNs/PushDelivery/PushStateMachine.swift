// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Foundation
import HeapModule
import Messages

/// Decides the delivery of accepted notifications: send, store or discard.
///
/// One notification is stored per subject (device, app and use); a later one replaces it. Source: Apple's *Sending
/// notification requests to APNs*. The separate slots for widgets and for each control are ours.
struct PushStateMachine: Sendable {
  enum Event: Sendable {
    /// The notification is in the delivery log.
    case accepted(StoredPush)
    /// The device reports whether it can be reached.
    case reach(device: String, isOnline: Bool, isAwake: Bool, generation: UInt32)
    /// The device joined or left the bus.
    case presence(device: String, isPresent: Bool, generation: UInt32)
    /// The notification is on the device's disk.
    case acknowledged(UUID)
    /// The device refused it. `again`: retry after a delay, because the device may not announce when it accepts it.
    case refused(UUID, why: String, again: Bool)
    /// A token is no longer active.
    case tokenEnded(String)
    /// `nextInstant` is reached.
    case timerFired
  }

  enum Action: Equatable, Sendable {
    /// Stores it until `drop`. Replaces an earlier one with the same number.
    case keep(StoredPush)
    case drop(StoredPush)
    case step(StoredPush, PushStep.Name, detail: String?)
    case send(PushedNotification)
  }

  private struct Reach: Sendable {
    var isPresent: Bool
    var isOnline: Bool
    var isAwake: Bool
    var generation: UInt32
  }

  /// The notifications of one subject.
  private struct SubjectQueue: Sendable {
    /// Sent, possibly by an earlier process instance; ordered by number.
    var sent: [StoredPush] = []
    /// The stored notification.
    var held: StoredPush?
    /// The earliest date of the next attempt.
    var retryAt: Date?
    /// The device's next opportunity for the stored notification.
    var notBefore: Date?
    var isEmpty: Bool { sent.isEmpty && held == nil }

    /// The dates at which `timerFired` is due for this subject.
    func instants(_ settings: PushSettings) -> [Date] { [held?.end(settings), retryAt, notBefore].compactMap(\.self) }
  }

  /// An entry of the timer heap. It is obsolete when it is no longer one of the dates of its queue.
  private struct Instant: Comparable, Sendable {
    let at: Date
    let subject: PushSubject
    static func < (one: Instant, other: Instant) -> Bool { one.at < other.at }
  }

  let settings: PushSettings
  private var reaches: [String: Reach] = [:]
  private var queues: [PushSubject: SubjectQueue] = [:]
  private var subjects: [UUID: PushSubject] = [:]
  private var instants = Heap<Instant>()
  private var opportunities: Opportunities

  init(settings: PushSettings = PushSettings()) {
    self.settings = settings
    opportunities = Opportunities(settings.opportunities)
  }

  /// The number of accepted notifications that are not delivered.
  var count: Int { subjects.count }

  /// The next date at which `timerFired` is due.
  var nextInstant: Date? {
    mutating get {
      while let first = instants.min {
        if queues[first.subject]?.instants(settings).contains(first.at) == true { return first.at }
        instants.removeMin()
      }
      return nil
    }
  }

  /// Adds a timer entry. The heap has at most a few obsolete entries per queue.
  private mutating func note(_ at: Date, _ subject: PushSubject) {
    instants.insert(Instant(at: at, subject: subject))
    guard instants.count > 64 + 4 * queues.count else { return }
    instants = Heap(
      queues.flatMap { subject, queue in queue.instants(settings).map { Instant(at: $0, subject: subject) } })
  }

  /// Restores a notification of the previous process instance. Call in the order of the numbers. A notification that
  /// was not stored may have been sent.
  mutating func restore(_ kept: StoredPush) {
    let subject = kept.notification.subject
    subjects[kept.id] = subject
    if kept.notification.isFromStorage, queues[subject]?.held == nil {
      queues[subject, default: SubjectQueue()].held = kept
      note(kept.end(settings), subject)
    } else {
      queues[subject, default: SubjectQueue()].sent.append(kept)
    }
  }

  mutating func handle(_ event: Event, now: Date) -> [Action] {
    switch event {
    case .accepted(let push): return accepted(push, now)
    case .reach(let device, let isOnline, let isAwake, let generation):
      reaches[device] = Reach(isPresent: true, isOnline: isOnline, isAwake: isAwake, generation: generation)
      return sendStored(device, now)
    case .presence(let device, let isPresent, let generation): return presence(device, isPresent, generation, now)
    case .acknowledged(let id): return acknowledged(id, now)
    case .refused(let id, let why, let again): return refused(id, why, again, now)
    case .tokenEnded(let token): return tokenEnded(token)
    case .timerFired:
      var due: Set<PushSubject> = []
      while let first = instants.min, first.at <= now {
        due.insert(first.subject)
        instants.removeMin()
      }
      var actions: [Action] = []
      for subject in ordered(due) { actions += timerFired(subject, now) }
      return actions
    }
  }

  private func ordered(_ subjects: some Sequence<PushSubject>) -> [PushSubject] {
    subjects.sorted { ($0.device, $0.bundle, $0.use.rawValue) < ($1.device, $1.bundle, $1.use.rawValue) }
  }

  // MARK: Accepting

  private mutating func accepted(_ push: StoredPush, _ now: Date) -> [Action] {
    let subject = push.notification.subject
    let opportunity = opportunities.next(for: push.notification, now: now)
    let obstacle =
      obstacle(to: push.notification) ?? opportunity.map { (.storedPower, push.notification.waiting(for: $0)) }
    if obstacle == nil, queues[subject, default: SubjectQueue()].sent.count < settings.inFlight {
      subjects[push.id] = subject
      let keeping: [Action] = push.isForOnce ? [] : [.keep(push)]
      return keeping + send(push, in: subject, now)
    }
    let (step, why) =
      obstacle ?? (.storedOffline, "\(settings.inFlight) notifications await the device's acknowledgement")
    if push.isForOnce {
      return [.step(push, .notStored, detail: "its expiration is 0: one attempt, and \(why)")]
    }
    if push.end(settings) <= now { return [.step(push, .expired, detail: "its expiration had passed, and \(why)")] }
    let actions = hold(push, step, why)
    if let opportunity { wait(until: opportunity, subject) }
    return actions
  }

  /// Tries again to send the stored notification of a subject at the device's next opportunity.
  private mutating func wait(until opportunity: Date, _ subject: PushSubject) {
    queues[subject]?.notBefore = opportunity
    note(opportunity, subject)
  }

  /// Returns why a notification cannot be sent now; `nil` if it can.
  private func obstacle(to push: PushedNotification) -> (PushStep.Name, String)? {
    guard let reach = reaches[push.subject.device] else { return (.storedOffline, "the device's state is unknown") }
    guard reach.isPresent else { return (.storedOffline, "the device is not connected") }
    guard reach.isOnline else { return (.storedOffline, "the device has no network") }
    guard reach.isAwake || push.priority == 10 else {
      return (.storedPower, "the device is asleep; priority \(push.priority) does not wake it")
    }
    return nil
  }

  /// Stores a notification, which replaces the stored one.
  private mutating func hold(_ push: StoredPush, _ step: PushStep.Name, _ why: String) -> [Action] {
    let subject = push.notification.subject
    var actions: [Action] = []
    if let former = queues[subject]?.held {
      let collapse = push.notification.collapseID
      let isSame = collapse != nil && former.notification.collapseID == collapse
      actions.append(
        .step(
          former, isSame ? .collapsed : .superseded, detail: "by \(push.id.uuidString.lowercased()), accepted later"))
      actions += forget(former)
    }
    let kept = push.stored()
    queues[subject, default: SubjectQueue()].held = kept
    subjects[kept.id] = subject
    note(kept.end(settings), subject)
    return actions + [.keep(kept), .step(kept, step, detail: why)]
  }

  // MARK: Sending

  private mutating func send(_ push: StoredPush, in subject: PushSubject, _ now: Date) -> [Action] {
    opportunities.use(for: push.notification, now: now)
    var sent = push
    sent.isSent = true
    queues[subject, default: SubjectQueue()].sent.append(sent)
    let sending: [Action] = [.step(push, .sent, detail: nil), .send(push.notification)]
    return PlantedFault.deliveredWhenSent.isPlanted ? sending + [.step(push, .delivered, detail: nil)] : sending
  }

  /// Sends all notifications that the device accepts now.
  private mutating func sendStored(_ device: String, _ now: Date) -> [Action] {
    var actions: [Action] = []
    for subject in ordered(queues.keys.filter({ $0.device == device })) {
      queues[subject]?.retryAt = nil
      actions += sendStored(subject, now)
    }
    return actions
  }

  private mutating func sendStored(_ subject: PushSubject, _ now: Date) -> [Action] {
    guard var queue = queues[subject] else { return [] }
    var actions: [Action] = []
    for index in queue.sent.indices where !queue.sent[index].isSent {
      guard obstacle(to: queue.sent[index].notification) == nil else { continue }
      queue.sent[index].isSent = true
      actions += [.step(queue.sent[index], .sent, detail: "again"), .send(queue.sent[index].notification)]
    }
    queues[subject] = queue
    guard let held = queue.held else { return actions }
    if held.end(settings) <= now { return actions + expire(held) }
    guard queue.retryAt.map({ $0 <= now }) ?? true, obstacle(to: held.notification) == nil,
      queue.sent.count < settings.inFlight
    else { return actions }
    if let opportunity = opportunities.next(for: held.notification, now: now) {
      wait(until: opportunity, subject)
      return actions
    }
    queues[subject]?.held = nil
    return actions + send(held, in: subject, now)
  }

  private mutating func presence(_ device: String, _ isPresent: Bool, _ generation: UInt32, _ now: Date) -> [Action] {
    guard var reach = reaches[device] else { return [] }
    // Another process instance of the device reports its own reachability.
    guard !isPresent || reach.generation == generation else {
      reaches[device] = nil
      return []
    }
    reach.isPresent = isPresent
    reaches[device] = reach
    return isPresent ? sendStored(device, now) : []
  }

  private mutating func acknowledged(_ id: UUID, _ now: Date) -> [Action] {
    guard let subject = subjects[id], let index = queues[subject]?.sent.firstIndex(where: { $0.id == id }),
      let push = queues[subject]?.sent.remove(at: index)
    else { return [] }
    var actions: [Action] = PlantedFault.deliveredWhenSent.isPlanted ? [] : [.step(push, .delivered, detail: nil)]
    if PlantedFault.loggedTwice.isPlanted { actions += actions }
    if PlantedFault.sentAgain.isPlanted { actions.append(.send(push.notification)) }
    return actions + forget(push) + sendStored(subject, now)
  }

  private mutating func refused(_ id: UUID, _ why: String, _ again: Bool, _ now: Date) -> [Action] {
    guard let subject = subjects[id], let index = queues[subject]?.sent.firstIndex(where: { $0.id == id }),
      let push = queues[subject]?.sent.remove(at: index)
    else { return [] }
    let why = "the device refused it: \(why)"
    if push.isForOnce {
      return [.step(push, .notStored, detail: "its expiration is 0: one attempt, and \(why)")] + forget(push)
    }
    if push.end(settings) <= now { return [.step(push, .expired, detail: why)] + forget(push) }
    if let newer = queues[subject]?.held, newer.number > push.number {
      let detail = "by \(newer.id.uuidString.lowercased()), accepted later; \(why)"
      return [.step(push, .superseded, detail: detail)] + forget(push)
    }
    opportunities.giveBack(for: push.notification)
    if again {
      let retryAt = now.addingTimeInterval(settings.retryAfter)
      queues[subject, default: SubjectQueue()].retryAt = retryAt
      note(retryAt, subject)
    }
    return hold(push, .storedOffline, why)
  }

  // MARK: Completion

  private mutating func forget(_ push: StoredPush) -> [Action] {
    let subject = push.notification.subject
    subjects[push.id] = nil
    if queues[subject]?.held?.id == push.id { queues[subject]?.held = nil }
    if queues[subject]?.isEmpty == true { queues[subject] = nil }
    return push.isForOnce ? [] : [.drop(push)]
  }

  private mutating func expire(_ push: StoredPush) -> [Action] {
    [.step(push, .expired, detail: "before the device could be reached")] + forget(push)
  }

  private mutating func timerFired(_ subject: PushSubject, _ now: Date) -> [Action] {
    if let retryAt = queues[subject]?.retryAt, retryAt <= now {
      queues[subject]?.retryAt = nil
      return sendStored(subject, now)
    }
    if let held = queues[subject]?.held, held.end(settings) <= now { return expire(held) }
    guard let opportunity = queues[subject]?.notBefore, opportunity <= now else { return [] }
    queues[subject]?.notBefore = nil
    return sendStored(subject, now)
  }

  private mutating func tokenEnded(_ token: String) -> [Action] {
    let ended = queues.values.compactMap(\.held).filter { $0.token == token }
    return ended.flatMap { push in
      [.step(push, .tokenUnregistered, detail: "while it was stored")] + forget(push)
    }
  }
}

extension PushedNotification {
  /// Why it waits for the device's next opportunity.
  fileprivate func waiting(for opportunity: Date) -> String {
    let what = type == .background ? "background notifications are throttled" : "priority \(priority) is grouped"
    return "\(what): the device accepts it at \(opportunity.formatted(.iso8601))"
  }
}
