// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// The state machine of event delivery: when the events of a session are delivered, to which instance of the owner, and
/// when they are deleted. A plain value without clock or I/O.
///
/// An owner that runs with the session open receives the events of ended tasks at once, without a call of its handler.
/// Tasks that end during a delivery are in the next one. Any other owner is woken once, when all tasks of the session
/// have ended, and its handler is called first. Tasks that end while it handles that are again delivered at once. A
/// delivery keeps its id until it is acknowledged, over exits of the owner and of the host. A delivery that no running
/// instance has received also takes the tasks that end later.
package struct DeliveryStateMachine: Sendable, Hashable {
  /// One delivery attempt to one instance.
  package struct Attempt: Sendable, Hashable {
    package let generation: UInt32
    /// Whether the owner's handler is called first.
    package let wakesHandler: Bool

    package init(generation: UInt32, wakesHandler: Bool) {
      self.generation = generation
      self.wakesHandler = wakesHandler
    }
  }

  package struct Delivery: Sendable, Hashable {
    /// The envelope's id, the same in every redelivery.
    package let id: UUID
    package let session: SessionKey
    package internal(set) var tasks: [Int]
    /// All tasks of the session have ended: the owner is woken for it.
    package fileprivate(set) var wakes = false
    /// Attempts that were not acknowledged in time.
    package var redeliveries = 0
    /// Consecutive instances that ended during an attempt.
    package var exits = 0
    package var notBefore: Date?
    /// Waits until a process creates the session.
    package var isHeld = false
    /// The last attempt. A repetition to the same instance is identical.
    package var last: Attempt?
    /// The deadline of the attempt that is in progress in this run of the host.
    var deadline: Date?
    package fileprivate(set) var isUnderWay = false
    /// The owner was notified that its time is running out.
    var isExpired = false
    /// A check whether the owner may still acknowledge is in progress.
    var isAsked = false
    var isEvicted = false
    /// A process created the session during the attempt: a refusal may be older than that.
    var isOpenedMeanwhile = false

    package init(id: UUID, session: SessionKey, tasks: [Int]) {
      self.id = id
      self.session = session
      self.tasks = tasks
    }
  }

  package enum Event: Sendable {
    /// The host starts: pending deliveries are resumed.
    case began
    /// A process created the session object.
    case opened(SessionKey, sendsLaunchEvents: Bool, generation: UInt32)
    /// The process that had the session open invalidated it, and keeps running.
    case closed(SessionKey, generation: UInt32)
    /// The user force-quit the app of the session: the owner is not launched for the events.
    case quit(SessionKey)
    /// A task was stored.
    case created(TaskKey, by: UInt32 = 0)
    /// The task has ended. `ended` follows when the database has its end.
    case ending(TaskKey)
    /// Finished, failed or cancelled, in this order.
    case ended([TaskKey])
    /// The owner runs. `woken`: the system launched or resumed it for its sessions a moment ago. `because`: it ran when it
    /// was wanted for this, and keeps running until the release.
    case awake(Address, generation: UInt32, woken: Bool, because: Assertion? = nil)
    /// The owner was suspended.
    case suspended(Address, generation: UInt32)
    case instanceEnded(Address, generation: UInt32)
    /// The copies of the files are complete and the events are being sent.
    case sent(UUID, generation: UInt32)
    /// The bus is reachable, the owner was queried over it, and has not acknowledged.
    case overdue(UUID, generation: UInt32)
    /// - `of`: the tasks whose events were sent; `nil`: all of the delivery.
    case acknowledged(UUID, of: [Int]? = nil)
    /// The owner replied that it cannot take the events.
    case refused(UUID)
    /// The date of `nextInstant` has been reached.
    case timerFired
  }

  package enum Action: Sendable, Equatable {
    case asks(DeviceRequest)
    case deliver(UUID, Attempt)
    case stop(UUID)
    /// Notify the owner that the time to call the completion handler is running out.
    case expire(UUID)
    /// The time to acknowledge is over. Make sure that an acknowledgement could have arrived, then send `overdue`.
    case ask(UUID, generation: UInt32)
    /// Acknowledged: delete its tasks and files.
    case forget(Delivery)
  }

  enum Want: Hashable {
    /// The launch service has not answered.
    case asked
    /// The launch service keeps this generation running.
    case running(UInt32)
  }

  package private(set) var sessions: TrackedDictionary<SessionKey, Session>
  package internal(set) var deliveries: TrackedDictionary<UUID, Delivery>
  /// The generations that run and are not suspended.
  var awakeInstances: [Address: UInt32] = [:]
  /// The sessions for whose events the owner is wanted.
  var wants: [SessionKey: Want] = [:]
  /// The generations that are suspended: disconnected from the sessions that they have open.
  package var suspendedInstances: [Address: UInt32] = [:]
  let settings: TransferSettings
  private var identifiers: IdentifierSource

  package init(
    sessions: [SessionKey: Session] = [:], deliveries: [Delivery] = [], settings: TransferSettings,
    identifiers: IdentifierSource = IdentifierSource()
  ) {
    self.sessions = TrackedDictionary(sessions)
    self.deliveries = TrackedDictionary(Dictionary(deliveries.map { ($0.id, $0) }) { first, _ in first })
    self.settings = settings
    self.identifiers = identifiers
  }

  /// Returns the sessions and deliveries that were changed since the last call and must be written.
  package mutating func takeTouched() -> (sessions: Set<SessionKey>, deliveries: Set<UUID>) {
    (sessions.takeTouched(), deliveries.takeTouched())
  }

  /// Returns the next date at which `timerFired` is due.
  package func nextInstant(after now: Date) -> Date? {
    deliveries.values.compactMap { delivery -> Date? in
      if delivery.isUnderWay { return delivery.isAsked ? nil : delivery.deadline }
      return delivery.isHeld ? nil : delivery.notBefore
    }.min()
  }

  package mutating func handle(_ event: Event, now: Date) -> [Action] {
    switch event {
    case .began:
      for delivery in deliveries.values where sessions[delivery.session]?.running.isEmpty ?? true {
        deliveries[delivery.id]?.wakes = true
      }
      return sessions.keys.sorted().flatMap { propose($0, now) } + ids { !$0.isUnderWay }.flatMap { want($0, now) }
    case .opened(let key, let sendsLaunchEvents, let generation):
      return opened(key, sendsLaunchEvents: sendsLaunchEvents, generation: generation, now: now)
    case .closed(let key, let generation):
      if sessions[key]?.openIn == generation { sessions[key]?.openIn = nil }
      return []
    case .quit(let key):
      sessions[key]?.isQuit = true
      return []
    case .created(let task, let creator):
      sessions[task.session]?.running.insert(task.identifier)
      sessions[task.session]?.creators[task.identifier] = creator
      let next = max(sessions[task.session]?.nextTaskIdentifier ?? 1, task.identifier + 1)
      sessions[task.session]?.nextTaskIdentifier = next
      return []
    case .ending(let task): return ending(task)
    case .ended(let tasks): return ended(tasks, now)
    case .awake(let owner, let generation, let woken, let because):
      for key in wants.keys where key.owner == owner && key.assertion == because { wants[key] = .running(generation) }
      return awake(owner, generation: generation, woken: woken, now: now)
    case .suspended(let owner, let generation):
      if awakeInstances[owner] == generation { awakeInstances[owner] = nil }
      forgetWants(of: owner)
      suspendedInstances[owner] = generation
      return ids { $0.session.owner == owner }.flatMap { wakeIfSuspended($0) }
    case .instanceEnded(let owner, let generation): return instanceEnded(owner, generation: generation, now: now)
    case .sent(let id, let generation): return sent(id, generation: generation, now: now)
    case .overdue(let id, let generation): return overdue(id, generation)
    case .acknowledged(let id, let tasks): return acknowledged(id, tasks: tasks, now: now)
    case .refused(let id): return refused(id)
    case .timerFired: return timerFired(now)
    }
  }

  /// The ids in order: deliveries that call the handler first, since the others were made while those were being
  /// handled.
  func ids(_ isMeant: (Delivery) -> Bool) -> [UUID] {
    deliveries.values.filter(isMeant).sorted {
      let (first, second) = ($0.last?.wakesHandler ?? false, $1.last?.wakesHandler ?? false)
      return first == second ? $0.id.uuidString < $1.id.uuidString : first
    }.map(\.id)
  }

  private mutating func opened(
    _ key: SessionKey, sendsLaunchEvents: Bool, generation: UInt32, now: Date
  ) -> [Action] {
    // The reply to this request is sent before the launch service answers, and so before events.
    if wants[key] != nil { wants[key] = .asked }
    var session = sessions[key] ?? Session(sendsLaunchEvents: sendsLaunchEvents)
    session.sendsLaunchEvents = sendsLaunchEvents
    session.openIn = generation
    session.isQuit = false
    sessions[key] = session
    // Only a process that runs repeats its requests.
    for other in sessions.keys where other.owner == key.owner {
      let acknowledged = sessions[other]?.acknowledged ?? [:]
      if !acknowledged.isEmpty { sessions[other]?.acknowledged = acknowledged.filter { $0.value >= generation } }
    }
    // The sender runs.
    awakeInstances[key.owner] = generation
    suspendedInstances[key.owner] = nil
    for id in ids({ $0.session == key && $0.isUnderWay && $0.last?.generation == generation }) {
      deliveries[id]?.isOpenedMeanwhile = true
    }
    // Its owner runs and asks for them: neither an eviction nor an exit of an earlier instance delays them.
    for id in ids({ $0.session == key && !$0.isUnderWay }) {
      if deliveries[id]?.isHeld == true { deliveries[id]?.redeliveries = 0 }
      deliveries[id]?.isHeld = false
      deliveries[id]?.notBefore = nil
    }
    let proposed = propose(key, now)
    guard proposed.isEmpty else { return proposed }
    return ids { $0.session == key && !$0.isUnderWay }.flatMap { want($0, now) }
  }

  /// Asks for an owner that runs before there is something to deliver, so that the answer arrives during the write.
  private mutating func ending(_ task: TaskKey) -> [Action] {
    let key = task.session
    guard sessions[key]?.running.contains(task.identifier) == true else { return [] }
    sessions[key]?.ending.insert(task.identifier)
    guard wants[key] == nil, isConnected(key) else { return [] }
    wants[key] = .asked
    return [.asks(.process(.want(key.owner, because: key.assertion, mayWake: false)))]
  }

  private mutating func ended(_ tasks: [TaskKey], _ now: Date) -> [Action] {
    var touched: [SessionKey] = []
    let wasEnding = Set(tasks.map(\.session).filter { sessions[$0]?.ending.isEmpty == false })
    for task in tasks where sessions[task.session]?.running.remove(task.identifier) != nil {
      sessions[task.session]?.ending.remove(task.identifier)
      sessions[task.session]?.ended.append(task.identifier)
      if !touched.contains(task.session) { touched.append(task.session) }
    }
    return touched.flatMap { key -> [Action] in
      let isLast = wasEnding.contains(key) && sessions[key]?.ending.isEmpty ?? true
      let actions = endedTasks(of: key, now)
      // An owner that was wanted for them is released, if there is nothing to deliver to it.
      guard isLast, !deliveries.values.contains(where: { $0.session == key && ($0.isUnderWay || isDue($0, now)) })
      else { return actions }
      return actions + [release(key)]
    }
  }

  private mutating func endedTasks(of key: SessionKey, _ now: Date) -> [Action] {
    let proposed = propose(key, now)
    guard proposed.isEmpty, sessions[key]?.running.isEmpty == true else { return proposed }
    let resumed = ids { $0.session == key }.flatMap { wakeIfSuspended($0) }
    // An earlier host began a delivery, and may have exited before it recorded that the owner's instance ended.
    return resumed
      + ids { $0.session == key && !$0.isUnderWay && !$0.wakes }.flatMap { id in
        deliveries[id]?.wakes = true
        return want(id, now)
      }
  }

  /// Makes the next delivery from a session's ended tasks, if its owner can receive them now, and begins it or asks for the
  /// owner.
  mutating func propose(_ key: SessionKey, _ now: Date) -> [Action] {
    collect(key).map { want($0, now) } ?? []
  }

  /// Makes the next delivery from a session's ended tasks, if its owner can receive them now.
  mutating func collect(_ key: SessionKey) -> UUID? {
    guard let session = sessions[key], !session.ended.isEmpty else { return nil }
    let haveAllEnded = session.running.isEmpty
    guard haveAllEnded || isConnected(key) else { return nil }
    let outstanding = ids { $0.session == key }
    let id: UUID
    if let unseen = outstanding.last(where: { deliveries[$0]?.last == nil && deliveries[$0]?.isUnderWay == false }) {
      id = unseen
      deliveries[id]?.tasks += session.ended
    } else {
      guard outstanding.allSatisfy({ deliveries[$0]?.isBeingHandled == true }) else { return nil }
      let delivery = Delivery(id: identifiers.next(), session: key, tasks: session.ended)
      id = delivery.id
      deliveries[id] = delivery
    }
    if haveAllEnded { deliveries[id]?.wakes = true }
    sessions[key]?.ended = []
    return id
  }

  /// Whether an instance of the owner runs that has the session open.
  private func isConnected(_ key: SessionKey) -> Bool {
    guard let generation = sessions[key]?.openIn else { return false }
    return awakeInstances[key.owner] == generation
  }

  /// Whether the owner may be launched or resumed for a session's events.
  func mayWake(for key: SessionKey) -> Bool { sessions[key].map { $0.sendsLaunchEvents && !$0.isQuit } ?? true }

  mutating func wantAction(_ delivery: Delivery) -> Action {
    let key = delivery.session
    if wants[key] == nil { wants[key] = .asked }
    return .asks(.process(.want(key.owner, because: key.assertion, mayWake: delivery.wakes && mayWake(for: key))))
  }

  mutating func release(_ key: SessionKey) -> Action {
    wants[key] = nil
    return .asks(.process(.release(key.owner, because: key.assertion)))
  }

  /// The instances of the owner that were kept running are suspended or have ended.
  mutating func forgetWants(of owner: Address) {
    for key in wants.keys where key.owner == owner { wants[key] = nil }
  }

  /// An owner may be suspended when the events have been sent, if it was released and wanted again at that moment. When all
  /// tasks of the session have ended it is resumed for them.
  private mutating func wakeIfSuspended(_ id: UUID) -> [Action] {
    guard let delivery = deliveries[id], delivery.isUnderWay, !delivery.wakes,
      let generation = delivery.last?.generation,
      suspendedInstances[delivery.session.owner] == generation, sessions[delivery.session]?.running.isEmpty ?? true
    else { return [] }
    deliveries[id]?.wakes = true
    return deliveries[id].map { [wantAction($0)] } ?? []
  }

  /// Delivers to an owner that is kept running, or asks for one.
  mutating func want(_ id: UUID, _ now: Date) -> [Action] {
    guard let delivery = deliveries[id], isDue(delivery, now) else { return [] }
    deliveries[id]?.notBefore = nil
    if case .running(let generation) = wants[delivery.session], awakeInstances[delivery.session.owner] == generation,
      let begun = begin(id, generation: generation, woken: false, now: now)
    {
      return begun
    }
    return [wantAction(delivery)]
  }

  func isDue(_ delivery: Delivery, _ now: Date) -> Bool {
    guard !delivery.isUnderWay, !delivery.isHeld else { return false }
    return delivery.notBefore.map { Backoff.isOver($0, longest: pause(of: delivery), at: now) } ?? true
  }

  private mutating func refused(_ id: UUID) -> [Action] {
    guard let delivery = deliveries[id], delivery.isUnderWay else { return [] }
    let key = delivery.session
    deliveries[id]?.isUnderWay = false
    deliveries[id]?.last = nil
    if delivery.isOpenedMeanwhile { return [wantAction(delivery)] }
    deliveries[id]?.isHeld = true
    return [release(key)]
  }

  private mutating func acknowledged(_ id: UUID, tasks: [Int]?, now: Date) -> [Action] {
    guard var delivery = deliveries.removeValue(forKey: id) else { return [] }
    let key = delivery.session
    let sentTasks = Set(tasks ?? delivery.tasks)
    for task in delivery.tasks where sentTasks.contains(task) {
      let creator = sessions[key]?.creators.removeValue(forKey: task)
      if let creator, creator > 0 { sessions[key]?.acknowledged[task] = creator }
    }
    let rest = delivery.tasks.filter { !sentTasks.contains($0) }
    guard rest.isEmpty else {
      // The instance ended while its acknowledgement was on the way, and its deliveries were united: the events that it
      // had not acknowledged go to the next instance.
      var other = Delivery(id: identifiers.next(), session: key, tasks: rest)
      other.wakes = delivery.wakes
      deliveries[other.id] = other
      delivery.tasks.removeAll { !sentTasks.contains($0) }
      return [.forget(delivery)] + want(other.id, now)
    }
    let next = propose(key, now)
    // The next delivery goes to the same instance at once, is already being sent, or follows a write that is in progress: do
    // not suspend it in between.
    let isLast = next.isEmpty && !deliveries.values.contains { $0.session == key && $0.isUnderWay }
    let waits = isConnected(key) && sessions[key]?.ending.isEmpty == false
    guard isLast, !waits else { return [.forget(delivery)] + next }
    // One that waited until the handler of this one was called goes to the same instance, too, or to the next one.
    // A delivery that cannot begin and may not wake its owner waits until the owner opens the session.
    let canBegin = isConnected(key)
    let due = ids { $0.session == key && isDue($0, now) && (canBegin || $0.wakes && mayWake(for: key)) }
      .flatMap { want($0, now) }
    return [.forget(delivery)] + (due.isEmpty ? [release(key)] : due)
  }
}

