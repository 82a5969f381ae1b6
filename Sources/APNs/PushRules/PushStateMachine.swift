// SPDX-License-Identifier: Apache-2.0

package import Foundation
import HeapModule
package import Messages

/// Decides the delivery of accepted notifications: send, store or discard.
///
/// What is kept is on disk, by device. Memory has the devices with unacknowledged notifications or with a due time, and
/// those that were used last. `handle` needs what is kept for the device that `missing` returns.
///
/// One notification is stored per subject (device, app and use); a later one replaces it. Source: Apple's *Sending
/// notification requests to APNs*. The separate slots for widgets and for each control are ours.
package struct PushStateMachine: Sendable {
  package enum Event: Sendable {
    /// The notification is in the delivery log.
    case accepted(StoredPush)
    /// The device reports whether it can be reached.
    case reach(device: String, isOnline: Bool, isAwake: Bool, generation: UInt32)
    /// A device of a fleet may have become reachable.
    case returned(String)
    /// The device joined or left the bus.
    case presence(device: String, isPresent: Bool, generation: UInt32)
    /// The notification is on the device's disk.
    case acknowledged(UUID, of: PushSubject)
    /// The device refused it. It is sent again when the device reports, and after a delay: the device may not announce
    /// when it accepts it, or its report may have arrived before the refusal.
    case refused(UUID, of: PushSubject, why: String)
    /// A token is no longer active.
    case tokenEnded(String, of: PushSubject)
    /// The end of a stored notification of a subject is reached.
    case ended(PushSubject)
    /// What is kept for the device was removed from memory, and notifications may not have been sent.
    case restored(String)
    /// `nextInstant` is reached.
    case timerFired
  }

  package enum Action: Equatable, Sendable {
    /// Stores it until `drop`. Replaces an earlier one with the same number.
    case keep(StoredPush)
    case drop(StoredPush)
    case step(StoredPush, PushStep.Name, detail: String?)
    case send(PushedNotification)
  }

  /// The notifications of one subject.
  package struct SubjectQueue: Sendable {
    /// Sent, possibly by an earlier process instance; ordered by number.
    package fileprivate(set) var sentPushes: [StoredPush] = []
    /// The stored notification.
    package fileprivate(set) var held: StoredPush?
    /// The earliest date of the next attempt.
    var retryAt: Date?
    /// The device's next opportunity for the stored notification.
    var notBefore: Date?
    var isEmpty: Bool { sentPushes.isEmpty && held == nil }

    /// Whether memory has no more than the disk has.
    var isIdle: Bool { retryAt == nil && notBefore == nil && !sentPushes.contains(where: \.isSent) }

    /// The dates at which `timerFired` is due for this subject.
    func hasInstant(_ date: Date) -> Bool { retryAt == date || notBefore == date }
  }

  /// The notifications of one device.
  package struct Device: Sendable {
    package fileprivate(set) var queues: [PushSubject: SubjectQueue] = [:]
    /// The round in which it was used last.
    var round = 0
  }

  /// An entry of the timer heap. It is obsolete when it is no longer one of the dates of its queue.
  private struct Instant: Comparable, Hashable, Sendable {
    let at: Date
    let subject: PushSubject
    static func < (one: Instant, other: Instant) -> Bool { one.at < other.at }
  }

  /// Seconds by which the disk rounds a date at most.
  private static let rounding = 0.001

  let settings: PushSettings
  package var reaches = DeviceReaches()
  package fileprivate(set) var devices: [String: Device] = [:]
  /// Increases when idle devices are removed from memory.
  var round = 0
  /// The number of devices at which idle ones are removed.
  var bound: Int
  private var instants = Heap<Instant>()
  private var instantsBound = 64
  private var opportunities: Opportunities
  /// The number of subjects that were examined because their device had returned.
  private(set) var examined = 0

  package init(settings: PushSettings = PushSettings()) {
    self.settings = settings
    bound = settings.idleDevices
    opportunities = Opportunities(settings.opportunities)
  }

  /// The number of notifications in memory.
  var count: Int {
    devices.values.reduce(0) { count, device in
      device.queues.values.reduce(count) { $0 + $1.sentPushes.count + ($1.held == nil ? 0 : 1) }
    }
  }

  /// The next date at which `timerFired` is due.
  package var nextInstant: Date? {
    mutating get {
      while let first = instants.min {
        if isDue(first) { return first.at }
        instants.removeMin()
      }
      return nil
    }
  }

  private func isDue(_ instant: Instant) -> Bool {
    devices[instant.subject.device]?.queues[instant.subject]?.hasInstant(instant.at) == true
  }

  /// Adds a timer entry, and now and then removes the obsolete ones.
  private mutating func note(_ at: Date, _ subject: PushSubject) {
    instants.insert(Instant(at: at, subject: subject))
    guard instants.count > instantsBound else { return }
    instants = Heap(instants.unordered.filter(isDue))
    instantsBound = 64 + 2 * instants.count
  }

  package mutating func handle(_ event: Event, now: Date) -> [Action] {
    switch event {
    case .accepted(let push): return accepted(push, now)
    case .reach(let device, let isOnline, let isAwake, let generation):
      reaches[device] = DeviceReaches.Reach(
        isPresent: true, isOnline: isOnline, isAwake: isAwake, generation: generation)
      return sendStored(device, now)
    case .returned(let device): return canReach(device) ? sendStored(device, now) : []
    case .presence(let device, let isPresent, let generation):
      return presence(device, isPresent: isPresent, generation: generation, now: now)
    case .acknowledged(let id, let subject): return acknowledged(id, subject: subject, now: now)
    case .refused(let id, let subject, let why): return refused(id, subject: subject, because: why, now: now)
    case .tokenEnded(let token, let subject):
      guard let held = devices[subject.device]?.queues[subject]?.held, held.token == token else { return [] }
      return [.step(held, .tokenUnregistered, detail: "while it was stored")] + forget(held)
    case .ended(let subject):
      guard let held = devices[subject.device]?.queues[subject]?.held, held.end(settings) <= now + Self.rounding else {
        return []
      }
      return expire(held)
    case .restored(let device): return sendStored(device, now)
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
      reaches.obstacle(to: push.notification) ?? opportunity.map { (.storedPower, push.notification.waiting(for: $0)) }
    if obstacle == nil, devices[subject.device]?.queues[subject]?.sentPushes.count ?? 0 < settings.inFlight {
      let keeping: [Action] = push.isForOnce ? [] : [.keep(push)]
      return keeping + send(push, in: subject, now)
    }
    let (step, why) =
      obstacle ?? (.storedOffline, "\(settings.inFlight) notifications await the device's acknowledgement")
    if push.isForOnce {
      return [.step(push, .notStored, detail: "its expiration is 0: one attempt, and \(why)")]
    }
    if push.end(settings) <= now { return [.step(push, .expired, detail: "its expiration had passed, and \(why)")] }
    // Another replica accepted both, and the later one arrived here first.
    if let newer = devices[subject.device]?.queues[subject]?.held, newer.number > push.number {
      return [.step(push, .superseded, detail: "by \(newer.id.text), accepted later")]
    }
    let actions = hold(push, step: step, because: why)
    if let opportunity { wait(until: opportunity, subject) }
    return actions
  }

  /// Tries again to send the stored notification of a subject at the device's next opportunity.
  private mutating func wait(until opportunity: Date, _ subject: PushSubject) {
    devices[subject.device]?.queues[subject]?.notBefore = opportunity
    note(opportunity, subject)
  }

  /// Stores a notification, which replaces the stored one.
  private mutating func hold(_ push: StoredPush, step: PushStep.Name, because why: String) -> [Action] {
    let keptPush = push.stored()
    let formerPush = replaceHeld(of: push.notification.subject, by: keptPush)
    var actions: [Action] = []
    if let formerPush {
      let collapse = push.notification.collapseID
      let isSame = collapse != nil && formerPush.notification.collapseID == collapse
      actions.append(
        .step(
          formerPush, isSame ? .collapsed : .superseded, detail: "by \(push.id.text), accepted later"))
      if !formerPush.isForOnce { actions.append(.drop(formerPush)) }
    }
    return actions + [.keep(keptPush), .step(keptPush, step, detail: why)]
  }

  /// Returns the former one.
  private mutating func replaceHeld(of subject: PushSubject, by keptPush: StoredPush?) -> StoredPush? {
    func replace(_ queue: inout SubjectQueue) -> StoredPush? {
      defer { queue.held = keptPush }
      return queue.held
    }
    func replace(_ device: inout Device) -> StoredPush? {
      device.round = round
      return replace(&device.queues[subject, default: SubjectQueue()])
    }
    return replace(&devices[subject.device, default: Device()])
  }

  // MARK: Sending

  private mutating func send(_ push: StoredPush, in subject: PushSubject, _ now: Date) -> [Action] {
    opportunities.use(for: push.notification, now: now)
    var sentPush = push
    sentPush.isSent = true
    devices[subject.device, default: Device()].queues[subject, default: SubjectQueue()].sentPushes.append(sentPush)
    devices[subject.device]?.round = round
    return [.step(push, .sent, detail: nil), .send(push.notification)]
  }

  /// Sends all notifications that the device accepts now.
  private mutating func sendStored(_ device: String, _ now: Date) -> [Action] {
    guard let subjects = devices[device]?.queues.keys else { return [] }
    devices[device]?.round = round
    examined += subjects.count
    var actions: [Action] = []
    for subject in ordered(subjects) {
      devices[device]?.queues[subject]?.retryAt = nil
      actions += sendStored(subject, now)
    }
    return actions
  }

  private mutating func sendStored(_ subject: PushSubject, _ now: Date) -> [Action] {
    guard var queue = devices[subject.device]?.queues[subject] else { return [] }
    var actions: [Action] = []
    for index in queue.sentPushes.indices where !queue.sentPushes[index].isSent {
      guard reaches.obstacle(to: queue.sentPushes[index].notification) == nil else { continue }
      queue.sentPushes[index].isSent = true
      actions += [.step(queue.sentPushes[index], .sent, detail: "again"), .send(queue.sentPushes[index].notification)]
    }
    devices[subject.device]?.queues[subject] = queue
    guard let held = queue.held else { return actions }
    if held.end(settings) <= now { return actions + expire(held) }
    guard queue.retryAt.map({ $0 <= now }) ?? true, reaches.obstacle(to: held.notification) == nil,
      queue.sentPushes.count < settings.inFlight
    else { return actions }
    if let opportunity = opportunities.next(for: held.notification, now: now) {
      wait(until: opportunity, subject)
      return actions
    }
    devices[subject.device]?.queues[subject]?.held = nil
    return actions + send(held, in: subject, now)
  }

  private mutating func presence(_ device: String, isPresent: Bool, generation: UInt32, now: Date) -> [Action] {
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

  private mutating func acknowledged(_ id: UUID, subject: PushSubject, now: Date) -> [Action] {
    guard let push = takeSent(id, subject) else { return [] }
    return [.step(push, .delivered, detail: nil)] + forget(push) + sendStored(subject, now)
  }

  private mutating func refused(_ id: UUID, subject: PushSubject, because why: String, now: Date) -> [Action] {
    guard let push = takeSent(id, subject) else { return [] }
    let why = "the device refused it: \(why)"
    let retryAt = now.addingTimeInterval(settings.retryAfter)
    if let queue = devices[subject.device]?.queues[subject] {
      let isNewest = (queue.held?.number ?? 0) < push.number
      let willBeHeld = !push.isForOnce && push.end(settings) > now && isNewest
      // No other reply of the device would send one that was stored because this one was not acknowledged.
      let isLastReply = queue.held != nil && queue.retryAt == nil && !queue.sentPushes.contains(where: \.isSent)
      if willBeHeld || isLastReply {
        devices[subject.device]?.queues[subject]?.retryAt = retryAt
        note(retryAt, subject)
      }
    }
    if push.isForOnce {
      return [.step(push, .notStored, detail: "its expiration is 0: one attempt, and \(why)")] + forget(push)
    }
    if push.end(settings) <= now { return [.step(push, .expired, detail: why)] + forget(push) }
    if let newer = devices[subject.device]?.queues[subject]?.held, newer.number > push.number {
      let detail = "by \(newer.id.text), accepted later; \(why)"
      return [.step(push, .superseded, detail: detail)] + forget(push)
    }
    opportunities.giveBack(for: push.notification)
    return hold(push, step: .storedOffline, because: why)
  }

  // MARK: Completion

  private mutating func takeSent(_ id: UUID, _ subject: PushSubject) -> StoredPush? {
    let index = devices[subject.device]?.queues[subject]?.sentPushes.firstIndex { $0.id == id }
    return index.flatMap { devices[subject.device]?.queues[subject]?.sentPushes.remove(at: $0) }
  }

  private mutating func forget(_ push: StoredPush) -> [Action] {
    let subject = push.notification.subject
    if devices[subject.device]?.queues[subject]?.held?.id == push.id {
      devices[subject.device]?.queues[subject]?.held = nil
    }
    if devices[subject.device]?.queues[subject]?.isEmpty == true { devices[subject.device]?.queues[subject] = nil }
    return push.isForOnce ? [] : [.drop(push)]
  }

  private mutating func expire(_ push: StoredPush) -> [Action] {
    [.step(push, .expired, detail: "before the device could be reached")] + forget(push)
  }

  private mutating func timerFired(_ subject: PushSubject, _ now: Date) -> [Action] {
    guard let queue = devices[subject.device]?.queues[subject] else { return [] }
    if let retryAt = queue.retryAt, retryAt <= now {
      devices[subject.device]?.queues[subject]?.retryAt = nil
      return sendStored(subject, now)
    }
    guard let opportunity = queue.notBefore, opportunity <= now else { return [] }
    devices[subject.device]?.queues[subject]?.notBefore = nil
    return sendStored(subject, now)
  }
}

// Which devices are in memory.

extension PushStateMachine {
  /// The device whose kept notifications must be loaded before the event is handled; `nil` for none.
  package func missing(for event: Event) -> String? {
    let device: String
    switch event {
    case .accepted(let push): device = push.notification.subject.device
    case .reach(let returned, let isOnline, _, _):
      guard isOnline else { return nil }
      device = returned
    case .returned(let returned):
      guard canReach(returned) else { return nil }
      device = returned
    case .presence(let returned, let isPresent, let generation):
      guard isPresent, let reach = reaches[returned], reach.generation == generation, reach.isOnline else { return nil }
      device = returned
    case .tokenEnded(_, let subject), .ended(let subject): device = subject.device
    // The notification was sent, so its device is in memory, unless a shared store has failed since then.
    case .acknowledged(_, let subject), .refused(_, let subject, _): device = subject.device
    case .restored(let restored): device = restored
    case .timerFired: return nil
    }
    return devices[device] == nil ? device : nil
  }

  /// Whether a device is connected and has a network.
  package func canReach(_ device: String) -> Bool { reaches[device].map { $0.isPresent && $0.isOnline } ?? false }

  /// Adds what is kept for a device, in the order of the numbers. The previous process instance may have sent all but the
  /// last of those of a subject that were stored, and those that were not.
  package mutating func load(_ device: String, _ keptPushes: [StoredPush]) {
    var loaded = Device(round: round)
    for push in keptPushes {
      var queue = loaded.queues[push.notification.subject] ?? SubjectQueue()
      if push.isHeld ?? push.notification.isFromStorage {
        if let former = queue.held { queue.sentPushes.append(former) }
        queue.held = push
      } else {
        queue.sentPushes.append(push)
      }
      loaded.queues[push.notification.subject] = queue
    }
    devices[device] = loaded
  }

  /// Whether memory has no more of a device than the disk has.
  package func isIdle(_ device: String) -> Bool { devices[device]?.queues.values.allSatisfy(\.isIdle) ?? false }

  /// Removes what is kept for devices from memory. Whether they can be reached stays.
  package mutating func unload(_ devices: some Sequence<String>) {
    for device in devices { self.devices[device] = nil }
  }

  /// Removes all devices of connections from memory, because another replica decides about them.
  package mutating func forget(_ connections: Set<String>) {
    devices = devices.filter { !connections.contains(PushSubject.connection(of: $0.key)) }
    reaches.forget(connections)
  }

  /// This replica has become the owner of connections: what it has in memory of their devices may be obsolete, and is
  /// removed. The devices of a fleet are removed by their service.
  ///
  /// - Returns: the devices whose reach is known. What is kept for them must be sent.
  package mutating func claimed(_ connections: Set<String>) -> [String] {
    // The connection of a host is its device. This includes a device whose reach is unknown because its host has restarted.
    unload(connections)
    return reaches.known(of: connections)
  }

  /// Whether this process instance of a device has reported.
  package func hasReach(_ device: String, generation: UInt32) -> Bool {
    reaches[device]?.generation == generation
  }

  /// Removes idle devices from memory, when there are many. Call when all actions are performed.
  package mutating func removeIdle() {
    guard devices.count >= bound else { return }
    devices = devices.filter { _, device in device.round == round || !device.queues.values.allSatisfy(\.isIdle) }
    round += 1
    bound = devices.count + settings.idleDevices
  }
}

extension PushStateMachine: Hashable {
  package static func == (left: Self, right: Self) -> Bool { left.essence == right.essence }
  package func hash(into hasher: inout Hasher) { hasher.combine(essence) }

  private struct Entry: Hashable {
    let number: Int64
    let isSent: Bool
    let isHeld: Bool?
    let isFromStorage: Bool

    init(_ push: StoredPush) {
      number = push.number
      isSent = push.isSent
      isHeld = push.isHeld
      isFromStorage = push.notification.isFromStorage
    }
  }

  private struct Queue: Hashable {
    let sent: [Entry]
    let held: Entry?
    let dates: [Date?]
  }

  /// What decisions depend on, and can change.
  private struct Essence: Hashable {
    let devices: [String: [PushSubject: Queue]]
    /// The entries of the timer heap that count. A date of a queue without one is not reached.
    let instants: Set<Instant>
    let reaches: DeviceReaches
    let opportunities: Opportunities
  }

  private var essence: Essence {
    Essence(
      devices: devices.mapValues { device in
        device.queues.mapValues { queue in
          Queue(
            sent: queue.sentPushes.map(Entry.init), held: queue.held.map(Entry.init),
            dates: [queue.retryAt, queue.notBefore])
        }
      }, instants: Set(instants.unordered.filter(isDue)), reaches: reaches, opportunities: opportunities)
  }
}

/// Limits of the push server's storage. All are ours (Documentation/fidelity/apns.md), except for the ages of the log
/// and of stored notifications, which are Apple's.
package struct PushSettings: Sendable, Hashable {
  /// Seconds that a line of the delivery log is kept. Source: 7 days, Apple's *Viewing the status of push
  /// notifications*.
  package var logAge: Double = 7 * 86_400
  /// Maximum number of requests in the delivery log; the oldest are deleted first.
  package var logLimit = 100_000
  /// Maximum number of requests that wait to be written; one more gets `ServiceUnavailable`.
  package var queueLimit = 10_000
  /// Seconds that a notification without an expiration is stored. Source: 30 days, Apple's *Sending notification
  /// requests*.
  package var storageAge: Double = 30 * 86_400
  /// Seconds after its end that a device token is forgotten.
  package var endedTokenAge: Double = 30 * 86_400
  /// Maximum number of device tokens in memory.
  package var cachedTokens = 16_384
  /// Number of devices without unacknowledged notifications whose stored ones are in memory; at most twice as many.
  var idleDevices = 4_096
  /// Unacknowledged notifications per subject; one more is stored.
  package var inFlight = 32
  /// Seconds until a refused notification is sent again, when the device may not report that the obstacle is gone.
  package var retryAfter: Double = 30
  /// Seconds that a busy server collects requests into one transaction, because each transaction has a fixed cost.
  /// Single requests are written at once.
  package var gathering: Double = 0.003
  /// Requests in a transaction from which the server counts as busy.
  package var busy = 8
  /// When a device that can be reached accepts notifications of low priority.
  package var opportunities = OpportunityPolicy()
  /// Delivery-log lines per second that are also recorded in the journal.
  package var journalRate = 1_000

  package init() {}
}

/// When a device that can be reached accepts notifications of low priority, and background notifications. Apple documents
/// that they are grouped, delivered in bursts and throttled, and no figures. With 0, they are delivered at once.
package struct OpportunityPolicy: Sendable, Hashable {
  /// Seconds from one burst of notifications of priority 5 to the next on a device.
  package var priority5Interval = 0.0
  /// The same for priority 1.
  package var priority1Interval = 0.0
  /// Seconds from one background notification of an app to the next on a device.
  package var backgroundInterval = 0.0

  package init() {}
}

/// The opportunities that devices had, and the next ones.
struct Opportunities: Sendable, Hashable {
  /// Whose notifications are limited together.
  private enum Group: Hashable, Sendable {
    case priority(Int, device: String)
    case background(app: String, device: String)
  }

  let policy: OpportunityPolicy
  /// When the last burst of each group was delivered. All notifications of one instant are one burst.
  private var bursts: [Group: Date] = [:]
  /// When the burst before the last one of each group was delivered.
  private var formerBursts: [Group: Date] = [:]
  /// The number of groups at which those whose interval is over are removed.
  private var bound = 1_000

  init(_ policy: OpportunityPolicy) { self.policy = policy }

  private func groups(of push: PushedNotification) -> [(group: Group, interval: Double)] {
    let (device, app) = (push.subject.device, push.subject.bundle)
    var groups: [(group: Group, interval: Double)] = []
    func add(_ group: @autoclosure () -> Group, _ interval: Double) {
      if interval > 0 { groups.append((group(), interval)) }
    }
    switch push.priority {
    case 5: add(.priority(5, device: device), policy.priority5Interval)
    case 1: add(.priority(1, device: device), policy.priority1Interval)
    default: break
    }
    if push.type == .background { add(.background(app: app, device: device), policy.backgroundInterval) }
    return groups
  }

  /// When the device accepts a notification; `nil` if it does so now.
  func next(for push: PushedNotification, now: Date) -> Date? {
    groups(of: push).compactMap { group, interval -> Date? in
      guard let burst = bursts[group], burst != now else { return nil }
      let end = burst.addingTimeInterval(interval)
      return end > now ? end : nil
    }.max()
  }

  /// A notification is sent.
  mutating func use(for push: PushedNotification, now: Date) {
    for (group, _) in groups(of: push) where bursts[group] != now {
      formerBursts[group] = bursts[group]
      bursts[group] = now
    }
    if bursts.count > bound { removeOld(now) }
  }

  private mutating func removeOld(_ now: Date) {
    let longest = max(policy.priority5Interval, policy.priority1Interval, policy.backgroundInterval)
    let old = now.addingTimeInterval(-longest)
    bursts = bursts.filter { $0.value >= old }
    formerBursts = formerBursts.filter { $0.value >= old }
    bound = 1_000 + 2 * bursts.count
  }

  /// The device refused a notification: its burst does not count.
  mutating func giveBack(for push: PushedNotification) {
    for (group, _) in groups(of: push) { bursts[group] = formerBursts.removeValue(forKey: group) }
  }
}

extension PushedNotification {
  /// Why it waits for the device's next opportunity.
  func waiting(for opportunity: Date) -> String {
    let what = type == .background ? "background notifications are throttled" : "priority \(priority) is grouped"
    return "\(what): the device accepts it at \(opportunity.formatted(.iso8601))"
  }
}
