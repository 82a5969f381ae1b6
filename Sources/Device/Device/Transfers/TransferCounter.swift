// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import MessageBus
import Messages
import OwnedTasks
import Synchronization

/// Reports the progress of tasks to running owners, for each task a few times a second at most and once at its end.
///
/// The rate protects the receiving process, so it is measured in machine time and not in device time.
final class TransferCounter: Sendable {
  private let bus: any BusConnection
  private let perSecond: Double
  let isAwake: @Sendable (Address) async -> Bool
  private let counts = Mutex<[(SessionKey, TransferCounted)]>([])
  /// Says that there are counts.
  private let signal: AsyncStream<Void>
  private let outlet: AsyncStream<Void>.Continuation
  /// Owns the reader of the counts.
  let tasks: TaskOwner
  private let meters = Mutex<[TaskKey: TransferMeter]>([:])

  /// - Parameters:
  ///   - isAwake: whether an owner runs. A suspended owner receives nothing.
  ///   - executor: runs the reader of the counts; `nil` for the shared threads of Swift concurrency.
  init(
    _ bus: any BusConnection, perSecond: Double, on executor: (any TaskExecutor)? = nil,
    isAwake: @escaping @Sendable (Address) async -> Bool
  ) {
    self.bus = bus
    tasks = TaskOwner(on: executor)
    self.perSecond = perSecond
    self.isAwake = isAwake
    (signal, outlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Starts the only reader, so that counts are sent in order.
  func begin() { tasks.start { for await _ in self.signal { await self.send() } } }

  /// The most counts that wait. More of them replace the oldest.
  private static let limit = 1024

  private func add(_ counted: TransferCounted, of session: SessionKey) {
    counts.withLock { counts in
      if counts.count == TransferCounter.limit { counts.removeFirst() }
      counts.append((session, counted))
    }
    outlet.yield()
  }

  /// Sends the counts that wait. Each owner is looked up once.
  private func send() async {
    var awake: [Address: Bool] = [:]
    for (session, counted) in counts.withLock({ counts in
      defer { counts = [] }
      return counts
    }) {
      let isRunning: Bool
      if let known = awake[session.owner] { isRunning = known } else { isRunning = await isAwake(session.owner) }
      awake[session.owner] = isRunning
      if isRunning { bus.notify(counted, to: session.owner, context: session.context) }
    }
  }

  /// Ends the reader. Counts that were not sent yet are lost.
  func leave() async {
    outlet.finish()
    await tasks.end()
  }

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
    count(at: now) { $0.with(bytesSent: bytes, expectedToSend: length) }
  }

  /// Records that the file now has `bytes`.
  func received(_ bytes: Int64, of length: Int64, at now: ContinuousClock.Instant = .now) {
    count(at: now) { $0.with(bytesReceived: bytes, expected: length) }
  }

  /// Reports that the task was resumed here, once per resume.
  func resumed(at bytes: Int64, expected: Int64) {
    tell(state.withLock { $0.count.with(bytesReceived: bytes, expected: expected, resumedAt: bytes) })
  }

  /// Reports the final count, if it was not reported yet.
  func ended(at bytes: Int64) {
    let last = state.withLock { state -> TransferCounted? in
      let last = state.count.with(bytesReceived: bytes, expected: state.count.bytesExpected)
      let isNotified = state.notified?.bytesReceived ?? 0 == bytes && state.notified?.bytesSent ?? 0 == last.bytesSent
      return interval == nil || isNotified ? nil : last
    }
    if let last { tell(last) }
  }

  private func count(at now: ContinuousClock.Instant, _ change: (TransferCounted) -> TransferCounted) {
    let due = state.withLock { state -> TransferCounted? in
      state.count = change(state.count)
      guard let interval, state.lastSent.map({ now - $0 >= interval }) ?? true else { return nil }
      state.lastSent = now
      state.notified = state.count
      return state.count
    }
    if let due { tell(due) }
  }
}

extension TransferCounted {
  fileprivate func with(bytesSent: Int64, expectedToSend: Int64) -> TransferCounted {
    TransferCounted(
      session: session, taskIdentifier: taskIdentifier, bytesSent: bytesSent, bytesExpectedToSend: expectedToSend,
      bytesReceived: bytesReceived, bytesExpected: bytesExpected)
  }

  fileprivate func with(bytesReceived: Int64, expected: Int64, resumedAt: Int64? = nil) -> TransferCounted {
    TransferCounted(
      session: session, taskIdentifier: taskIdentifier, bytesSent: bytesSent, bytesExpectedToSend: bytesExpectedToSend,
      bytesReceived: bytesReceived, bytesExpected: expected, resumedAt: resumedAt)
  }
}