extension DeliveryStateMachine.Delivery {
  /// The owner's handler has been called and all events of the delivery were sent. Tasks that end from now on need not
  /// wait for the completion handler.
  var isBeingHandled: Bool { isUnderWay && deadline != nil && last?.wakesHandler == true }
}

// A delivery attempt from its beginning to its end.
extension DeliveryStateMachine {
  mutating func awake(_ owner: Address, generation: UInt32, woken: Bool, now: Date) -> [Action] {
    awakeInstances[owner] = generation
    suspendedInstances[owner] = nil
    var actions: [Action] = []
    for key in sessions.keys.filter({ $0.owner == owner && sessions[$0]?.ended.isEmpty == false }).sorted() {
      _ = collect(key)
    }
    for id in ids({ $0.session.owner == owner }) {
      if deliveries[id]?.isUnderWay == true, deliveries[id]?.last?.generation != generation {
        deliveries[id]?.isUnderWay = false
        deliveries[id]?.isEvicted = false
        deliveries[id]?.last = nil
        actions.append(.stop(id))
      }
      actions += begin(id, generation: generation, woken: woken, now: now) ?? []
    }
    return actions
  }

  /// Begins a delivery to the instance; `nil`: not now.
  mutating func begin(_ id: UUID, generation: UInt32, woken: Bool, now: Date) -> [Action]? {
    guard var delivery = deliveries[id], isDue(delivery, now),
      let attempt = attempt(delivery, generation: generation, woken: woken)
    else { return nil }
    delivery.last = attempt
    delivery.isUnderWay = true
    delivery.isExpired = false
    delivery.isAsked = false
    delivery.isEvicted = false
    delivery.isOpenedMeanwhile = false
    delivery.notBefore = nil
    delivery.deadline = nil
    deliveries[id] = delivery
    // An owner that is woken for its events is launched again for them.
    let isWanted = wants[delivery.session] == .running(generation) && !delivery.wakes
    return (isWanted ? [] : [wantAction(delivery)]) + [.deliver(id, attempt)]
  }

