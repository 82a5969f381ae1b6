import Conversations
import MessageBus
import Synchronization

/// Tells owners that run how far their tasks are, each task at most a few times a second and once at its end.
///
/// The rate is for the sake of a process that listens, so it goes by the machine's time and not by the device's.
final class TransferCounter: Sendable {
  private let bus: any BusConnection
  private let perSecond: Double
  let isAwake: @Sendable (Address) async -> Bool
  private let counts: AsyncStream<(SessionKey, TransferCounted)>
  private let outlet: AsyncStream<(SessionKey, TransferCounted)>.Continuation
  private let meters = Mutex<[TaskKey: TransferMeter]>([:])

  /// - Parameter isAwake: whether an owner runs: one that is suspended is told nothing.
  init(_ bus: any BusConnection, perSecond: Double, isAwake: @escaping @Sendable (Address) async -> Bool) {
    self.bus = bus
    self.perSecond = perSecond
    self.isAwake = isAwake
    (counts, outlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
  }

  /// The only reader: counts are told in order.
  func begin() {
    Task { [counts, bus, isAwake] in
      for await (session, counted) in counts where await isAwake(session.owner) {
        bus.notify(counted, to: session.owner, story: session.story)
      }
    }
  }

  func leave() { outlet.finish() }

  /// What an attempt of a task counts with.
  func meter(of key: TaskKey) -> TransferMeter {
    meters.withLock { meters in
      if let meter = meters[key] { return meter }
      let interval: Duration? = perSecond > 0 ? .seconds(1 / perSecond) : nil
      let meter = TransferMeter(key, interval: interval) { [outlet] counted in
        outlet.yield((key.session, counted))
      }
      meters[key] = meter
      return meter
    }
  }

  /// The task is over; `bytes` have come of it, when it did not fail.
  ///
  /// - Returns: bytes that it sent.
  func ended(_ key: TaskKey, bytes: Int64?) -> Int64 {
    guard let meter = meters.withLock({ $0.removeValue(forKey: key) }) else { return 0 }
    if let bytes { meter.ended(at: bytes) }
    return meter.bytesSent
  }
}

/// How far one task is, and when its owner was told.
final class TransferMeter: Sendable {
  private struct State {
    var count: TransferCounted
    var told: TransferCounted?
    var lastTold: ContinuousClock.Instant?
  }

  private let interval: Duration?
  private let tell: @Sendable (TransferCounted) -> Void
  private let state: Mutex<State>

  /// - Parameter interval: between two counts; none is told when `nil`.
  init(_ key: TaskKey, interval: Duration?, tell: @escaping @Sendable (TransferCounted) -> Void) {
    let none = TransferCounted(
      session: key.session.identifier, taskIdentifier: key.identifier, bytesReceived: 0, bytesExpected: -1)
    state = Mutex(State(count: none))
    self.interval = interval
    self.tell = tell
  }

  var bytesSent: Int64 { state.withLock { $0.count.bytesSent } }

  /// So many bytes of the body are out.
  func sent(_ bytes: Int64, of length: Int64, at now: ContinuousClock.Instant = .now) {
    count(at: now) { $0.with(bytesSent: bytes, expectedToSend: length) }
  }

  /// So many bytes are in the file now.
  func received(_ bytes: Int64, of length: Int64, at now: ContinuousClock.Instant = .now) {
    count(at: now) { $0.with(bytesReceived: bytes, expected: length) }
  }

  /// The task goes on from here: said once for each time.
  func resumed(at bytes: Int64, expected: Int64) {
    tell(state.withLock { $0.count.with(bytesReceived: bytes, expected: expected, resumedAt: bytes) })
  }

  /// The last word, where it was not told yet.
  func ended(at bytes: Int64) {
    let last = state.withLock { state -> TransferCounted? in
      let last = state.count.with(bytesReceived: bytes, expected: state.count.bytesExpected)
      let isTold = state.told?.bytesReceived ?? 0 == bytes && state.told?.bytesSent ?? 0 == last.bytesSent
      return interval == nil || isTold ? nil : last
    }
    if let last { tell(last) }
  }

  private func count(at now: ContinuousClock.Instant, _ change: (TransferCounted) -> TransferCounted) {
    let due = state.withLock { state -> TransferCounted? in
      state.count = change(state.count)
      guard let interval, state.lastTold.map({ now - $0 >= interval }) ?? true else { return nil }
      state.lastTold = now
      state.told = state.count
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
