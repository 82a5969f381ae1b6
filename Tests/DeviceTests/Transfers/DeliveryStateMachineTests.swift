// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Synchronization
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget
private let session = SessionKey(owner: widget, identifier: "figures")
private let one = TaskKey(session: session, identifier: 1)
private let two = TaskKey(session: session, identifier: 2)
private let id = number(1)
private let next = number(2)
private let origin = Date(timeIntervalSince1970: 1_000_000_000)
private let want = DeliveryStateMachine.Action.asks(.process(.want(widget, because: "events figures", mayWake: true)))
private let release = DeliveryStateMachine.Action.asks(.process(.release(widget, because: "events figures")))

private let wantIfAwake = DeliveryStateMachine.Action.asks(
  .process(.want(widget, because: "events figures", mayWake: false)))

private func number(_ number: UInt8) -> UUID {
  UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
}

private func delivers(_ generation: UInt32, wakes: Bool, _ id: UUID = id) -> DeliveryStateMachine.Action {
  .deliver(id, DeliveryStateMachine.Attempt(generation: generation, wakesHandler: wakes))
}

/// A state machine with a session that generation 1 has open, and its current date.
private struct DeliveryFixture {
  var stateMachine: DeliveryStateMachine
  var now = origin

  init(sendsLaunchEvents: Bool = true, _ change: (inout TransferSettings) -> Void = { _ in }) {
    var settings = TransferSettings()
    change(&settings)
    stateMachine = DeliveryStateMachine(settings: settings)
    _ = handle(.opened(session, sendsLaunchEvents: sendsLaunchEvents, generation: 1))
  }

  mutating func handle(_ event: DeliveryStateMachine.Event) -> [DeliveryStateMachine.Action] {
    stateMachine.handle(event, now: now)
  }

  /// Ends one task and sends its events to generation 2.
  mutating func deliver() {
    _ = handle(.created(one))
    _ = handle(.instanceEnded(widget, generation: 1))
    _ = handle(.ended([one]))
    _ = handle(.awake(widget, generation: 2, woken: true))
    _ = handle(.sent(id, generation: 2))
  }

  /// Lets the deadline pass and the owner exit after its eviction.
  mutating func runOut(_ generation: UInt32) {
    now += 30
    _ = handle(.timerFired)
    now += 5
    _ = handle(.timerFired)
    _ = handle(.overdue(id, generation: generation))
    _ = handle(.instanceEnded(widget, generation: generation))
  }
}