  /// How to deliver to this instance: as before in a repetition; with a call of the handler when the instance was woken
  /// for it or has not created the session; otherwise without. `nil`: not now.
  private func attempt(_ delivery: Delivery, generation: UInt32, woken: Bool) -> Attempt? {
    if let last = delivery.last, last.generation == generation { return last }
    let session = sessions[delivery.session]
    let isOpen = session?.openIn == generation
    let isOther = deliveries.values.contains { $0.session == delivery.session && $0.isBeingHandled }
    let isWoken = delivery.wakes && mayWake(for: delivery.session) && (woken || !isOpen) && !isOther
    guard isWoken || isOpen else { return nil }
    return Attempt(generation: generation, wakesHandler: isWoken)
  }

  /// The events are sent. For an owner whose handler is called, the completion deadline begins. Other owners have none.
  mutating func sent(_ id: UUID, generation: UInt32, now: Date) -> [Action] {
    guard let delivery = deliveries[id], delivery.isUnderWay, let last = delivery.last, last.generation == generation,
      last.wakesHandler
    else { return [] }
    deliveries[id]?.deadline = now.addingTimeInterval(settings.completionDeadline)
    return propose(delivery.session, now)
  }

  mutating func timerFired(_ now: Date) -> [Action] {
    var actions: [Action] = []
    for id in ids({ _ in true }) {
      guard let delivery = deliveries[id] else { continue }
      guard delivery.isUnderWay else {
        if delivery.notBefore != nil { actions += want(id, now) }
        continue
      }
      guard !delivery.isAsked, let deadline = delivery.deadline, deadline <= now,
        let generation = delivery.last?.generation
      else { continue }
      if delivery.isExpired {
        deliveries[id]?.isAsked = true
        actions.append(.ask(id, generation: generation))
      } else {
        deliveries[id]?.isExpired = true
        deliveries[id]?.deadline = deadline.addingTimeInterval(settings.completionGrace)
        actions.append(.expire(id))
      }
    }
    return actions
  }

