// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

extension DeliveryStateMachine.Delivery {
  /// The owner's handler has been called and all events of the delivery were sent. Tasks that end from now on need not
  /// wait for the completion handler.
  var isBeingHandled: Bool { isUnderWay && deadline != nil && last?.wakesHandler == true }
}

// A delivery attempt from its beginning to its end.
extension DeliveryStateMachine {
  mutating func awake(_ owner: Address, _ generation: UInt32, _ woken: Bool, _ now: Date) -> [Action] {
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
      actions += begin(id, generation, woken: woken, now) ?? []
    }
    return actions
  }

  /// Begins a delivery to the instance; `nil`: not now.
  mutating func begin(_ id: UUID, _ generation: UInt32, woken: Bool, _ now: Date) -> [Action]? {
    guard var delivery = deliveries[id], isDue(delivery, now), let attempt = attempt(delivery, generation, woken)
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
  private func attempt(_ delivery: Delivery, _ generation: UInt32, _ woken: Bool) -> Attempt? {
    if let last = delivery.last, last.generation == generation { return last }
    let session = sessions[delivery.session]
    let isOpen = session?.openIn == generation
    let isOther = deliveries.values.contains { $0.session == delivery.session && $0.isBeingHandled }
    let isWoken = delivery.wakes && mayWake(for: delivery.session) && (woken || !isOpen) && !isOther
    guard isWoken || isOpen else { return nil }
    return Attempt(generation: generation, wakesHandler: isWoken)
  }

  /// The events are sent. For an owner whose handler is called, the completion deadline begins. Other owners have none.
  mutating func sent(_ id: UUID, _ generation: UInt32, _ now: Date) -> [Action] {
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
    return [
      release(key),
      .process(.evict(key.owner, generation: generation, why: why)),
    ]
  }

  mutating func instanceEnded(_ owner: Address, _ generation: UInt32, _ now: Date) -> [Action] {
    if awakeInstances[owner] == generation { awakeInstances[owner] = nil }
    if suspendedInstances[owner] == generation { suspendedInstances[owner] = nil }
    forgetWants(of: owner)
    for key in sessions.keys where key.owner == owner && sessions[key]?.openIn == generation {
      sessions[key]?.openIn = nil
    }
    var actions: [Action] = []
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
        actions += backOff(&delivery, now)
      }
      delivery.isEvicted = false
      deliveries[id] = delivery
    }
    unite(all)
    return actions
  }

  private var evictionBackoff: Backoff { Backoff(first: settings.redeliverAfter, limit: 86_400) }

  /// The longest pause that a delivery may have now.
  func pause(of delivery: Delivery) -> Double {
    max(
      evictionBackoff.pause(after: delivery.redeliveries), settings.resumeBackoff.pause(after: delivery.exits - 2))
  }

  /// Delays the next attempt after an instance ended during one.
  private mutating func backOff(_ delivery: inout Delivery, _ now: Date) -> [Action] {
    if delivery.isEvicted {
      delivery.isHeld = delivery.redeliveries >= settings.redeliveries
      let pause = evictionBackoff.pause(after: delivery.redeliveries)
      delivery.notBefore = delivery.isHeld ? nil : now.addingTimeInterval(pause)
      return []
    }
    // The first two exits may have other causes. An owner that exits each time is woken less and less often.
    delivery.exits += 1
    let pause = settings.resumeBackoff.pause(after: delivery.exits - 2)
    delivery.notBefore = pause > 0 ? now.addingTimeInterval(pause) : nil
    return [pause > 0 ? release(delivery.session) : wantAction(delivery)]
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
