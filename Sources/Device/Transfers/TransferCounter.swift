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
      let meter = TransferMeter(key, interval: perSecond > 0 ? .seconds(1 / perSecond) : nil) { [outlet] counted in
        outlet.yield((key.session, counted))
      }
      meters[key] = meter
      return meter
    }
  }

  /// The task is over; `bytes` have come of it, when it did not fail.
  func ended(_ key: TaskKey, bytes: Int64?) {
    let meter = meters.withLock { $0.removeValue(forKey: key) }
    if let bytes { meter?.ended(at: bytes) }
  }
}

/// How far one task is, and when its owner was told.
final class TransferMeter: Sendable {
  private struct State {
    var lastTold: ContinuousClock.Instant?
    var bytesTold: Int64 = 0
    var expected: Int64 = -1
  }

  private let key: TaskKey
  private let interval: Duration?
  private let told: @Sendable (TransferCounted) -> Void
  private let state = Mutex(State())

  /// - Parameter interval: between two counts; none is told when `nil`.
  init(_ key: TaskKey, interval: Duration?, told: @escaping @Sendable (TransferCounted) -> Void) {
    self.key = key
    self.interval = interval
    self.told = told
  }

  /// So many bytes are in the file now.
  func received(_ bytes: Int64, expected: Int64, at now: ContinuousClock.Instant = .now) {
    let isTold = state.withLock { state in
      state.expected = expected
      guard let interval, state.lastTold.map({ now - $0 >= interval }) ?? true else { return false }
      state.lastTold = now
      state.bytesTold = bytes
      return true
    }
    if isTold { tell(bytes, expected) }
  }

  /// The task goes on from here: said once for each time.
  func resumed(at bytes: Int64, expected: Int64) { tell(bytes, expected, resumedAt: bytes) }

  /// The last word, where it was not told yet.
  func ended(at bytes: Int64) {
    let expected = state.withLock { state -> Int64? in
      guard interval != nil, state.bytesTold < bytes, state.lastTold != nil else { return nil }
      return state.expected
    }
    if let expected { tell(bytes, expected) }
  }

  private func tell(_ bytes: Int64, _ expected: Int64, resumedAt: Int64? = nil) {
    told(
      TransferCounted(
        session: key.session.identifier, taskIdentifier: key.identifier, bytesReceived: bytes, bytesExpected: expected,
        resumedAt: resumedAt))
  }
}