  mutating func overdue(_ id: UUID, _ generation: UInt32) -> [Action] {
    guard let delivery = deliveries[id], delivery.isUnderWay, !delivery.isEvicted,
      delivery.last?.generation == generation
    else { return [] }
    deliveries[id]?.redeliveries += 1
    deliveries[id]?.isEvicted = true
    let key = delivery.session
    let limit = settings.completionDeadline + settings.completionGrace
    let why = "did not call the completion for \(key.identifier) within \(limit.formatted()) s"
    return [release(key), .asks(.process(.evict(key.owner, generation: generation, why: why)))]
  }

  mutating func instanceEnded(_ owner: Address, generation: UInt32, now: Date) -> [Action] {
    if awakeInstances[owner] == generation { awakeInstances[owner] = nil }
    if suspendedInstances[owner] == generation { suspendedInstances[owner] = nil }
    forgetWants(of: owner)
    for key in sessions.keys where key.owner == owner && sessions[key]?.openIn == generation {
      sessions[key]?.openIn = nil
    }
    var actions: [Action] = []
    var wanted: [SessionKey] = []
    let all = ids { $0.session.owner == owner }
    for id in all where deliveries[id]?.last?.generation == generation {
      guard var delivery = deliveries[id] else { continue }
      let wasUnderWay = delivery.isUnderWay
      delivery.isUnderWay = false
      delivery.last = nil
      // The last task of the session may have ended during the delivery: now the owner is launched for both.
      if sessions[delivery.session]?.running.isEmpty ?? true { delivery.wakes = true }
      if wasUnderWay {
        actions.append(.stop(id))
        if backOff(&delivery, now) {
          if !wanted.contains(delivery.session) { wanted.append(delivery.session) }
        } else if !delivery.isEvicted {
          actions.append(release(delivery.session))
        }
      }
      delivery.isEvicted = false
      deliveries[id] = delivery
    }
    unite(all)
    for key in wanted {
      // It may be united with one that waits.
      let due = ids { $0.session == key && isDue($0, now) }.first.flatMap { deliveries[$0] }
      actions.append(due.map { wantAction($0) } ?? release(key))
    }
    return actions
  }

