// SPDX-License-Identifier: Apache-2.0

import Archive
import FaultPoints
import Journal
import Logging
import Messages
import PrometheusMetrics
import ZeroMQ

/// The pending work while the journal cannot be written.
///
/// Actions decided before the failure have their numbers, and are written first once the journal is writable again;
/// until then they are not sent, so that the numbers can be reused if the broker is killed. Later messages are not
/// decided: requests and events get `busy`, which is definite, without a number and without a record; all others are
/// kept in order, including a hello, whose sender gets its welcome only when the journal is writable.
struct Stall {
  /// How much is kept. Beyond it the broker stops reading from peers, which then wait.
  static let keptLimit = (count: 4096, bytes: 16 << 20)
  /// The delay between two attempts to write; it doubles.
  static let pause = (first: Duration.milliseconds(50), longest: Duration.seconds(1))

  let began = ContinuousClock.now
  let error: JournalError
  /// The first record of a segment that must be begun first.
  var segment: [UInt8]?
  var actions: [Routing<PeerID>.Action]
  var kept: [MultipartMessage] = []
  var keptBytes = 0
  /// How many messages were rejected with `busy`.
  var turnedDown = 0
  var pause = Stall.pause.first

  var isFull: Bool { kept.count >= Stall.keptLimit.count || keptBytes >= Stall.keptLimit.bytes }
}

// Decide, write, forward: in this order, also when the disk is full.

extension Broker {
  /// Passes an event to the routing, and performs the resulting actions.
  ///
  /// - Parameter batch: the received frames that they name by their places.
  func decide(_ batch: FrameBatch? = nil, _ body: (inout Routing<PeerID>) -> [Routing<PeerID>.Action]) {
    perform(routing?.decide(at: .now, body) ?? [], batch)
  }

  func perform(_ actions: [Routing<PeerID>.Action], _ batch: FrameBatch? = nil) {
    guard stall == nil else {
      stall?.actions += kept(actions, batch)
      return
    }
    var actions = actions
    while !actions.isEmpty {
      do throws(JournalError) {
        try append(actions, batch)
      } catch {
        return wait(error, segment: nil, kept(actions, batch))
      }
      actions = carryOut(actions, batch)
    }
    if let metrics { report(to: metrics) }
    guard journal?.isFull == true, let frame = routing?.started() else { return }
    do throws(JournalError) {
      try journal?.startSegment(with: frame)
    } catch {
      return wait(error, segment: frame, [])
    }
    frame.withUnsafeBytes { show($0) }
    trim()
  }

  private func append(_ actions: [Routing<PeerID>.Action], _ batch: FrameBatch?) throws(JournalError) {
    guard let journal else { return }
    let began = metrics.map { _ in ContinuousClock.now }
    var (count, bytes) = (0, 0)
    forEachRecord(of: actions, batch) { frame in
      journal.add(frame)
      count += 1
      bytes += frame.count
    }
    try journal.append(givingUpTo: routing?.highestGeneration ?? 0)
    guard let metrics, let began else { return }
    metrics.appends.observe(ContinuousClock.now - began)
    metrics.batches.add()
    metrics.records.add(count)
    metrics.recordBytes.add(bytes)
  }

  /// Publishes the state for the metrics.
  private func report(to metrics: BrokerMetrics) {
    metrics.peers.set(routing?.connectedCount ?? 0)
    metrics.refused.set(routing?.refusals ?? 0)
    metrics.connections.set(connections.descriptors.count)
    metrics.viewers.set(connections.viewers.count)
    metrics.isStalled.set(stall == nil ? 0 : 1)
  }

  private func records(of actions: [Routing<PeerID>.Action]) -> [[UInt8]] {
    actions.compactMap { if case .record(let frame) = $0 { frame } else { nil } }
  }

  /// The same actions with copies of the frames that they name, which stay valid after the turn.
  private func kept(_ actions: [Routing<PeerID>.Action], _ batch: FrameBatch?) -> [Routing<PeerID>.Action] {
    actions.flatMap { action -> [Routing<PeerID>.Action] in
      guard case .pass(let index, let line) = action, let batch else { return [action] }
      let frame = [UInt8](batch.bytes(index))
      return [.record(frame)] + (line.map { [.forward(frame, to: $0)] } ?? [])
    }
  }

  private func forEachRecord(
    of actions: [Routing<PeerID>.Action], _ batch: FrameBatch?, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    for action in actions {
      switch action {
      case .record(let frame): frame.withUnsafeBytes { body($0) }
      case .pass(let index, _): if let batch { body(UnsafeRawBufferPointer(batch.bytes(index))) }
      default: break
      }
    }
  }

  /// Performs recorded actions, and returns the actions that follow from them.
  private func carryOut(
    _ actions: [Routing<PeerID>.Action], _ batch: FrameBatch? = nil
  ) -> [Routing<PeerID>.Action] {
    var consequences: [Routing<PeerID>.Action] = []
    var forwarded = 0
    for action in actions {
      switch action {
      case .record: break
      case .pass(let index, let line):
        guard let line, let batch else { continue }
        forwarded += 1
        pass(batch, index, to: line, &consequences)
      case .forward(let frame, let line):
        forwarded += 1
        forward(frame, to: line, &consequences)
      case .cutOff(let descriptor): end(descriptor)
      case .raise(let signal): raise(signal)
      case .supersede(let key): supersede(by: key)
      case .cutOffViewers: for viewer in connections.viewers { end(viewer) }
      case .watchReplicas: watchReplicas()
      }
    }
    metrics?.forwarded.add(forwarded)
    if !subscriptions.isEmpty {
      forEachRecord(of: actions, batch) { show($0) }
    }
    FaultPoint.busAfterForwarding.reached()
    return consequences
  }

