// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget
private let session = SessionKey(owner: widget, identifier: "figures")
private let (one, two) = (TaskKey(session: session, identifier: 1), TaskKey(session: session, identifier: 2))
private let askIfAwake = DeliveryStateMachine.Action.asks(
  .process(.want(widget, because: "events figures", mayWake: false)))
private let ask = DeliveryStateMachine.Action.asks(.process(.want(widget, because: "events figures", mayWake: true)))
private let release = DeliveryStateMachine.Action.asks(.process(.release(widget, because: "events figures")))

/// Events for an owner that runs with the session open. It is asked for when a task has ended, and answers during the write.
@Suite struct `Events for a running owner` {
  private let now = Date(timeIntervalSince1970: 1_000_000_000)
  private var stateMachine = DeliveryStateMachine(settings: TransferSettings())

  init() {
    _ = handle(.opened(session, sendsLaunchEvents: true, generation: 1))
    for task in [one, two] { _ = handle(.created(task)) }
  }

  private mutating func handle(_ event: DeliveryStateMachine.Event) -> [DeliveryStateMachine.Action] {
    stateMachine.handle(event, now: now)
  }

  /// The launch service answers that the owner is kept running for the session's events.
  private mutating func answer() -> [DeliveryStateMachine.Action] {
    handle(.awake(widget, generation: 1, woken: false, because: session.assertion))
  }

  /// Ends a task whose owner answers during the write.
  ///
  /// - Returns: the actions when the database has the end.
  private mutating func end(_ task: TaskKey) -> [DeliveryStateMachine.Action] {
    _ = handle(.ending(task))
    _ = answer()
    return handle(.ended([task]))
  }

  private func isDelivery(_ action: DeliveryStateMachine.Action) -> Bool {
    if case .deliver = action { true } else { false }
  }

  private var delivery: DeliveryStateMachine.Delivery? { stateMachine.deliveries.values.first }

  @Test mutating func `begin at once when the owner answered during the write`() {
    #expect(handle(.ending(one)) == [askIfAwake])
    #expect(handle(.ending(two)) == [], "it is asked once")
    #expect(answer() == [])
    let actions = handle(.ended([one]))
    #expect(actions.count == 1 && actions.allSatisfy(isDelivery))
    #expect(delivery?.last == DeliveryStateMachine.Attempt(generation: 1, wakesHandler: false))
  }

  @Test mutating func `wait for an answer that is late`() {
    _ = handle(.ending(one))
    #expect(handle(.ended([one])) == [askIfAwake])
    #expect(answer().filter(isDelivery).count == 1)
    #expect(answer() == [], "the answer to the second question")
  }

  @Test mutating func `do not begin because the owner runs for something else`() {
    _ = handle(.ending(one))
    _ = handle(.awake(widget, generation: 1, woken: false))
    #expect(handle(.ended([one])) == [askIfAwake])
  }

  @Test mutating func `launch the owner again when they are the last and it ends`() {
    _ = end(one)
    _ = handle(.acknowledged(delivery!.id))
    let actions = end(two)
    #expect(actions.first == ask)
    #expect(actions.count == 2 && actions.contains(where: isDelivery))
    #expect(handle(.instanceEnded(widget, generation: 1)).last == ask)
  }

  @Test mutating func `keep the owner running while the end of another task is written`() throws {
    _ = end(one)
    _ = handle(.ending(two))
    let first = try #require(delivery)
    #expect(handle(.acknowledged(first.id)) == [.forget(first)])
    #expect(handle(.ended([two])).contains(where: isDelivery))
    let second = try #require(delivery)
    #expect(handle(.acknowledged(second.id)) == [.forget(second), release])
  }

  @Test mutating func `of a delivery that was refused are sent again with those that ended later`() throws {
    _ = end(one)
    _ = handle(.created(TaskKey(session: session, identifier: 3)))
    _ = handle(.ended([two]))
    _ = handle(.opened(session, sendsLaunchEvents: true, generation: 1))
    #expect(handle(.refused(try #require(delivery).id)) == [askIfAwake])
    #expect(answer().filter(isDelivery).count == 1)
    #expect(delivery?.tasks == [1, 2])
  }

  @Test mutating func `follow the reply to an owner that creates the session again`() {
    _ = handle(.ending(one))
    _ = answer()
    _ = handle(.opened(session, sendsLaunchEvents: true, generation: 1))
    #expect(handle(.ended([one])) == [askIfAwake])
  }

  @Test mutating func `launch an owner that ended during a delivery after the last task had ended`() {
    _ = end(one)
    _ = handle(.ended([two]))
    #expect(handle(.instanceEnded(widget, generation: 1)).last == ask)
  }

  @Test mutating func `release an owner that was suspended from outside and closed the session`() {
    _ = handle(.ending(one))
    _ = answer()
    _ = handle(.suspended(widget, generation: 1))
    _ = handle(.closed(session, generation: 1))
    #expect(handle(.ended([one])) == [release])
  }

  @Test mutating func `release an owner that closed the session during the write`() {
    _ = handle(.ending(one))
    _ = answer()
    _ = handle(.closed(session, generation: 1))
    #expect(handle(.ended([one])) == [release])
  }

  @Test mutating func `ask again after the owner ended during the write`() {
    _ = handle(.ending(one))
    _ = answer()
    _ = handle(.instanceEnded(widget, generation: 1))
    #expect(handle(.ended([one])) == [release], "the other task loads, and the owner does not run")
    _ = handle(.ending(two))
    #expect(handle(.ended([two])) == [ask])
  }

  @Test mutating func `resume an owner that was suspended at that moment, when all tasks have ended`() {
    _ = end(one)
    #expect(handle(.suspended(widget, generation: 1)) == [], "another task loads")
    #expect(handle(.ending(two)) == [])
    #expect(handle(.ended([two])) == [ask])
  }

  @Test mutating func `resume an owner that was suspended at that moment after all tasks had ended`() {
    _ = handle(.ending(one))
    _ = handle(.ending(two))
    _ = answer()
    _ = handle(.ended([one]))
    _ = handle(.ended([two]))
    #expect(handle(.suspended(widget, generation: 1)) == [ask])
  }
}
