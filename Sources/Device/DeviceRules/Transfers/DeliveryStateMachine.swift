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
package struct DeliveryStateMachine: Sendable {
  /// One delivery attempt to one instance.
  package struct Attempt: Sendable, Equatable {
    package let generation: UInt32
    /// Whether the owner's handler is called first.
    package let wakesHandler: Bool

    package init(generation: UInt32, wakesHandler: Bool) {
      self.generation = generation
      self.wakesHandler = wakesHandler
    }
  }

  package struct Delivery: Sendable, Equatable {
    /// The envelope's id, the same in every redelivery.
    package let id: UUID
    package let session: SessionKey
    package internal(set) var tasks: [Int]
    /// All tasks of the session have ended: the owner is woken for it.
    package internal(set) var wakes = false
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
    package internal(set) var isUnderWay = false
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
    /// The owner runs. `woken`: it was launched or resumed a moment ago. `because`: it ran when it was wanted for this, and
    /// keeps running until the release.
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
    case process(ProcessAction)
    case deliver(UUID, Attempt)
    case stop(UUID)
    /// Notify the owner that the time to call the completion handler is running out.
    case expire(UUID)
    /// The time to acknowledge is over. Make sure that an acknowledgement could have arrived, then send `overdue`.
    case ask(UUID, generation: UInt32)
    /// Acknowledged: delete its tasks and files.
    case forget(Delivery)
  }

  enum Want: Equatable {
    /// The launch service has not answered.
    case asked
    /// The launch service keeps this generation running.
    case running(UInt32)
  }

  package internal(set) var sessions: TrackedDictionary<SessionKey, Session>
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
      return opened(key, sendsLaunchEvents, generation, now)
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
      return awake(owner, generation, woken, now)
    case .suspended(let owner, let generation):
      if awakeInstances[owner] == generation { awakeInstances[owner] = nil }
      forgetWants(of: owner)
      suspendedInstances[owner] = generation
      return ids { $0.session.owner == owner }.flatMap { wakeIfSuspended($0) }
    case .instanceEnded(let owner, let generation): return instanceEnded(owner, generation, now)
    case .sent(let id, let generation): return sent(id, generation, now)
    case .overdue(let id, let generation): return overdue(id, generation)
    case .acknowledged(let id, let tasks): return acknowledged(id, tasks, now)
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
    _ key: SessionKey, _ sendsLaunchEvents: Bool, _ generation: UInt32, _ now: Date
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
    return [.process(.want(key.owner, because: key.assertion, mayWake: false))]
  }

  private mutating func ended(_ tasks: [TaskKey], _ now: Date) -> [Action] {
    var touched: [SessionKey] = []
    let wasEnding = Set(tasks.map(\.session).filter { sessions[$0]?.ending.isEmpty == false })
    for task in tasks where sessions[task.session]?.running.remove(task.identifier) != nil {
      sessions[task.session]?.ending.remove(task.identifier)
      sessions[task.session]?.ended.append(task.identifier)
      if !touched.contains(task.session) { touched.append(task.session) }
    }
    return touched.flatMap { key in
      let isLast = wasEnding.contains(key) && sessions[key]?.ending.isEmpty ?? true
      return endedTasks(of: key, now) + (isLast ? releaseIfIdle(key, now) : [])
    }
  }

  /// Releases an owner that was wanted for tasks that ended, if there is nothing to deliver to it.
  private mutating func releaseIfIdle(_ key: SessionKey, _ now: Date) -> [Action] {
    guard
      !deliveries.values.contains(where: { $0.session == key && ($0.isUnderWay || isDue($0, now)) })
    else { return [] }
    return [release(key)]
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
    return .process(.want(key.owner, because: key.assertion, mayWake: delivery.wakes && mayWake(for: key)))
  }

  mutating func release(_ key: SessionKey) -> Action {
    wants[key] = nil
    return .process(.release(key.owner, because: key.assertion))
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
      let begun = begin(id, generation, woken: false, now)
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

  private mutating func acknowledged(_ id: UUID, _ tasks: [Int]?, _ now: Date) -> [Action] {
    guard var delivery = deliveries.removeValue(forKey: id) else { return [] }
    let key = delivery.session
    let sent = Set(tasks ?? delivery.tasks)
    for task in delivery.tasks where sent.contains(task) {
      let creator = sessions[key]?.creators.removeValue(forKey: task)
      if let creator, creator > 0 { sessions[key]?.acknowledged[task] = creator }
    }
    let rest = delivery.tasks.filter { !sent.contains($0) }
    guard rest.isEmpty else {
      // The instance ended while its acknowledgement was on the way, and its deliveries were united: the events that it
      // had not acknowledged go to the next instance.
      var other = Delivery(id: identifiers.next(), session: key, tasks: rest)
      other.wakes = delivery.wakes
      deliveries[other.id] = other
      delivery.tasks.removeAll { !sent.contains($0) }
      return [.forget(delivery)] + want(other.id, now)
    }
    let next = propose(key, now)
    // The next delivery goes to the same instance at once, is already being sent, or follows a write that is in progress: do
    // not suspend it in between.
    let isLast = next.isEmpty && !deliveries.values.contains { $0.session == key && $0.isUnderWay }
    let waits = isConnected(key) && sessions[key]?.ending.isEmpty == false
    return [.forget(delivery)] + (isLast && !waits ? [release(key)] : next)
  }
}