@Suite struct DeliveryStateMachineTests {
  @Test(.rule("DELIVERY-15")) func `the host wakes the owner of a session only when all its tasks have ended`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.suspended(widget, generation: 1))
    #expect(fixture.handle(.created(one)) == [])
    #expect(fixture.handle(.created(two)) == [])
    #expect(fixture.handle(.ended([two])) == [])
    #expect(fixture.handle(.ended([one])) == [want])
    #expect(fixture.stateMachine.deliveries[id]?.tasks == [2, 1], "the order of their ends")
  }

  @Test func `a running owner with the open session receives its events without a call of its handler`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.ended([one]))
    #expect(fixture.handle(.awake(widget, generation: 1, woken: false)) == [want, delivers(1, wakes: false)])
  }

  @Test func `a resumed owner receives its events through its handler`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.ended([one]))
    #expect(fixture.handle(.awake(widget, generation: 1, woken: true)) == [want, delivers(1, wakes: true)])
  }

  @Test func `a running owner that has not opened the session receives its events through its handler`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.instanceEnded(widget, generation: 1))
    _ = fixture.handle(.ended([one]))
    #expect(fixture.handle(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: true)])
  }

  @Test(.rule("TRANSFER-01")) func `the exit of the owner does not affect its downloads`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    #expect(fixture.handle(.instanceEnded(widget, generation: 1)) == [])
    #expect(fixture.stateMachine.sessions[session]?.running == [1])
  }

  @Test func `an acknowledgement deletes the events and releases the owner`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    let delivery = fixture.stateMachine.deliveries[id]
    #expect(fixture.handle(.acknowledged(id)) == (delivery.map { [.forget($0), release] } ?? []))
    #expect(fixture.stateMachine.deliveries.all.isEmpty)
    #expect(fixture.handle(.acknowledged(id)) == [])
  }

  @Test func `an owner that exits before it acknowledges receives the events again under the same id`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    #expect(fixture.handle(.instanceEnded(widget, generation: 2)) == [.stop(id), want])
    #expect(fixture.handle(.awake(widget, generation: 3, woken: true)) == [want, delivers(3, wakes: true)])
  }

  @Test(.rule("DELIVERY-19"), arguments: [(1.0, 60.0), (4, 6)])
  func `redelivery to an owner that keeps exiting is delayed by a doubling pause`(first: Double, most: Double) {
    var fixture = DeliveryFixture {
      $0.resumeAfter = first
      $0.resumeAfterMax = most
    }
    fixture.deliver()
    _ = fixture.handle(.instanceEnded(widget, generation: 2))
    _ = fixture.handle(.awake(widget, generation: 3, woken: true))
    #expect(fixture.handle(.instanceEnded(widget, generation: 3)) == [.stop(id), want])
    _ = fixture.handle(.awake(widget, generation: 4, woken: true))
    #expect(fixture.handle(.instanceEnded(widget, generation: 4)) == [.stop(id), release])
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + first)
    fixture.now += first
    #expect(fixture.handle(.timerFired) == [want])
    _ = fixture.handle(.awake(widget, generation: 5, woken: true))
    _ = fixture.handle(.instanceEnded(widget, generation: 5))
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + min(first * 2, most))
  }

  @Test(.rule("DELIVERY-30", "DELIVERY-31", "DELIVERY-32"), arguments: [(30.0, 5.0, 60.0), (2, 1, 7)])
  func `an owner that misses the deadline is evicted and receives the events again after a pause`(
    deadline: Double, grace: Double, pause: Double
  ) {
    var fixture = DeliveryFixture {
      $0.completionDeadline = deadline
      $0.completionGrace = grace
      $0.redeliverAfter = pause
    }
    fixture.deliver()
    fixture.now += deadline
    let why = "did not call the completion for figures within \(Int(deadline + grace)) s"
    #expect(fixture.handle(.timerFired) == [.expire(id)])
    #expect(fixture.handle(.timerFired) == [])
    fixture.now += grace
    #expect(fixture.handle(.timerFired) == [.ask(id, generation: 2)])
    #expect(fixture.handle(.timerFired) == [])
    let actions = fixture.handle(.overdue(id, generation: 2))
    #expect(actions == [release, .asks(.process(.evict(widget, generation: 2, why: why)))])
    #expect(fixture.handle(.overdue(id, generation: 2)) == [])
    #expect(fixture.handle(.instanceEnded(widget, generation: 2)) == [.stop(id)])
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + pause)
    #expect(fixture.handle(.awake(widget, generation: 3, woken: true)) == [])
    fixture.now += pause
    #expect(fixture.handle(.timerFired) == [want])
  }

  @Test(.rule("DELIVERY-32"), arguments: [5, 2])
  func `after the configured number of tries, events are held until a process creates the session`(tries: Int) {
    var fixture = DeliveryFixture { $0.redeliveries = tries }
    fixture.deliver()
    let last = UInt32(tries) + 1
    for generation in 2...last {
      fixture.runOut(generation)
      #expect(fixture.stateMachine.deliveries[id]?.isHeld == (generation == last))
      guard generation < last else { break }
      fixture.now += 100_000
      _ = fixture.handle(.timerFired)
      _ = fixture.handle(.awake(widget, generation: generation + 1, woken: true))
      _ = fixture.handle(.sent(id, generation: generation + 1))
    }
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == nil)
    #expect(fixture.handle(.awake(widget, generation: last + 1, woken: true)) == [])
    #expect(fixture.handle(.opened(session, sendsLaunchEvents: true, generation: last + 1)) == [want])
    #expect(
      fixture.handle(.awake(widget, generation: last + 1, woken: false)) == [want, delivers(last + 1, wakes: false)])
  }

  @Test func `an owner is released although a closed session has a task that may not wake it`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    _ = fixture.handle(.opened(session, sendsLaunchEvents: false, generation: 2))
    _ = fixture.handle(.created(two))
    _ = fixture.handle(.closed(session, generation: 2))
    _ = fixture.handle(.ended([two]))
    let first = fixture.stateMachine.deliveries[id]
    #expect(fixture.handle(.acknowledged(id)) == (first.map { [.forget($0), release] } ?? []))
  }

  @Test(.rule("DELIVERY-20"))
  func `a task that ends while a completion is pending is delivered at once, without the handler`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    _ = fixture.handle(.opened(session, sendsLaunchEvents: true, generation: 2))
    #expect(fixture.handle(.created(two)) == [])
    #expect(fixture.handle(.ended([two])) == [want])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: false, next)])
    #expect(fixture.handle(.sent(next, generation: 2)) == [])
    #expect(fixture.stateMachine.deliveries[id]?.tasks == [1])
    let second = fixture.stateMachine.deliveries[next]
    #expect(fixture.handle(.acknowledged(next)) == (second.map { [.forget($0)] } ?? []))
    let first = fixture.stateMachine.deliveries[id]
    #expect(fixture.handle(.acknowledged(id)) == (first.map { [.forget($0), release] } ?? []))
  }

  @Test(.rule("DELIVERY-18"))
  func `after the owner exits, its unacknowledged tasks go to its next process instance in one delivery, in order`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    _ = fixture.handle(.opened(session, sendsLaunchEvents: true, generation: 2))
    _ = fixture.handle(.created(two))
    _ = fixture.handle(.ended([two]))
    _ = fixture.handle(.awake(widget, generation: 2, woken: false))
    #expect(fixture.handle(.instanceEnded(widget, generation: 2)) == [.stop(id), .stop(next), want])
    #expect(fixture.stateMachine.deliveries.all.mapValues(\.tasks) == [id: [1, 2]])
    #expect(fixture.handle(.awake(widget, generation: 3, woken: true)) == [want, delivers(3, wakes: true)])
  }

  @Test(.rule("DELIVERY-18"))
  func `an acknowledgement that arrives after the exit of its instance deletes only the events that it was sent`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    _ = fixture.handle(.opened(session, sendsLaunchEvents: true, generation: 2))
    _ = fixture.handle(.created(two))
    _ = fixture.handle(.ended([two]))
    _ = fixture.handle(.awake(widget, generation: 2, woken: false))
    _ = fixture.handle(.instanceEnded(widget, generation: 2))
    let actions = fixture.handle(.acknowledged(id, of: [1]))
    let deleted = actions.compactMap { if case .forget(let delivery) = $0 { delivery.tasks } else { nil } }
    #expect(deleted == [[1]] && actions.dropFirst() == [want])
    #expect(fixture.stateMachine.deliveries.values.map(\.tasks) == [[2]])
  }

  @Test(.rule("DELIVERY-13"))
  func `a running owner receives ended tasks without its handler, one delivery at a time`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.created(two))
    #expect(fixture.handle(.ended([two])) == [wantIfAwake])
    #expect(fixture.handle(.awake(widget, generation: 1, woken: false)) == [wantIfAwake, delivers(1, wakes: false)])
    #expect(fixture.handle(.ended([one])) == [])
    let first = fixture.stateMachine.deliveries[id]
    #expect(first?.tasks == [2])
    #expect(fixture.handle(.acknowledged(id)) == (first.map { [.forget($0), want] } ?? []))
    #expect(fixture.handle(.awake(widget, generation: 1, woken: false)) == [want, delivers(1, wakes: false, next)])
    #expect(fixture.stateMachine.deliveries[next]?.tasks == [1])
  }

  @Test(.rule("DELIVERY-13"))
  func `ten thousand tasks that end during one delivery to a running owner form the next delivery, in order`() {
    var fixture = DeliveryFixture()
    for task in 1...10_000 { _ = fixture.handle(.created(TaskKey(session: session, identifier: task))) }
    let order = (1...10_000).reversed()
    for task in order {
      _ = fixture.handle(.ended([TaskKey(session: session, identifier: task)]))
      if task == 10_000 { _ = fixture.handle(.awake(widget, generation: 1, woken: false)) }
    }
    #expect(fixture.stateMachine.deliveries[id]?.tasks == [10_000])
    _ = fixture.handle(.acknowledged(id))
    #expect(fixture.stateMachine.deliveries[next]?.tasks == Array(order.dropFirst()))
  }

  @Test(.rule("DELIVERY-15"))
  func `an owner that is suspended before delivery is woken once, when all tasks have ended`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.created(two))
    #expect(fixture.handle(.ended([two])) == [wantIfAwake])
    _ = fixture.handle(.suspended(widget, generation: 1))
    #expect(fixture.handle(.ended([one])) == [want])
    #expect(fixture.handle(.awake(widget, generation: 1, woken: true)) == [want, delivers(1, wakes: true)])
    #expect(fixture.stateMachine.deliveries.all.mapValues(\.tasks) == [id: [2, 1]], "the order of their ends")
  }

  @Test(.rule("DELIVERY-17"))
  func `an owner that runs for another reason receives ended tasks when it opens the session`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.created(two))
    _ = fixture.handle(.instanceEnded(widget, generation: 1))
    #expect(fixture.handle(.ended([one])) == [])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: true)) == [])
    #expect(fixture.handle(.opened(session, sendsLaunchEvents: true, generation: 2)) == [wantIfAwake])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: false)) == [wantIfAwake, delivers(2, wakes: false)])
  }

  @Test(.rule("DELIVERY-18"))
  func `an owner that exits during a partial delivery is woken with all tasks when all have ended`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.created(two))
    _ = fixture.handle(.ended([two]))
    _ = fixture.handle(.awake(widget, generation: 1, woken: false))
    #expect(fixture.handle(.instanceEnded(widget, generation: 1)) == [.stop(id), wantIfAwake])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: true)) == [])
    #expect(fixture.handle(.ended([one])) == [want])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: true)])
    #expect(fixture.stateMachine.deliveries.all.mapValues(\.tasks) == [id: [2, 1]])
  }

  @Test(.rule("DELIVERY-14"))
  func `a running owner that receives events without its handler has no completion deadline`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.ended([one]))
    _ = fixture.handle(.awake(widget, generation: 1, woken: false))
    #expect(fixture.handle(.sent(id, generation: 1)) == [])
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == nil)
  }

  @Test(.rule("DELIVERY-21"))
  func `a session without launch events delivers to the process that opens it, without the handler`() {
    var fixture = DeliveryFixture(sendsLaunchEvents: false)
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.instanceEnded(widget, generation: 1))
    #expect(fixture.handle(.ended([one])) == [wantIfAwake])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: true)) == [])
    #expect(fixture.handle(.opened(session, sendsLaunchEvents: false, generation: 2)) == [wantIfAwake])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: false)) == [wantIfAwake, delivers(2, wakes: false)])
  }

  @Test(.rule("DELIVERY-21")) func `a session without launch events does not launch its owner`() {
    var fixture = DeliveryFixture(sendsLaunchEvents: false)
    _ = fixture.handle(.created(one))
    let quiet = DeliveryStateMachine.Action.asks(.process(.want(widget, because: "events figures", mayWake: false)))
    #expect(fixture.handle(.ended([one])) == [quiet])
  }

  @Test func `after a host restart, a delivery goes to the same process instance again under the same id`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    let delivery = fixture.stateMachine.deliveries[id]
    let reborn = delivery.map { old in
      var stored = DeliveryStateMachine.Delivery(id: old.id, session: old.session, tasks: old.tasks)
      stored.last = old.last
      return stored
    }
    var sessions = fixture.stateMachine.sessions.all
    sessions[session]?.openIn = 2
    var second = DeliveryStateMachine(
      sessions: sessions, deliveries: reborn.map { [$0] } ?? [], settings: TransferSettings())
    #expect(second.handle(.began, now: fixture.now) == [want])
    let actions = second.handle(.awake(widget, generation: 2, woken: false), now: fixture.now)
    #expect(actions == [want, delivers(2, wakes: true)])
  }

  @Test func `the completion deadline starts when the events are sent, however long their preparation takes`() {
    var fixture = DeliveryFixture()
    _ = fixture.handle(.created(one))
    _ = fixture.handle(.ended([one]))
    _ = fixture.handle(.awake(widget, generation: 1, woken: true))
    fixture.now += 100
    #expect(fixture.handle(.timerFired) == [])
    _ = fixture.handle(.sent(id, generation: 1))
    #expect(fixture.stateMachine.nextInstant(after: fixture.now) == fixture.now + 30)
  }

  @Test func `an acknowledgement that arrives during the overdue check prevents the eviction`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    fixture.now += 30
    #expect(fixture.handle(.timerFired) == [.expire(id)])
    fixture.now += 5
    #expect(fixture.handle(.timerFired) == [.ask(id, generation: 2)])
    _ = fixture.handle(.acknowledged(id))
    #expect(fixture.handle(.overdue(id, generation: 2)) == [])
  }

  @Test func `events that no handler claims are held until a process creates the session`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    #expect(fixture.handle(.refused(id)) == [release])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: true)) == [])
    #expect(fixture.handle(.opened(session, sendsLaunchEvents: true, generation: 2)) == [want])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: false)])
  }

  @Test func `a refusal that is older than the creation of the session does not hold the events`() {
    var fixture = DeliveryFixture()
    fixture.deliver()
    #expect(fixture.handle(.opened(session, sendsLaunchEvents: true, generation: 2)) == [])
    #expect(fixture.handle(.refused(id)) == [want])
    #expect(fixture.handle(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: false)])
    #expect(fixture.handle(.refused(id)) == [release])
  }
}
