package import Conversations
package import Foundation
import Timekeeping

/// When the events of a session are handed over, to which life of the owner, and when they are forgotten: a plain value
/// without clock or I/O.
///
/// An owner that runs with the session open is told of what ended at once, without its handler; what ends while it is
/// being told is told next. Any other is woken once, when all tasks of the session have ended: its handler is called
/// first. What ends while that is being handled is told at once again. A delivery's id is kept until it is acknowledged,
/// whoever dies meanwhile; one that no living process has seen takes what ends meanwhile.
package struct DeliveryDecision: Sendable {
  package struct Session: Sendable, Equatable {
    package var sendsLaunchEvents: Bool
    /// Which life of the owner has the session open.
    package var openIn: UInt32?
    /// The person ended the app: nobody is launched for what is outstanding until the session is opened again.
    package var isQuit = false
    package var running: Set<Int> = []
    /// Ended and in no delivery yet, in the order in which they ended.
    package var ended: [Int] = []

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

  /// One hand-over to one life.
  package struct Attempt: Sendable, Equatable {
    package let generation: UInt32
    /// Whether the owner's handler is called first.
    package let wakesHandler: Bool
  }

  package struct Delivery: Sendable, Equatable {
    /// The envelope's id, the same in every redelivery.
    package let id: UUID
    package let session: SessionKey
    package internal(set) var tasks: [Int]
    /// All tasks of the session had ended: the owner is woken for it.
    package internal(set) var wakes = false
    /// Hand-overs that were not acknowledged in time.
    package var tries = 0
    /// Lives that ended during a hand-over, in a row.
    package var deaths = 0
    package var notBefore: Date?
    /// Until a process creates the session.
    package var isHeld = false
    /// The last hand-over: a repetition to the same life says the same.
    package var last: Attempt?
    /// The hand-over that is under way in this life of the host, and until when.
    var deadline: Date?
    var isUnderWay = false
    /// The owner has been told that its time is running out.
    var isExpired = false
    /// Whether it may still acknowledge is being found out.
    var isAsked = false
    var isEvicted = false
    /// A process created the session while the hand-over was under way: a refusal may be older than that.
    var isOpenedMeanwhile = false

    package init(id: UUID, session: SessionKey, tasks: [Int]) {
      self.id = id
      self.session = session
      self.tasks = tasks
    }
  }

  package enum Event: Sendable {
    /// The host begins: what was to be delivered still is.
    case began
    /// A process created the session object.
    case opened(SessionKey, sendsLaunchEvents: Bool, generation: UInt32)
    /// The process that had it open made it invalid, and lives on.
    case closed(SessionKey, generation: UInt32)
    /// The person ended the app that the session belongs to: its owner is not launched for the events.
    case quit(SessionKey)
    case created(TaskKey)
    /// Finished, failed or cancelled.
    case ended(TaskKey)
    /// The owner runs. `woken`: it was launched or resumed a moment ago.
    case awake(Address, generation: UInt32, woken: Bool)
    /// The owner runs no longer, and lives.
    case suspended(Address, generation: UInt32)
    case lifeEnded(Address, generation: UInt32)
    /// The events go out now: their copies are made.
    case sent(UUID, generation: UInt32)
    /// The bus is there, the owner was asked over it, and has not acknowledged.
    case overdue(UUID, generation: UInt32)
    case acknowledged(UUID)
    /// The owner answered that it cannot take the events.
    case refused(UUID)
    /// The instant of `nextInstant` has come.
    case instantCame
  }

  package enum Answer: Sendable, Equatable {
    case intent(TransferIntent)
    case deliver(UUID, Attempt)
    case stop(UUID)
    /// The time to call the completion is running out: the owner is told.
    case expire(UUID)
    /// The time to acknowledge is over. Make sure that an acknowledgement could have come, then say `overdue`.
    case ask(UUID, generation: UInt32)
    /// Acknowledged: its tasks and files are to be removed.
    case forget(Delivery)
  }

  package internal(set) var sessions: Tracked<SessionKey, Session>
  package internal(set) var deliveries: Tracked<UUID, Delivery>
  /// The lives that run, and are not suspended.
  var awakeLives: [Address: UInt32] = [:]
  let settings: TransferSettings
  private let makeID: @Sendable () -> UUID

  package init(
    sessions: [SessionKey: Session] = [:], deliveries: [Delivery] = [], settings: TransferSettings,
    makeID: @escaping @Sendable () -> UUID = { UUID() }
  ) {
    self.sessions = Tracked(sessions)
    self.deliveries = Tracked(Dictionary(deliveries.map { ($0.id, $0) }) { first, _ in first })
    self.settings = settings
    self.makeID = makeID
  }

  /// What is to be written: the sessions and deliveries that were touched since the last call.
  package mutating func takeTouched() -> (sessions: Set<SessionKey>, deliveries: Set<UUID>) {
    (sessions.takeTouched(), deliveries.takeTouched())
  }

  /// When `instantCame` is due.
  package func nextInstant(after now: Date) -> Date? {
    deliveries.values.compactMap { delivery -> Date? in
      if delivery.isUnderWay { return delivery.isAsked ? nil : delivery.deadline }
      return delivery.isHeld ? nil : delivery.notBefore
    }.min()
  }

  package mutating func take(_ event: Event, now: Date) -> [Answer] {
    switch event {
    case .began:
      for delivery in deliveries.values where sessions[delivery.session]?.running.isEmpty ?? true {
        deliveries[delivery.id]?.wakes = true
      }
      return sessions.keys.flatMap { propose($0, now) } + ids { !$0.isUnderWay }.flatMap { want($0, now) }
    case .opened(let key, let sendsLaunchEvents, let generation):
      return opened(key, sendsLaunchEvents, generation, now)
    case .closed(let key, let generation):
      if sessions[key]?.openIn == generation { sessions[key]?.openIn = nil }
      return []
    case .quit(let key):
      sessions[key]?.isQuit = true
      return []
    case .created(let task):
      sessions[task.session]?.running.insert(task.identifier)
      return []
    case .ended(let task): return ended(task, now)
    case .awake(let owner, let generation, let woken): return awake(owner, generation, woken, now)
    case .suspended(let owner, let generation):
      if awakeLives[owner] == generation { awakeLives[owner] = nil }
      return []
    case .lifeEnded(let owner, let generation): return lifeEnded(owner, generation, now)
    case .sent(let id, let generation): return sent(id, generation, now)
    case .overdue(let id, let generation): return overdue(id, generation)
    case .acknowledged(let id): return acknowledged(id, now)
    case .refused(let id): return refused(id)
    case .instantCame: return instantCame(now)
    }
  }

  /// What wakes comes first: the other was made while that was being handled.
  func ids(_ isMeant: (Delivery) -> Bool) -> [UUID] {
    deliveries.values.filter(isMeant).sorted {
      let (first, second) = ($0.last?.wakesHandler ?? false, $1.last?.wakesHandler ?? false)
      return first == second ? $0.id.uuidString < $1.id.uuidString : first
    }.map(\.id)
  }

  private mutating func opened(
    _ key: SessionKey, _ sendsLaunchEvents: Bool, _ generation: UInt32, _ now: Date
  ) -> [Answer] {
    var session = sessions[key] ?? Session(sendsLaunchEvents: sendsLaunchEvents)
    session.sendsLaunchEvents = sendsLaunchEvents
    session.openIn = generation
    session.isQuit = false
    sessions[key] = session
    // Who says so runs.
    awakeLives[key.owner] = generation
    for id in ids({ $0.session == key && $0.isUnderWay && $0.last?.generation == generation }) {
      deliveries[id]?.isOpenedMeanwhile = true
    }
    for id in ids({ $0.session == key && !$0.isUnderWay && $0.isHeld }) {
      deliveries[id]?.isHeld = false
      deliveries[id]?.tries = 0
      deliveries[id]?.notBefore = nil
    }
    let proposed = propose(key, now)
    guard proposed.isEmpty else { return proposed }
    return ids { $0.session == key && !$0.isUnderWay }.flatMap { want($0, now) }
  }

  private mutating func ended(_ task: TaskKey, _ now: Date) -> [Answer] {
    guard sessions[task.session]?.running.remove(task.identifier) != nil else { return [] }
    sessions[task.session]?.ended.append(task.identifier)
    return propose(task.session, now)
  }

  /// Makes the next delivery of a session of what ended, when its owner is to be told now.
  mutating func propose(_ key: SessionKey, _ now: Date) -> [Answer] {
    guard let session = sessions[key], !session.ended.isEmpty else { return [] }
    let haveAllEnded = session.running.isEmpty
    guard haveAllEnded || isConnected(key) else { return [] }
    let outstanding = ids { $0.session == key }
    let id: UUID
    if let unseen = outstanding.last(where: { deliveries[$0]?.last == nil && deliveries[$0]?.isUnderWay == false }) {
      id = unseen
      deliveries[id]?.tasks += session.ended
    } else {
      guard outstanding.allSatisfy({ deliveries[$0]?.isBeingHandled == true }) else { return [] }
      let delivery = Delivery(id: makeID(), session: key, tasks: session.ended)
      id = delivery.id
      deliveries[id] = delivery
    }
    if haveAllEnded { deliveries[id]?.wakes = true }
    sessions[key]?.ended = []
    return want(id, now)
  }

  /// Whether a life of the owner runs that has the session open.
  private func isConnected(_ key: SessionKey) -> Bool {
    guard let generation = sessions[key]?.openIn else { return false }
    return awakeLives[key.owner] == generation
  }

  /// Whether the owner may be woken for a session's events.
  func launches(for key: SessionKey) -> Bool { sessions[key].map { $0.sendsLaunchEvents && !$0.isQuit } ?? true }

  func wantAnswer(_ delivery: Delivery) -> Answer {
    let key = delivery.session
    return .intent(.wantAwake(key.owner, because: key.assertion, launches: delivery.wakes && launches(for: key)))
  }

  mutating func want(_ id: UUID, _ now: Date) -> [Answer] {
    guard let delivery = deliveries[id], isDue(delivery, now) else { return [] }
    deliveries[id]?.notBefore = nil
    return [wantAnswer(delivery)]
  }

  func isDue(_ delivery: Delivery, _ now: Date) -> Bool {
    !delivery.isUnderWay && !delivery.isHeld && delivery.notBefore.map { $0 <= now } ?? true
  }

  private mutating func refused(_ id: UUID) -> [Answer] {
    guard let delivery = deliveries[id], delivery.isUnderWay else { return [] }
    let key = delivery.session
    deliveries[id]?.isUnderWay = false
    deliveries[id]?.last = nil
    if delivery.isOpenedMeanwhile { return [wantAnswer(delivery)] }
    deliveries[id]?.isHeld = true
    return [.intent(.release(key.owner, because: key.assertion))]
  }

  private mutating func acknowledged(_ id: UUID, _ now: Date) -> [Answer] {
    guard let delivery = deliveries.removeValue(forKey: id) else { return [] }
    let key = delivery.session
    let next = propose(key, now)
    // The next delivery goes to the same life at once, or is on its way to it; it is no reason to let it sleep first.
    let isLast = next.isEmpty && !deliveries.values.contains { $0.session == key && $0.isUnderWay }
    return [.forget(delivery)] + (isLast ? [.intent(.release(key.owner, because: key.assertion))] : next)
  }
}
