// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import MessageBus
import Messages
import Synchronization
import Timekeeping

/// Reports the progress of tasks to running owners, for each task a few times a second at most and once at its end.
///
/// The rate protects the receiving process, so it is measured in machine time and not in device time.
final class TransferCounter: Sendable {
  private let bus: any BusConnection
  private let perSecond: Double
  let isAwake: @DeviceActor (Address) -> Bool
  private let counts = Mutex<[(SessionKey, TransferCounted)]>([])
  /// Owns the task that sends the counts.
  let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
  private let meters = Mutex<[TaskKey: TransferMeter]>([:])

  /// - Parameter isAwake: whether an owner runs. A suspended owner receives nothing.
  init(_ bus: any BusConnection, perSecond: Double, isAwake: @escaping @DeviceActor (Address) -> Bool) {
    self.bus = bus
    self.perSecond = perSecond
    self.isAwake = isAwake
  }

  /// The most counts that wait. More of them replace the oldest.
  private static let limit = 1024

  private func add(_ counted: TransferCounted, of session: SessionKey) {
    let isFirst = counts.withLock { counts in
      if counts.count == TransferCounter.limit { counts.removeFirst() }
      counts.append((session, counted))
      return counts.count == 1
    }
    if isFirst { tasks.start { await self.send() } }
  }

  /// Sends the counts that wait, in order.
  @DeviceActor private func send() {
    let waitingSessions = counts.withLock { counts in
      defer { counts = [] }
      return counts
    }
    for (session, counted) in waitingSessions where isAwake(session.owner) {
      bus.notify(counted, to: session.owner, context: session.context)
    }
  }

  /// Counts that were not sent yet are lost.
  func leave() async { await tasks.end() }

  /// The meter that a task's attempts report to.
  func meter(of key: TaskKey) -> TransferMeter {
    meters.withLock { meters in
      if let meter = meters[key] { return meter }
      let interval: Duration? = perSecond > 0 ? .seconds(1 / perSecond) : nil
      let meter = TransferMeter(key, interval: interval) { [weak self] in self?.add($0, of: key.session) }
      meters[key] = meter
      return meter
    }
  }

  /// The task has ended, with `bytes` received, or `nil` when it failed.
  ///
  /// - Returns: the bytes that it sent.
  func ended(_ key: TaskKey, bytes: Int64?) -> Int64 {
    guard let meter = meters.withLock({ $0.removeValue(forKey: key) }) else { return 0 }
    if let bytes { meter.ended(at: bytes) }
    return meter.bytesSent
  }
}

/// The progress of one task, and when it was last reported to the owner.
final class TransferMeter: Sendable {
  private struct State {
    var count: TransferCounted
    var notified: TransferCounted?
    var lastSent: ContinuousClock.Instant?
  }

  private let interval: Duration?
  private let tell: @Sendable (TransferCounted) -> Void
  private let state: Mutex<State>

  /// - Parameter interval: between two reports; `nil` disables them.
  init(_ key: TaskKey, interval: Duration?, tell: @escaping @Sendable (TransferCounted) -> Void) {
    let none = TransferCounted(
      session: key.session.identifier, taskIdentifier: key.identifier, bytesReceived: 0, bytesExpected: -1)
    state = Mutex(State(count: none))
    self.interval = interval
    self.tell = tell
  }

  var bytesSent: Int64 { state.withLock { $0.count.bytesSent } }

  /// Records that `bytes` of the body were sent.
  func sent(_ bytes: Int64, of length: Int64, at now: ContinuousClock.Instant = .now) {
    count(at: now) { ($0.bytesSent, $0.bytesExpectedToSend) = (bytes, length) }
  }

  /// Records that the file now has `bytes`.
  func received(_ bytes: Int64, of length: Int64, at now: ContinuousClock.Instant = .now) {
    count(at: now) { ($0.bytesReceived, $0.bytesExpected) = (bytes, length) }
  }

  /// Reports that the task was resumed here, once per resume.
  func resumed(at bytes: Int64, expected: Int64) {
    var count = state.withLock(\.count)
    (count.bytesReceived, count.bytesExpected, count.resumedAt) = (bytes, expected, bytes)
    tell(count)
  }

  /// Reports the final count, if it was not reported yet.
  func ended(at bytes: Int64) {
    let last = state.withLock { state -> TransferCounted? in
      var last = state.count
      last.bytesReceived = bytes
      let isNotified = state.notified?.bytesReceived ?? 0 == bytes && state.notified?.bytesSent ?? 0 == last.bytesSent
      return interval == nil || isNotified ? nil : last
    }
    if let last { tell(last) }
  }

  private func count(at now: ContinuousClock.Instant, _ change: (inout TransferCounted) -> Void) {
    let due = state.withLock { state -> TransferCounted? in
      change(&state.count)
      guard let interval, state.lastSent.map({ now - $0 >= interval }) ?? true else { return nil }
      state.lastSent = now
      state.notified = state.count
      return state.count
    }
    if let due { tell(due) }
  }
}
