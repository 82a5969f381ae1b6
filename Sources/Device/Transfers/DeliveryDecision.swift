package import Conversations
package import Foundation
import Timekeeping

/// When the events of a session are handed over, to which life of the owner, and when they are forgotten: a plain value
/// without clock or I/O.
///
/// All tasks of a session that have ended when none runs any longer make one delivery. Its id is kept until it is
/// acknowledged, whoever dies meanwhile. A session has one delivery at a time; what ends later belongs to the next.
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
    package let tasks: [Int]
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
    /// The time to acknowledge is over. Make sure that an acknowledgement could have come, then say `overdue`.
    case ask(UUID, generation: UInt32)
    /// Acknowledged: its tasks and files are to be removed.
    case forget(Delivery)
  }

  package private(set) var sessions: Tracked<SessionKey, Session>
  package private(set) var deliveries: Tracked<UUID, Delivery>
  private let settings: TransferSettings
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
      if delivery.isUnderWay { return delivery.deadline }
      return delivery.isHeld ? nil : delivery.notBefore
    }.min()
  }

  package mutating func take(_ event: Event, now: Date) -> [Answer] {
    switch event {
    case .began:
      return sessions.keys.flatMap { propose($0) } + ids { !$0.isUnderWay }.flatMap { want($0, now) }
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
    case .lifeEnded(let owner, let generation): return lifeEnded(owner, generation, now)
    case .sent(let id, let generation):
      guard let delivery = deliveries[id], delivery.isUnderWay, delivery.last?.generation == generation else {
        return []
      }
      deliveries[id]?.deadline = now.addingTimeInterval(settings.completionDeadline)
      return []
    case .overdue(let id, let generation): return overdue(id, generation)
    case .acknowledged(let id): return acknowledged(id, now)
    case .refused(let id): return refused(id)
    case .instantCame: return instantCame(now)
    }
  }

  private func ids(_ isMeant: (Delivery) -> Bool) -> [UUID] {
    deliveries.values.filter(isMeant).map(\.id).sorted { $0.uuidString < $1.uuidString }
  }

  private mutating func opened(
    _ key: SessionKey, _ sendsLaunchEvents: Bool, _ generation: UInt32, _ now: Date
  ) -> [Answer] {
    var session = sessions[key] ?? Session(sendsLaunchEvents: sendsLaunchEvents)
    session.sendsLaunchEvents = sendsLaunchEvents
    session.openIn = generation
    session.isQuit = false
    sessions[key] = session
    for id in ids({ $0.session == key && $0.isUnderWay && $0.last?.generation == generation }) {
      deliveries[id]?.isOpenedMeanwhile = true
    }
    return ids { $0.session == key && !$0.isUnderWay }.flatMap { id in
      if deliveries[id]?.isHeld == true {
        deliveries[id]?.isHeld = false
        deliveries[id]?.tries = 0
        deliveries[id]?.notBefore = nil
      }
      return want(id, now)
    }
  }

  private mutating func ended(_ task: TaskKey, _ now: Date) -> [Answer] {
    guard sessions[task.session]?.running.remove(task.identifier) != nil else { return [] }
    sessions[task.session]?.ended.append(task.identifier)
    return propose(task.session)
  }

  /// Makes the next delivery of a session, when nothing of it runs and none is outstanding.
  private mutating func propose(_ key: SessionKey) -> [Answer] {
    guard let session = sessions[key], session.running.isEmpty, !session.ended.isEmpty,
      !deliveries.values.contains(where: { $0.session == key })
    else { return [] }
    let delivery = Delivery(id: makeID(), session: key, tasks: session.ended)
    deliveries[delivery.id] = delivery
    sessions[key]?.ended = []
    return [wantAnswer(key)]
  }

  private func wantAnswer(_ key: SessionKey) -> Answer {
    let launches = sessions[key].map { $0.sendsLaunchEvents && !$0.isQuit } ?? true
    return .intent(.wantAwake(key.owner, because: key.assertion, launches: launches))
  }

  private mutating func want(_ id: UUID, _ now: Date) -> [Answer] {
    guard let delivery = deliveries[id], isDue(delivery, now) else { return [] }
    deliveries[id]?.notBefore = nil
    return [wantAnswer(delivery.session)]
  }

  private func isDue(_ delivery: Delivery, _ now: Date) -> Bool {
    !delivery.isUnderWay && !delivery.isHeld && delivery.notBefore.map { $0 <= now } ?? true
  }

  private mutating func awake(_ owner: Address, _ generation: UInt32, _ woken: Bool, _ now: Date) -> [Answer] {
    var answers: [Answer] = []
    for id in ids({ $0.session.owner == owner }) {
      guard var delivery = deliveries[id] else { continue }
      if delivery.isUnderWay, delivery.last?.generation != generation {
        delivery.isUnderWay = false
        delivery.isEvicted = false
        answers.append(.stop(id))
      }
      guard isDue(delivery, now) else { continue }
      if delivery.last?.generation != generation {
        let isOpen = sessions[delivery.session]?.openIn == generation
        delivery.last = Attempt(generation: generation, wakesHandler: woken || !isOpen)
      }
      delivery.isUnderWay = true
      delivery.isEvicted = false
      delivery.isOpenedMeanwhile = false
      delivery.notBefore = nil
      delivery.deadline = nil
      deliveries[id] = delivery
      if let attempt = delivery.last { answers += [wantAnswer(delivery.session), .deliver(id, attempt)] }
    }
    return answers
  }

  private mutating func lifeEnded(_ owner: Address, _ generation: UInt32, _ now: Date) -> [Answer] {
    for key in sessions.keys where key.owner == owner && sessions[key]?.openIn == generation {
      sessions[key]?.openIn = nil
    }
    var answers: [Answer] = []
    for id in ids({ $0.session.owner == owner && $0.last?.generation == generation && $0.isUnderWay }) {
      guard var delivery = deliveries[id] else { continue }
      delivery.isUnderWay = false
      answers.append(.stop(id))
      if delivery.isEvicted {
        delivery.isHeld = delivery.tries >= settings.deliveryTries
        let pause = Backoff(first: settings.redeliveryPause, limit: 86_400).pause(after: delivery.tries)
        delivery.notBefore = delivery.isHeld ? nil : now.addingTimeInterval(pause)
      } else {
        // The first two deaths may be anybody's doing; an owner that dies each time is not hunted.
        delivery.deaths += 1
        let pause = Backoff(first: 1, limit: 60).pause(after: delivery.deaths - 2)
        delivery.notBefore = pause > 0 ? now.addingTimeInterval(pause) : nil
        let key = delivery.session
        answers.append(pause > 0 ? .intent(.release(key.owner, because: key.assertion)) : wantAnswer(key))
      }
      delivery.isEvicted = false
      deliveries[id] = delivery
    }
    return answers
  }

  private mutating func refused(_ id: UUID) -> [Answer] {
    guard let delivery = deliveries[id], delivery.isUnderWay else { return [] }
    let key = delivery.session
    deliveries[id]?.isUnderWay = false
    deliveries[id]?.last = nil
    if delivery.isOpenedMeanwhile { return [wantAnswer(key)] }
    deliveries[id]?.isHeld = true
    return [.intent(.release(key.owner, because: key.assertion))]
  }

  private mutating func overdue(_ id: UUID, _ generation: UInt32) -> [Answer] {
    guard let delivery = deliveries[id], delivery.isUnderWay, !delivery.isEvicted,
      delivery.last?.generation == generation
    else { return [] }
    deliveries[id]?.tries += 1
    deliveries[id]?.isEvicted = true
    let key = delivery.session
    let why = "did not call the completion for \(key.identifier) within \(Int(settings.completionDeadline)) s"
    return [
      .intent(.release(key.owner, because: key.assertion)),
      .intent(.evict(key.owner, generation: generation, why: why)),
    ]
  }

  private mutating func acknowledged(_ id: UUID, _ now: Date) -> [Answer] {
    guard let delivery = deliveries.removeValue(forKey: id) else { return [] }
    let key = delivery.session
    let next = propose(key)
    // The next delivery goes to the same life at once; it is no reason to let it sleep first.
    return [.forget(delivery)] + (next.isEmpty ? [.intent(.release(key.owner, because: key.assertion))] : next)
  }

  private mutating func instantCame(_ now: Date) -> [Answer] {
    var answers: [Answer] = []
    for id in ids({ _ in true }) {
      guard let delivery = deliveries[id] else { continue }
      if delivery.isUnderWay, let deadline = delivery.deadline, deadline <= now,
        let generation = delivery.last?.generation
      {
        deliveries[id]?.deadline = nil
        answers.append(.ask(id, generation: generation))
      } else if delivery.notBefore != nil {
        answers += want(id, now)
      }
    }
    return answers
  }
}
