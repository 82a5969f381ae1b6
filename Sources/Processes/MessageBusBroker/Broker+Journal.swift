import Conversations
import Journal
import Logging
import ZeroMQ

/// What waits while the journal cannot be written.
///
/// What was decided before the broker knew has its numbers, and is written first once there is room; until then nobody
/// sees it, so that the numbers can be given again if the broker dies. What comes after is not decided: requests and
/// events are answered `busy`, which is definite, without a number and without a record; everything else is kept in
/// its order, also a hello, whose sender is not welcome until there is room.
struct Stall {
  /// How much is kept. Beyond it peers are not read from, and wait.
  static let keptLimit = (count: 4096, bytes: 16 << 20)
  /// How long it is waited between two attempts to write, doubling.
  static let pause = (first: Duration.milliseconds(50), longest: Duration.seconds(1))

  let began = ContinuousClock.now
  let error: JournalError
  /// The first record of a segment that is to be begun before anything else.
  var segment: [UInt8]?
  var effects: [Routing<PeerID>.Effect]
  var kept: [Message] = []
  var keptBytes = 0
  /// How many were answered `busy`.
  var turnedDown = 0
  var pause = Stall.pause.first

  var isFull: Bool { kept.count >= Stall.keptLimit.count || keptBytes >= Stall.keptLimit.bytes }
}

// Deciding, writing, forwarding: in this order, and what a full disk makes of it.

extension Broker {
  /// Tells the routing of something, and does what it says.
  func decide(_ body: (inout Routing<PeerID>) -> [Routing<PeerID>.Effect]) {
    perform(routing?.decide(at: .now, body) ?? [])
  }

  private func perform(_ effects: [Routing<PeerID>.Effect]) {
    guard stall == nil else {
      stall?.effects += effects
      return
    }
    var effects = effects
    while !effects.isEmpty {
      do throws(JournalError) {
        try journal?.append(records(of: effects))
      } catch {
        return wait(error, segment: nil, effects)
      }
      effects = carryOut(effects)
    }
    guard journal?.isFull == true, let frame = routing?.started() else { return }
    do throws(JournalError) {
      try journal?.startSegment(with: frame)
    } catch {
      return wait(error, segment: frame, [])
    }
    show(frame)
    trim()
  }

  private func records(of effects: [Routing<PeerID>.Effect]) -> [[UInt8]] {
    effects.compactMap { if case .record(let frame) = $0 { frame } else { nil } }
  }

  /// Does what was recorded, and returns what follows from it.
  private func carryOut(_ effects: [Routing<PeerID>.Effect]) -> [Routing<PeerID>.Effect] {
    var consequences: [Routing<PeerID>.Effect] = []
    for effect in effects {
      switch effect {
      case .record: break
      case .forward(let frame, let line): consequences += forward(frame, to: line)
      case .cutOff(let descriptor): end(descriptor)
      case .raise(let signal): raise(signal)
      case .supersede(let key): supersede(by: key)
      case .cutOffViewers: for viewer in connections.viewers { end(viewer) }
      }
    }
    if !subscriptions.isEmpty {
      for frame in records(of: effects) { show(frame) }
    }
    return consequences
  }

  private func forward(_ frame: [UInt8], to line: PeerID) -> [Routing<PeerID>.Effect] {
    let result = send(frame, to: line)
    guard result != .queued else { return [] }
    return routing?.notSent(frame, on: line, isGone: result == .unroutable) ?? []
  }

  private func send(_ frame: [UInt8], to line: PeerID) -> SendResult {
    do {
      return try router?.send(frame, to: line) ?? .unroutable
    } catch {
      logger.error("a frame could not be sent", metadata: ["error": "\(error)"])
      return .unroutable
    }
  }

  /// An XPUB drops what a slow viewer has no room for, so this waits for nobody. Without a viewer it costs nothing.
  private func show(_ frame: [UInt8]) {
    if !subscriptions.isEmpty { _ = try? tap?.send(frame) }
  }

  /// An XPUB tells of the first subscription to a prefix (1, the prefix) and of the end of the last one (0, the prefix).
  func subscribed(_ batch: Batch) {
    for message in batch {
      switch message.bytes.first {
      case 1: subscriptions.insert(message.bytes.dropFirst())
      case 0: subscriptions.remove(message.bytes.dropFirst())
      default: break
      }
    }
  }

  /// Removes the oldest segments when the journal is over its limit, after it has said so.
  func trim() {
    do throws(JournalError) {
      guard stall == nil, let excess = try journal?.excess() else { return }
      decide { $0.tells(excess) }
      guard stall == nil else { return }
      try journal?.remove(excess)
    } catch {
      logger.warning("the journal stays over its limit", metadata: ["error": "\(error)"])
    }
  }

  // MARK: While the journal cannot be written

  private func wait(_ error: JournalError, segment: [UInt8]?, _ effects: [Routing<PeerID>.Effect]) {
    logger.error(
      "the journal cannot be written, and nothing is forwarded that is not in it: peers are told busy until there is room",
      metadata: ["error": "\(error)"])
    let stall = Stall(error: error, segment: segment, effects: effects)
    self.stall = stall
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
        show(frame)
      }
      try journal.append(records(of: stall.effects))
    } catch {
      let pause = min(stall.pause * 2, Stall.pause.longest)
      self.stall?.pause = pause
      return tryAgain(after: pause)
    }
    self.stall = nil
    let consequences = carryOut(stall.effects)
    goOn(after: stall, consequences)
  }

  private func goOn(after stall: Stall, _ consequences: [Routing<PeerID>.Effect]) {
    let duration = ContinuousClock.now - stall.began
    logger.notice("the journal is written again", metadata: ["after": "\(duration)"])
    perform(consequences)
    decide {
      $0.tells(
        JournalResumed(
          reason: stall.error.message, milliseconds: Int(duration / .milliseconds(1)),
          held: records(of: stall.effects).count, turnedDown: stall.turnedDown))
    }
    if stall.isFull { listenToPeers() }
    for start in stride(from: 0, to: stall.kept.count, by: 256) {
      received(stall.kept[start..<min(start + 256, stall.kept.count)])
    }
    trim()
  }

  /// Takes messages that cannot be recorded now.
  func keep(_ messages: some Sequence<Message>) {
    for message in messages {
      if let line = message.peer, !message.isMultipart, let answer = routing?.busy(message.bytes, on: line) {
        _ = send(answer, to: line)
        stall?.turnedDown += 1
      } else {
        stall?.kept.append(message)
        stall?.keptBytes += message.bytes.count
      }
    }
    if stall?.isFull == true { router?.onMessages(nil) }
  }

  /// What is kept of a connection that has ended before anybody knew who it was: nobody awaits the answer, and its
  /// descriptor names another connection from now on.
  func forget(_ descriptor: Int32) {
    guard let routing else { return }
    stall?.kept.removeAll { message in
      message.descriptor == descriptor && message.peer.map { routing.peers[$0] == nil } ?? true
    }
  }
}
