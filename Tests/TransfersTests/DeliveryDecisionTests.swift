import Conversations
import Foundation
import Synchronization
import Testing

@testable import Transfers

private let session = SessionKey(owner: widget, identifier: "figures")
private let one = TaskKey(session: session, identifier: 1)
private let two = TaskKey(session: session, identifier: 2)
private let id = number(1)
private let next = number(2)
private let origin = Date(timeIntervalSince1970: 1_000_000_000)
private let want = DeliveryDecision.Answer.intent(.wantAwake(widget, because: "events figures", launches: true))
private let release = DeliveryDecision.Answer.intent(.release(widget, because: "events figures"))

private let wantIfAwake = DeliveryDecision.Answer.intent(
  .wantAwake(widget, because: "events figures", launches: false))

private func number(_ number: UInt8) -> UUID {
  UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
}

private func delivers(_ generation: UInt32, wakes: Bool, _ id: UUID = id) -> DeliveryDecision.Answer {
  .deliver(id, DeliveryDecision.Attempt(generation: generation, wakesHandler: wakes))
}

private final class Counter: Sendable {
  private let value = Mutex<UInt8>(0)
  func next() -> UInt8 {
    value.withLock { value in
      value += 1
      return value
    }
  }
}

/// A decision with a session that generation 1 has open, and the time.
private struct Bench {
  var decision: DeliveryDecision
  var now = origin

  init(sendsLaunchEvents: Bool = true, _ change: (inout TransferSettings) -> Void = { _ in }) {
    let last = Counter()
    var settings = TransferSettings()
    change(&settings)
    decision = DeliveryDecision(settings: settings, makeID: { number(last.next()) })
    _ = take(.opened(session, sendsLaunchEvents: sendsLaunchEvents, generation: 1))
  }

  mutating func take(_ event: DeliveryDecision.Event) -> [DeliveryDecision.Answer] { decision.take(event, now: now) }

  /// One task has ended, and its events were handed to generation 2.
  mutating func handOver() {
    _ = take(.created(one))
    _ = take(.lifeEnded(widget, generation: 1))
    _ = take(.ended(one))
    _ = take(.awake(widget, generation: 2, woken: true))
    _ = take(.sent(id, generation: 2))
  }

  /// The deadline passes, and the owner is evicted.
  mutating func runOut(_ generation: UInt32) {
    now += 30
    _ = take(.instantCame)
    now += 5
    _ = take(.instantCame)
    _ = take(.overdue(id, generation: generation))
    _ = take(.lifeEnded(widget, generation: generation))
  }
}

@Suite struct DeliveryDecisionTests {
  @Test func `the owner is woken when all tasks have ended, and not before`() {
    var bench = Bench()
    _ = bench.take(.suspended(widget, generation: 1))
    #expect(bench.take(.created(one)) == [])
    #expect(bench.take(.created(two)) == [])
    #expect(bench.take(.ended(one)) == [])
    #expect(bench.take(.ended(two)) == [want])
    #expect(bench.decision.deliveries[id]?.tasks == [1, 2])
  }

