import Conversations
import Foundation
import Timekeeping

extension DeliveryDecision.Delivery {
  /// The owner's handler has been called for it, and everything in it is on its way: what ends from now on need not wait
  /// for the completion.
  var isBeingHandled: Bool { isUnderWay && deadline != nil && last?.wakesHandler == true }
}

// A hand-over from its beginning to its end.
extension DeliveryDecision {
  mutating func awake(_ owner: Address, _ generation: UInt32, _ woken: Bool, _ now: Date) -> [Answer] {
    awakeLives[owner] = generation
    var answers: [Answer] = []
    for key in sessions.keys where key.owner == owner && sessions[key]?.ended.isEmpty == false {
      // Whoever is asked for runs already.
      _ = propose(key, now)
    }
    for id in ids({ $0.session.owner == owner }) {
      if deliveries[id]?.isUnderWay == true, deliveries[id]?.last?.generation != generation {
        deliveries[id]?.isUnderWay = false
        deliveries[id]?.isEvicted = false
        deliveries[id]?.last = nil
        answers.append(.stop(id))
      }
      guard var delivery = deliveries[id], isDue(delivery, now),
        let attempt = attempt(delivery, generation, woken)
      else { continue }
      delivery.last = attempt
      delivery.isUnderWay = true
      delivery.isExpired = false
      delivery.isAsked = false
      delivery.isEvicted = false
      delivery.isOpenedMeanwhile = false
      delivery.notBefore = nil
      delivery.deadline = nil
      deliveries[id] = delivery
      answers += [wantAnswer(delivery), .deliver(id, attempt)]
    }
    return answers
  }

  /// How this life is told: again as before; by its handler, when it is woken for it or has not made the session; or
  /// without one. `nil`: not now.
  private func attempt(_ delivery: Delivery, _ generation: UInt32, _ woken: Bool) -> Attempt? {
    if let last = delivery.last, last.generation == generation { return last }
    let session = sessions[delivery.session]
    let isOpen = session?.openIn == generation
    let isOther = deliveries.values.contains { $0.session == delivery.session && $0.isBeingHandled }
    let isWoken = delivery.wakes && launches(for: delivery.session) && (woken || !isOpen) && !isOther
    guard isWoken || isOpen else { return nil }
    return Attempt(generation: generation, wakesHandler: isWoken)
  }

  /// The events go out. The time for the completion begins; a running owner that is only told has all the time it wants.
  mutating func sent(_ id: UUID, _ generation: UInt32, _ now: Date) -> [Answer] {
    guard let delivery = deliveries[id], delivery.isUnderWay, let last = delivery.last, last.generation == generation,
      last.wakesHandler
    else { return [] }
    deliveries[id]?.deadline = now.addingTimeInterval(settings.completionDeadline)
    return propose(delivery.session, now)
  }

  mutating func instantCame(_ now: Date) -> [Answer] {
    var answers: [Answer] = []
    for id in ids({ _ in true }) {
      guard let delivery = deliveries[id] else { continue }
      guard delivery.isUnderWay else {
        if delivery.notBefore != nil { answers += want(id, now) }
        continue
      }
      guard !delivery.isAsked, let deadline = delivery.deadline, deadline <= now,
        let generation = delivery.last?.generation
      else { continue }
      if delivery.isExpired {
        deliveries[id]?.isAsked = true
        answers.append(.ask(id, generation: generation))
      } else {
        deliveries[id]?.isExpired = true
        deliveries[id]?.deadline = deadline.addingTimeInterval(settings.completionGrace)
        answers.append(.expire(id))
      }
    }
    return answers
  }

  mutating func overdue(_ id: UUID, _ generation: UInt32) -> [Answer] {
    guard let delivery = deliveries[id], delivery.isUnderWay, !delivery.isEvicted,
      delivery.last?.generation == generation
    else { return [] }
    deliveries[id]?.tries += 1
    deliveries[id]?.isEvicted = true
    let key = delivery.session
    let limit = settings.completionDeadline + settings.completionGrace
    let why = "did not call the completion for \(key.identifier) within \(limit.formatted()) s"
    return [
      .intent(.release(key.owner, because: key.assertion)),
      .intent(.evict(key.owner, generation: generation, why: why)),
    ]
  }

  mutating func lifeEnded(_ owner: Address, _ generation: UInt32, _ now: Date) -> [Answer] {
    if awakeLives[owner] == generation { awakeLives[owner] = nil }
    for key in sessions.keys where key.owner == owner && sessions[key]?.openIn == generation {
      sessions[key]?.openIn = nil
    }
    var answers: [Answer] = []
    let all = ids { $0.session.owner == owner }
    for id in all where deliveries[id]?.last?.generation == generation {
      guard var delivery = deliveries[id] else { continue }
      let wasUnderWay = delivery.isUnderWay
      delivery.isUnderWay = false
      delivery.last = nil
      if wasUnderWay {
        answers.append(.stop(id))
        answers += leaveAlone(&delivery, now)
      }
      delivery.isEvicted = false
      deliveries[id] = delivery
    }
    unite(all)
    return answers
  }

  /// How long an owner is not told after a life of it ended while it was being told.
  private func leaveAlone(_ delivery: inout Delivery, _ now: Date) -> [Answer] {
    if delivery.isEvicted {
      delivery.isHeld = delivery.tries >= settings.deliveryTries
      let pause = Backoff(first: settings.redeliveryPause, limit: 86_400).pause(after: delivery.tries)
      delivery.notBefore = delivery.isHeld ? nil : now.addingTimeInterval(pause)
      return []
    }
    // The first two deaths may be anybody's doing; an owner that dies each time is not hunted.
    delivery.deaths += 1
    let pause = settings.retries.pause(after: delivery.deaths - 2)
    delivery.notBefore = pause > 0 ? now.addingTimeInterval(pause) : nil
    let key = delivery.session
    return [pause > 0 ? .intent(.release(key.owner, because: key.assertion)) : wantAnswer(delivery)]
  }

  /// What no life has seen any longer is told together: one handler call, all messages in order, one finish.
  ///
  /// - Parameter all: an owner's deliveries, of each session the older before the younger.
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