  private var evictionBackoff: Backoff { Backoff(first: settings.redeliverAfter, limit: 86_400) }

  /// The longest pause that a delivery may have now.
  func pause(of delivery: Delivery) -> Double {
    max(
      evictionBackoff.pause(after: delivery.redeliveries), settings.resumeBackoff.pause(after: delivery.exits - 2))
  }

  /// Delays the next attempt after an instance ended during one.
  ///
  /// - Returns: whether the next attempt is due at once.
  private mutating func backOff(_ delivery: inout Delivery, _ now: Date) -> Bool {
    if delivery.isEvicted {
      delivery.isHeld = delivery.redeliveries >= settings.redeliveries
      let pause = evictionBackoff.pause(after: delivery.redeliveries)
      delivery.notBefore = delivery.isHeld ? nil : now.addingTimeInterval(pause)
      return false
    }
    // The first two exits may have other causes. An owner that exits each time is woken less and less often.
    delivery.exits += 1
    let pause = settings.resumeBackoff.pause(after: delivery.exits - 2)
    delivery.notBefore = pause > 0 ? now.addingTimeInterval(pause) : nil
    return pause <= 0
  }

  /// Merges the deliveries of a session that no running instance has received: one handler call, all delegate calls in
  /// order, one finish.
  ///
  /// - Parameter all: an owner's deliveries, for each session the older before the newer.
  private mutating func unite(_ all: [UUID]) {
    var firsts: [SessionKey: UUID] = [:]
    for id in all {
      guard let delivery = deliveries[id], delivery.last == nil, !delivery.isUnderWay else { continue }
      guard let first = firsts[delivery.session] else {
        firsts[delivery.session] = id
        continue
      }
      deliveries[first]?.tasks += delivery.tasks
      if delivery.wakes { deliveries[first]?.wakes = true }
      deliveries[id] = nil
    }
  }
}

