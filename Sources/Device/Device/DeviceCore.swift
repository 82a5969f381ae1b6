// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Dispatch
import Foundation
package import Messages
package import Timekeeping

/// A service of the device: writes the changes of its state machines, and performs their actions.
@DeviceActor package protocol DevicePart: AnyObject, Sendable {
  /// The state machines whose changes it writes.
  nonisolated var concerns: Set<DeviceConcern> { get }
  /// Writes what the last step changed, with the device's next transaction. Nothing is sent before it is committed.
  func save(_ step: DeviceStep) throws
  /// Performs an action of a step, if it is one of this part.
  func perform(_ action: DeviceAction)
  /// After the actions of a step that changed something of it: resumes callers that wait.
  func settle()
  /// Ends all its work, when the device ends. Must be the last call.
  func leave() async
}

extension DevicePart {
  package nonisolated var concerns: Set<DeviceConcern> { [] }
  package func save(_ step: DeviceStep) {}
  package func perform(_ action: DeviceAction) {}
  package func settle() {}
}

/// Callers that wait for something of a key.
@DeviceActor final class Waiters<Key: Hashable & Sendable> {
  private var waitingStreams: [Key: [(number: Int, continuation: AsyncStream<Never>.Continuation)]] = [:]
  private var last = 0

  nonisolated init() {}

  /// The number of callers that wait.
  var count: Int { waitingStreams.values.reduce(0) { $0 + $1.count } }

  /// A stream that ends when the key is resumed, or after a limit in machine time. Not asynchronous: nothing runs
  /// between this call and the caller's check of what it waits for, as it might at an `await`. See `ServiceExecutor`.
  func stream(until key: Key, within limit: Duration? = nil) -> AsyncStream<Never> {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    last += 1
    let number = last
    waitingStreams[key, default: []].append((number, continuation))
    // Also called when the limit passes or the caller is cancelled.
    continuation.onTermination = { [weak self] _ in
      DeviceActor.executor.post { DeviceActor.assumeIsolated { self?.remove(number, key) } }
    }
    if let limit { DeviceActor.executor.post(after: .now() + limit.seconds) { continuation.finish() } }
    return stream
  }

  func resume(where isOver: (Key) -> Bool = { _ in true }) {
    for key in waitingStreams.keys where isOver(key) {
      for waiter in waitingStreams.removeValue(forKey: key) ?? [] { waiter.continuation.finish() }
    }
  }

  private func remove(_ number: Int, _ key: Key) {
    waitingStreams[key]?.removeAll { $0.number == number }
    if waitingStreams[key]?.isEmpty == true { waitingStreams[key] = nil }
  }
}

extension Duration {
  /// The duration in seconds.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// The device's state, and what makes it act: handles one event after the other, has the changes of each step written, and
/// then its actions performed. An event that follows from an action is handled after the step.
@DeviceActor package final class DeviceCore {
  package internal(set) var state: DeviceStateMachine
  private let clock: any ControllableClock
  private let broken: @Sendable (String) -> Void
  private var inbox: [DeviceEvent] = []
  private var isHandling = false
  /// The reply to the event that was handled last, if it has one.
  private var reply: Result<any Sendable, BusError>?
  /// Why nothing is handled or acknowledged any more: the state cannot be written, or the device ends.
  package private(set) var failure: BusError?
  private var isBroken = false
  /// Whether dates are reached.
  private var hasBegun = false
  private var alarm = StateMachineAlarm()
  /// In the order in which they perform an action.
  private var parts: [any DevicePart] = []
  /// Read each step before its actions are performed.
  private var observers: [@DeviceActor (DeviceStep) -> Void] = []

  /// - Parameters:
  ///   - clock: the device's clock.
  ///   - broken: called once when the state cannot be written.
  package nonisolated init(
    _ state: DeviceStateMachine, clock: any ControllableClock, broken: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.state = state
    self.clock = clock
    self.broken = broken
  }

  /// Adds services, before the first event.
  package func connect(_ parts: any DevicePart...) { self.parts += parts }

  /// Releases the services, which have left.
  package func disconnect() { parts = [] }

  package func observe(_ observer: @escaping @DeviceActor (DeviceStep) -> Void) { observers.append(observer) }

  /// All services have resumed: from now on the device's dates are reached.
  package func begin() {
    hasBegun = true
    setAlarm()
  }

  // MARK: Events

  /// Handles an event, and what follows from it. After a failure it is not handled.
  package func handle(_ event: DeviceEvent) {
    inbox.append(event)
    guard !isHandling else { return }
    isHandling = true
    var next = 0
    while failure == nil, next < inbox.count {
      next += 1
      let step = state.handle(inbox[next - 1], now: clock.now)
      // The steps that follow are other events'.
      if next == 1 { reply = step.reply }
      take(step)
    }
    inbox = []
    isHandling = false
    setAlarm()
  }

  private func setAlarm() {
    let next = hasBegun && failure == nil ? state.nextInstant : nil
    alarm.set(next, on: clock) { [weak self] in await self?.alarmFired($0) }
  }

  private func alarmFired(_ instant: Date) {
    if alarm.takeFired(instant) { handle(.timerFired) }
  }

  /// Handles an event that its sender discards after the acknowledgement.
  ///
  /// - Throws: `failed` when it cannot be recorded, and `closed` when the device ends.
  package func record(_ event: DeviceEvent) throws(BusError) {
    handle(event)
    if let failure { throw failure }
  }

  /// Handles an event that has a reply of this type.
  ///
  /// - Throws: the refusal; `failed` when it cannot be recorded, and `closed` when the device ends.
  package func ask<Reply>(_ event: DeviceEvent) throws(BusError) -> Reply {
    guard !isHandling else { throw Self.noReply }
    try record(event)
    guard let reply = try reply.take()?.get() as? Reply else { throw Self.noReply }
    return reply
  }

  /// An event without a reply was asked, or one during a step.
  private static let noReply = BusError(.failed, "the device has no reply", isDefinite: true)

  /// The failure of a device that ends.
  package nonisolated static let closed = BusError(.closed, "the device is shutting down", isDefinite: false)

  /// From now on nothing is handled.
  package func stop() {
    failure = failure ?? Self.closed
    alarm.cancel()
  }

  /// The state cannot be written: the host must exit.
  package func fail(_ reason: String) {
    guard !isBroken else { return }
    isBroken = true
    if failure == nil { failure = BusError(.failed, reason, isDefinite: false) }
    broken(reason)
    for part in parts { part.settle() }
  }

  // MARK: Steps

  private func take(_ step: DeviceStep) {
    do {
      for part in parts where !part.concerns.isDisjoint(with: step.changed) { try part.save(step) }
    } catch {
      return fail("the state of the device cannot be written: \(error)")
    }
    for observer in observers { observer(step) }
    for action in step.actions { for part in parts { part.perform(action) } }
    for part in parts where !part.concerns.isDisjoint(with: step.changed) { part.settle() }
  }
}