  @Test func `an owner that runs with the session open is told without its handler`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.ended(one))
    #expect(bench.take(.awake(widget, generation: 1, woken: false)) == [want, delivers(1, wakes: false)])
  }

  @Test func `an owner that was resumed is told through its handler`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.ended(one))
    #expect(bench.take(.awake(widget, generation: 1, woken: true)) == [want, delivers(1, wakes: true)])
  }

  @Test func `an owner that runs without the session is told through its handler`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.lifeEnded(widget, generation: 1))
    _ = bench.take(.ended(one))
    #expect(bench.take(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: true)])
  }

  @Test func `the death of the owner changes nothing about its downloads`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    #expect(bench.take(.lifeEnded(widget, generation: 1)) == [])
    #expect(bench.decision.sessions[session]?.running == [1])
  }

  @Test func `events that are acknowledged are forgotten, and the owner is let go`() {
    var bench = Bench()
    bench.handOver()
    let delivery = bench.decision.deliveries[id]
    #expect(bench.take(.acknowledged(id)) == (delivery.map { [.forget($0), release] } ?? []))
    #expect(bench.decision.deliveries.isEmpty)
    #expect(bench.take(.acknowledged(id)) == [])
  }

  @Test func `an owner that dies before it acknowledged is told again under the same id`() {
    var bench = Bench()
    bench.handOver()
    #expect(bench.take(.lifeEnded(widget, generation: 2)) == [.stop(id), want])
    #expect(bench.take(.awake(widget, generation: 3, woken: true)) == [want, delivers(3, wakes: true)])
  }

  @Test(arguments: [(1.0, 60.0), (4, 6)])
  func `an owner that dies each time is left alone for longer and longer`(first: Double, most: Double) {
    var bench = Bench {
      $0.resumePause = first
      $0.resumePauseLimit = most
    }
    bench.handOver()
    _ = bench.take(.lifeEnded(widget, generation: 2))
    _ = bench.take(.awake(widget, generation: 3, woken: true))
    #expect(bench.take(.lifeEnded(widget, generation: 3)) == [.stop(id), want])
    _ = bench.take(.awake(widget, generation: 4, woken: true))
    #expect(bench.take(.lifeEnded(widget, generation: 4)) == [.stop(id), release])
    #expect(bench.decision.nextInstant(after: bench.now) == bench.now + first)
    bench.now += first
    #expect(bench.take(.instantCame) == [want])
    _ = bench.take(.awake(widget, generation: 5, woken: true))
    _ = bench.take(.lifeEnded(widget, generation: 5))
    #expect(bench.decision.nextInstant(after: bench.now) == bench.now + min(first * 2, most))
  }

  @Test(arguments: [(30.0, 5.0, 60.0), (2, 1, 7)])
  func `an owner that does not acknowledge in time is evicted, and told again after a minute`(
    deadline: Double, grace: Double, pause: Double
  ) {
    var bench = Bench {
      $0.completionDeadline = deadline
      $0.completionGrace = grace
      $0.redeliveryPause = pause
    }
    bench.handOver()
    bench.now += deadline
    let why = "did not call the completion for figures within \(Int(deadline + grace)) s"
    #expect(bench.take(.instantCame) == [.expire(id)])
    #expect(bench.take(.instantCame) == [])
    bench.now += grace
    #expect(bench.take(.instantCame) == [.ask(id, generation: 2)])
    #expect(bench.take(.instantCame) == [])
    let answers = bench.take(.overdue(id, generation: 2))
    #expect(answers == [release, .intent(.evict(widget, generation: 2, why: why))])
    #expect(bench.take(.overdue(id, generation: 2)) == [])
    #expect(bench.take(.lifeEnded(widget, generation: 2)) == [.stop(id)])
    #expect(bench.decision.nextInstant(after: bench.now) == bench.now + pause)
    #expect(bench.take(.awake(widget, generation: 3, woken: true)) == [])
    bench.now += pause
    #expect(bench.take(.instantCame) == [want])
  }

  @Test(arguments: [5, 2])
  func `after so many tries as the setting says the events are held until a process creates the session`(tries: Int) {
    var bench = Bench { $0.deliveryTries = tries }
    bench.handOver()
    let last = UInt32(tries) + 1
    for generation in 2...last {
      bench.runOut(generation)
      #expect(bench.decision.deliveries[id]?.isHeld == (generation == last))
      guard generation < last else { break }
      bench.now += 100_000
      _ = bench.take(.instantCame)
      _ = bench.take(.awake(widget, generation: generation + 1, woken: true))
      _ = bench.take(.sent(id, generation: generation + 1))
    }
    #expect(bench.decision.nextInstant(after: bench.now) == nil)
    #expect(bench.take(.awake(widget, generation: last + 1, woken: true)) == [])
    #expect(bench.take(.opened(session, sendsLaunchEvents: true, generation: last + 1)) == [want])
    #expect(bench.take(.awake(widget, generation: last + 1, woken: false)) == [want, delivers(last + 1, wakes: false)])
  }

  @Test func `what ends while the completion is awaited is told at once, without the handler`() {
    var bench = Bench()
    bench.handOver()
    _ = bench.take(.opened(session, sendsLaunchEvents: true, generation: 2))
    #expect(bench.take(.created(two)) == [])
    #expect(bench.take(.ended(two)) == [want])
    #expect(bench.take(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: false, next)])
    #expect(bench.take(.sent(next, generation: 2)) == [])
    #expect(bench.decision.deliveries[id]?.tasks == [1])
    let second = bench.decision.deliveries[next]
    #expect(bench.take(.acknowledged(next)) == (second.map { [.forget($0)] } ?? []))
    let first = bench.decision.deliveries[id]
    #expect(bench.take(.acknowledged(id)) == (first.map { [.forget($0), release] } ?? []))
  }

  @Test func `what an owner had in hand when it died is told to the next life in one go, in order`() {
    var bench = Bench()
    bench.handOver()
    _ = bench.take(.opened(session, sendsLaunchEvents: true, generation: 2))
    _ = bench.take(.created(two))
    _ = bench.take(.ended(two))
    _ = bench.take(.awake(widget, generation: 2, woken: false))
    #expect(bench.take(.lifeEnded(widget, generation: 2)) == [.stop(id), want, .stop(next), want])
    #expect(bench.decision.deliveries.all.mapValues(\.tasks) == [id: [1, 2]])
    #expect(bench.take(.awake(widget, generation: 3, woken: true)) == [want, delivers(3, wakes: true)])
  }

  @Test func `a running owner is told of each task as it ends, without its handler`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.created(two))
    #expect(bench.take(.ended(two)) == [wantIfAwake])
    #expect(bench.take(.awake(widget, generation: 1, woken: false)) == [wantIfAwake, delivers(1, wakes: false)])
    #expect(bench.take(.ended(one)) == [])
    let first = bench.decision.deliveries[id]
    #expect(first?.tasks == [2])
    #expect(bench.take(.acknowledged(id)) == (first.map { [.forget($0), want] } ?? []))
    #expect(bench.take(.awake(widget, generation: 1, woken: false)) == [want, delivers(1, wakes: false, next)])
    #expect(bench.decision.deliveries[next]?.tasks == [1])
  }

  @Test func `ten thousand tasks that end while a running owner is told of one are two hand-overs, in order`() {
    var bench = Bench()
    for task in 1...10_000 { _ = bench.take(.created(TaskKey(session: session, identifier: task))) }
    let order = (1...10_000).reversed()
    for task in order {
      _ = bench.take(.ended(TaskKey(session: session, identifier: task)))
      if task == 10_000 { _ = bench.take(.awake(widget, generation: 1, woken: false)) }
    }
    #expect(bench.decision.deliveries[id]?.tasks == [10_000])
    _ = bench.take(.acknowledged(id))
    #expect(bench.decision.deliveries[next]?.tasks == Array(order.dropFirst()))
  }

  @Test func `an owner that was suspended before it could be told is woken once, when all have ended`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.created(two))
    #expect(bench.take(.ended(one)) == [wantIfAwake])
    _ = bench.take(.suspended(widget, generation: 1))
    #expect(bench.take(.ended(two)) == [want])
    #expect(bench.take(.awake(widget, generation: 1, woken: true)) == [want, delivers(1, wakes: true)])
    #expect(bench.decision.deliveries.all.mapValues(\.tasks) == [id: [1, 2]])
  }

  @Test func `an owner that runs for another reason is told of what ended as soon as it has the session`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.created(two))
    _ = bench.take(.lifeEnded(widget, generation: 1))
    #expect(bench.take(.ended(one)) == [])
    #expect(bench.take(.awake(widget, generation: 2, woken: true)) == [])
    #expect(bench.take(.opened(session, sendsLaunchEvents: true, generation: 2)) == [wantIfAwake])
    #expect(bench.take(.awake(widget, generation: 2, woken: false)) == [wantIfAwake, delivers(2, wakes: false)])
  }

  @Test func `an owner that dies while it is told of some is woken when all have ended, with all of them`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.created(two))
    _ = bench.take(.ended(two))
    _ = bench.take(.awake(widget, generation: 1, woken: false))
    #expect(bench.take(.lifeEnded(widget, generation: 1)) == [.stop(id), wantIfAwake])
    #expect(bench.take(.awake(widget, generation: 2, woken: true)) == [])
    #expect(bench.take(.ended(one)) == [want])
    #expect(bench.take(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: true)])
    #expect(bench.decision.deliveries.all.mapValues(\.tasks) == [id: [2, 1]])
  }

  @Test func `a running owner that is told without its handler has all the time it wants`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.ended(one))
    _ = bench.take(.awake(widget, generation: 1, woken: false))
    #expect(bench.take(.sent(id, generation: 1)) == [])
    #expect(bench.decision.nextInstant(after: bench.now) == nil)
  }

  @Test func `a session that sends no launch events tells whoever makes it, without the handler`() {
    var bench = Bench(sendsLaunchEvents: false)
    _ = bench.take(.created(one))
    _ = bench.take(.lifeEnded(widget, generation: 1))
    #expect(bench.take(.ended(one)) == [wantIfAwake])
    #expect(bench.take(.awake(widget, generation: 2, woken: true)) == [])
    #expect(bench.take(.opened(session, sendsLaunchEvents: false, generation: 2)) == [wantIfAwake])
    #expect(bench.take(.awake(widget, generation: 2, woken: false)) == [wantIfAwake, delivers(2, wakes: false)])
  }

  @Test func `a session that sends no launch events launches nobody`() {
    var bench = Bench(sendsLaunchEvents: false)
    _ = bench.take(.created(one))
    let quiet = DeliveryDecision.Answer.intent(.wantAwake(widget, because: "events figures", launches: false))
    #expect(bench.take(.ended(one)) == [quiet])
  }

  @Test func `what was handed to a life is said to it again in the same words after the host's own death`() {
    var bench = Bench()
    bench.handOver()
    let delivery = bench.decision.deliveries[id]
    let reborn = delivery.map { old in
      var stored = DeliveryDecision.Delivery(id: old.id, session: old.session, tasks: old.tasks)
      stored.last = old.last
      return stored
    }
    var sessions = bench.decision.sessions.all
    sessions[session]?.openIn = 2
    var second = DeliveryDecision(
      sessions: sessions, deliveries: reborn.map { [$0] } ?? [], settings: TransferSettings())
    #expect(second.take(.began, now: bench.now) == [want])
    let answers = second.take(.awake(widget, generation: 2, woken: false), now: bench.now)
    #expect(answers == [want, delivers(2, wakes: true)])
  }

  @Test func `the owner's time begins when the events go out, however long their copies took`() {
    var bench = Bench()
    _ = bench.take(.created(one))
    _ = bench.take(.ended(one))
    _ = bench.take(.awake(widget, generation: 1, woken: true))
    bench.now += 100
    #expect(bench.take(.instantCame) == [])
    _ = bench.take(.sent(id, generation: 1))
    #expect(bench.decision.nextInstant(after: bench.now) == bench.now + 30)
  }

  @Test func `an acknowledgement that comes while the owner is asked evicts nobody`() {
    var bench = Bench()
    bench.handOver()
    bench.now += 30
    #expect(bench.take(.instantCame) == [.expire(id)])
    bench.now += 5
    #expect(bench.take(.instantCame) == [.ask(id, generation: 2)])
    _ = bench.take(.acknowledged(id))
    #expect(bench.take(.overdue(id, generation: 2)) == [])
  }

  @Test func `events that nobody claims are held until a process creates the session`() {
    var bench = Bench()
    bench.handOver()
    #expect(bench.take(.refused(id)) == [release])
    #expect(bench.take(.awake(widget, generation: 2, woken: true)) == [])
    #expect(bench.take(.opened(session, sendsLaunchEvents: true, generation: 2)) == [want])
    #expect(bench.take(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: false)])
  }

  @Test func `a refusal that is older than the session's creation does not hold the events`() {
    var bench = Bench()
    bench.handOver()
    #expect(bench.take(.opened(session, sendsLaunchEvents: true, generation: 2)) == [])
    #expect(bench.take(.refused(id)) == [want])
    #expect(bench.take(.awake(widget, generation: 2, woken: false)) == [want, delivers(2, wakes: false)])
    #expect(bench.take(.refused(id)) == [release])
  }
}