// Which process is connected to a session. Suspension disconnects a process from its sessions, and resumption connects
// it again, unless another process of the app has connected to a session of the same identifier. Source: "Networking in
// a Short-Lived Extension".

extension DeliveryStateMachine {
  /// Another process of the owner's app or its extensions that is connected to a session of this identifier.
  package func otherProcess(with key: SessionKey, _ families: AppFamilies) -> Address? {
    let family = families.family(of: key.owner)
    return sessions.all.filter { other, session in
      other.identifier == key.identifier && other.owner != key.owner && isConnected(other, session)
        && families.family(of: other.owner) == family
    }.keys.min()?.owner
  }

  /// The sessions to which another process has connected since the instance was suspended, and that process.
  func sessionsTaken(
    from owner: Address, generation: UInt32, _ families: AppFamilies
  ) -> [(key: SessionKey, holder: Address)] {
    guard suspendedInstances[owner] == generation else { return [] }
    let open = sessions.all.filter { $0.key.owner == owner && $0.value.openIn == generation }
    return open.keys.sorted().compactMap { key in otherProcess(with: key, families).map { (key, $0) } }
  }

  /// The deliveries whose last attempt was to an instance.
  func deliveries(to owner: Address, generation: UInt32) -> [UUID] {
    ids { $0.session.owner == owner && $0.last?.generation == generation }
  }