  /// Sends a received frame on. It is copied when it is needed afterwards: by a viewer, or by an injected fault.
  private func pass(
    _ batch: FrameBatch, _ index: Int, to line: PeerID, _ consequences: inout [Routing<PeerID>.Action]
  ) {
    if !subscriptions.isEmpty || LineFaults.areArmed || !delayed.isEmpty {
      return forward([UInt8](batch.bytes(index)), to: line, &consequences)
    }
    let result = sent { router throws(ZMQError) in try router.send(batch, index, to: line) }
    if result != .queued { consequences += unsent([UInt8](batch.bytes(index)), to: line, result) }
  }

  private func forward(_ frame: [UInt8], to line: PeerID, _ consequences: inout [Routing<PeerID>.Action]) {
    if LineFaults.areArmed || !delayed.isEmpty {
      consequences += forwardWithFaults(frame, to: line)
      return
    }
    let result = send(frame, to: line)
    if result != .queued { consequences += unsent(frame, to: line, result) }
  }

  func forwardNow(_ frame: [UInt8], to line: PeerID) -> [Routing<PeerID>.Action] {
    let result = send(frame, to: line)
    return result == .queued ? [] : unsent(frame, to: line, result)
  }

  private func unsent(_ frame: [UInt8], to line: PeerID, _ result: SendResult) -> [Routing<PeerID>.Action] {
    metrics?.unsent.add()
    return routing?.notSent(frame, on: line, isGone: result == .unroutable) ?? []
  }

  private func send(_ frame: [UInt8], to line: PeerID) -> SendResult {
    sent { router throws(ZMQError) in try router.send(frame, to: line) }
  }

  private func sent(_ send: (Socket) throws(ZMQError) -> SendResult) -> SendResult {
    guard let router else { return .unroutable }
    do {
      return try send(router)
    } catch {
      logger.error("a frame could not be sent", metadata: ["error": "\(error)"])
      return .unroutable
    }
  }

  /// An XPUB drops what a slow viewer has no room for, so this never waits. It costs nothing without a viewer.
  private func show(_ frame: UnsafeRawBufferPointer) {
    if !subscriptions.isEmpty { _ = try? tap?.send(frame) }
  }

  /// An XPUB reports the first subscription to a prefix (1, the prefix) and the end of the last one (0, the prefix).
  func subscribed(_ batch: Batch) {
    for message in batch {
      switch message.bytes.first {
      case 1: subscriptions.insert(message.bytes.dropFirst())
      case 0: subscriptions.remove(message.bytes.dropFirst())
      default: break
      }
    }
  }

  /// Removes the oldest segments when the journal exceeds its limit, after it has recorded that.
  func trim() {
    do throws(JournalError) {
      guard stall == nil, let excess = try journal?.excess() else { return }
      decide { $0.recording(excess) }
      guard stall == nil else { return }
      try journal?.remove(excess)
    } catch {
      logger.warning("the journal stays over its limit", metadata: ["error": "\(error)"])
    }
  }

  // MARK: While the journal cannot be written

  private func wait(_ error: JournalError, segment: [UInt8]?, _ actions: [Routing<PeerID>.Action]) {
    logger.error(
      "the journal cannot be written: nothing is forwarded, and peers get busy until a write succeeds",
      metadata: ["error": "\(error)"])
    let stall = Stall(error: error, segment: segment, actions: actions)
    self.stall = stall
    if let metrics { report(to: metrics) }
    tryAgain(after: stall.pause)
  }

  private func tryAgain(after pause: Duration) {
    _ = loop.after(pause) { [weak self] in self?.assumeIsolated { $0.tryAgain() } }
  }

  private func tryAgain() {
    guard let stall, let journal else { return }
    do throws(JournalError) {
      if let frame = stall.segment {
        try journal.startSegment(with: frame)
        self.stall?.segment = nil
        frame.withUnsafeBytes { show($0) }
      }
      try append(stall.actions, nil)
    } catch {
      let pause = min(stall.pause * 2, Stall.pause.longest)
      self.stall?.pause = pause
      return tryAgain(after: pause)
    }
    self.stall = nil
    let consequences = carryOut(stall.actions)
    goOn(after: stall, consequences)
  }

  private func goOn(after stall: Stall, _ consequences: [Routing<PeerID>.Action]) {
    let duration = ContinuousClock.now - stall.began
    logger.notice("the journal is written again", metadata: ["after": "\(duration)"])
    perform(consequences)
    decide {
      $0.recording(
        JournalResumed(
          reason: stall.error.message, milliseconds: Int(saturating: duration / .milliseconds(1)),
          held: records(of: stall.actions).count, turnedDown: stall.turnedDown))
    }
    if stall.isFull { listenToPeers() }
    for start in stride(from: 0, to: stall.kept.count, by: 256) {
      received(stall.kept[start..<min(start + 256, stall.kept.count)])
    }
    trim()
  }

  /// Keeps messages that cannot be recorded now, or rejects them with `busy`.
  func keep(_ messages: some Sequence<MultipartMessage>) {
    for message in messages {
      if let line = message.peer, !message.isMultipart, let answer = routing?.busy(message.bytes, on: line) {
        _ = send(answer, to: line)
        stall?.turnedDown += 1
        metrics?.busy.add()
      } else {
        stall?.kept.append(message)
        stall?.keptBytes += message.bytes.count
      }
    }
    if stall?.isFull == true { router?.onFrames(nil) }
  }

  /// Drops the kept messages of a connection that ended before it was identified: no process awaits the replies, and
  /// its descriptor may be reused by another connection.
  func forget(_ descriptor: Int32) {
    guard let routing else { return }
    stall?.kept.removeAll { message in
      message.descriptor == descriptor && message.peer.map { routing.peers[$0] == nil } ?? true
    }
  }
}