  /// Whether a process has the session open and is not suspended.
  private func isConnected(_ key: SessionKey, _ session: Session) -> Bool {
    session.openIn.map { suspendedInstances[key.owner] != $0 } ?? false
  }
}

// The sessions of owners, and their tasks until they are acknowledged.

extension DeliveryStateMachine {
  package struct Session: Sendable, Hashable {
    package var sendsLaunchEvents: Bool
    /// The generation of the owner that has the session open.
    package var openIn: UInt32?
    /// The user force-quit the app: it is not launched for pending events until the session is opened again.
    package var isQuit = false
    package var running: Set<Int> = []
    /// Tasks of `running` that have ended, which is not in the database yet.
    package fileprivate(set) var ending: Set<Int> = []
    /// Tasks that have ended and are in no delivery yet, in the order in which they ended.
    package var ended: [Int] = []
    /// All tasks that are not acknowledged, each with the generation of the owner that created it; 0 when an earlier
    /// version stored it.
    package var creators: [Int: UInt32] = [:]
    /// Acknowledged tasks with the generations that created them: a process repeats a request that has no reply.
    package var acknowledged: [Int: UInt32] = [:]
    /// Higher than the identifier of each task that was created.
    package var nextTaskIdentifier = 1

    package init(
      sendsLaunchEvents: Bool, openIn: UInt32? = nil, isQuit: Bool = false, running: Set<Int> = [], ended: [Int] = []
    ) {
      self.sendsLaunchEvents = sendsLaunchEvents
      self.openIn = openIn
      self.isQuit = isQuit
      self.running = running
      self.ended = ended
    }
  }

  /// Whether a request creates a task: it is not a repetition whose task is stored, or was acknowledged since.
  package func isNew(_ task: TaskKey, by creator: UInt32) -> Bool {
    guard let session = sessions[task.session] else { return true }
    return session.creators[task.identifier] == nil && session.acknowledged[task.identifier] != creator
  }
}

/// The key of a background session: the process that created it, and its identifier. The owner's address contains the
/// device and the bundle identifier.
package struct SessionKey: Hashable, Sendable {
  package let owner: Address
  package let identifier: String
  package init(owner: Address, identifier: String) {
    self.owner = owner
    self.identifier = identifier
  }

  /// The message context of everything about the session.
  package var context: MessageContext {
    MessageContext(correlation: MessageContext.correlation(ofSession: identifier, of: owner))
  }
  /// The assertion that keeps the owner awake for events.
  package var assertion: Assertion { Assertion.events(of: identifier) }
}

extension SessionKey: Comparable {
  package static func < (left: SessionKey, right: SessionKey) -> Bool {
    (left.owner.text, left.identifier) < (right.owner.text, right.identifier)
  }
}

/// The key of a task of a session.
package struct TaskKey: Hashable, Sendable {
  package let session: SessionKey
  package let identifier: Int
  package init(session: SessionKey, identifier: Int) {
    self.session = session
    self.identifier = identifier
  }
}

/// A dictionary that records which keys were changed, so that the database can be updated without comparing all values.
package struct TrackedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  package private(set) var all: [Key: Value]
  private var touched: Set<Key> = []

  package init(_ all: [Key: Value]) { self.all = all }

  package subscript(key: Key) -> Value? {
    get { all[key] }
    _modify {
      touched.insert(key)
      yield &all[key]
    }
  }

  package var keys: Dictionary<Key, Value>.Keys { all.keys }
  package var values: Dictionary<Key, Value>.Values { all.values }

  package mutating func removeValue(forKey key: Key) -> Value? {
    touched.insert(key)
    return all.removeValue(forKey: key)
  }

  /// Returns the keys whose value was set, changed or removed since the last call.
  package mutating func takeTouched() -> Set<Key> {
    defer { touched = [] }
    return touched
  }
}

extension TrackedDictionary: Equatable where Value: Equatable {
  package static func == (left: Self, right: Self) -> Bool { left.all == right.all }
}

extension TrackedDictionary: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(all) }
}

/// New identifiers: the first ten bytes of a base, then a number. A state machine with an equal source makes equal ones.
package struct IdentifierSource: Sendable, Hashable {
  private let base: UUID
  private var last: UInt64 = 0

  /// - Parameter base: random, so that no other run makes the same identifiers.
  package init(base: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))) { self.base = base }

  package mutating func next() -> UUID {
    last += 1
    var bytes = base.uuid
    bytes.10 = UInt8(truncatingIfNeeded: last >> 40)
    bytes.11 = UInt8(truncatingIfNeeded: last >> 32)
    bytes.12 = UInt8(truncatingIfNeeded: last >> 24)
    bytes.13 = UInt8(truncatingIfNeeded: last >> 16)
    bytes.14 = UInt8(truncatingIfNeeded: last >> 8)
    bytes.15 = UInt8(truncatingIfNeeded: last)
    return UUID(uuid: bytes)
  }
}
