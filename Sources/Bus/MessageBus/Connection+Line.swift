package import Conversations
package import ZeroMQ

// The line of a connection, and how another takes its place: one that has a newer key.

extension Connection {
  /// A connection over ZeroMQ, with a thread of its own.
  ///
  /// - Parameters:
  ///   - endpoint: where the broker listens, `tcp://host:port`.
  ///   - serverKey: the broker's public key, z85.
  ///   - heartbeats: only for processes that nobody suspends.
  ///   - requestDeadline: the deadline of a request that names none.
  ///   - keys: this process's own: asked for each time that a line is made, since they may have been renewed. On the
  ///     connection's thread.
  package static func zeroMQ(
    address: Address, endpoint: String, serverKey: String, heartbeats: Bool,
    requestDeadline: Duration = .seconds(5), keys: @escaping @Sendable () throws -> CurveKeyPair
  ) -> Connection {
    Connection(address: address, loop: Loop(name: "bus"), ownsLoop: true, requestDeadline: requestDeadline) {
      loop, former in
      try ZeroMQTransport(
        loop: loop, endpoint: endpoint, serverKey: serverKey, heartbeats: heartbeats,
        following: former as? ZeroMQTransport, currentKeys: keys)
    }
  }

  /// The same with keys that stay.
  package static func zeroMQ(
    address: Address, endpoint: String, serverKey: String, keys: CurveKeyPair, heartbeats: Bool,
    requestDeadline: Duration = .seconds(5)
  ) -> Connection {
    zeroMQ(
      address: address, endpoint: endpoint, serverKey: serverKey, heartbeats: heartbeats,
      requestDeadline: requestDeadline
    ) { keys }
  }

  /// Moves to a new line, under the keys that are current now. Nothing that is under way is lost, and the order of what
  /// is said stays: the broker has heard all that was said on the former line before it hears anything on the new one,
  /// and what it still says on the former one is heard for a second.
  ///
  /// - Throws: `refused` when the broker does not accept the keys (the former line stays), `closed`.
  package func renewLine() async throws(BusError) {
    let error = await withCheckedContinuation { continuation in
      renewing.append(continuation)
      beginRenewal()
    }
    if let error { throw error }
  }

  private func beginRenewal() {
    if let end { return renewed(end) }
    guard nextTransport == nil else { return }
    do {
      let next = try makeTransport(loop, transport)
      nextTransport = next
      try open(next)
    } catch {
      nextTransport = nil
      renewed(BusError(.failed, "no new line to the bus could be made: \(error)"))
    }
  }

  /// The renewal is over.
  func renewed(_ error: BusError?) {
    let waiting = renewing
    renewing = []
    for continuation in waiting { continuation.resume(returning: error) }
  }

  /// Begins to connect ahead of `start()`, so that the line may stand by then. Nothing is said on it before.
  package nonisolated func prepare() { perform { $0.open() } }

  /// Makes the first line, when there is none.
  func open() {
    guard transport == nil, end == nil else { return }
    do {
      try openLine()
    } catch {
      finish(BusError(.closed, "the bus cannot be reached from here: \(error)"))
    }
  }

  /// Makes the first line.
  func openLine() throws {
    let line = try makeTransport(loop, transport)
    transport = line
    try open(line)
  }

  /// The present line was turned away: makes another if there is a newer key.
  ///
  /// - Returns: whether there is.
  func openAgain() -> Bool {
    guard let former = transport, former.hasNewerKey else { return false }
    blocked = []
    exchange.down()
    former.close()
    return (try? openLine()) != nil
  }

  private func open(_ line: any Transport) throws {
    let name = ObjectIdentifier(line)
    try line.open { [weak self] event in self?.assumeIsolated { $0.told(event, by: name) } }
  }

  private func told(_ event: TransportEvent, by line: ObjectIdentifier) {
    guard end == nil else { return }
    if line == transport.map(ObjectIdentifier.init) {
      told(event)
      // Nothing of the former line is awaited when it is gone.
      if case .down = event, isNextUp { moveOver() }
    } else if line == nextTransport.map(ObjectIdentifier.init) {
      toldOfNext(event)
    } else {
      toldOfFormer(event, line)
    }
  }

  private func toldOfFormer(_ event: TransportEvent, _ line: ObjectIdentifier) {
    switch event {
    case .received(let frame): received(frame)
    case .down, .turnedAway:
      // It would come again, with a key that is about to be turned away.
      for former in formerTransports where ObjectIdentifier(former) == line { former.close() }
    case .up: break
    }
  }

  private func toldOfNext(_ event: TransportEvent) {
    switch event {
    case .up:
      isNextUp = true
      // A hello of the former line must not come after that of the new one.
      if exchange.isWelcome { perform(exchange.drain()) } else if !exchange.isGreeting { moveOver() }
    case .down: isNextUp = false
    case .turnedAway:
      nextTransport?.close()
      nextTransport = nil
      perform(exchange.undrain())
      renewed(BusError(.refused, "the bus does not accept the new key of \(address)"))
    case .received: break
    }
  }

  /// The broker has heard all that was said: from here on the new line is the only one that is spoken on.
  func moveOver() {
    guard let next = nextTransport, isNextUp else { return }
    if let transport { formerTransports.append(transport) }
    (transport, nextTransport, isNextUp) = (next, nil, false)
    blocked = []
    exchange.down()
    perform(exchange.up())
    _ = loop.after(.seconds(1)) { [weak self] in
      self?.assumeIsolated { connection in
        if !connection.formerTransports.isEmpty { connection.formerTransports.removeFirst().close() }
      }
    }
  }

  /// The broker answered a hello of the present line.
  func welcomedOnLine() {
    guard nextTransport != nil else { return renewed(nil) }
    // After all that waited for this welcome.
    loop.post { [weak self] in
      self?.assumeIsolated { connection in
        guard connection.isNextUp, connection.exchange.isWelcome else { return }
        connection.perform(connection.exchange.drain())
      }
    }
  }

  func closeLines(_ error: BusError) {
    for line in formerTransports + [transport, nextTransport].compactMap(\.self) { line.close() }
    (transport, nextTransport, isNextUp, formerTransports) = (nil, nil, false, [])
    renewed(error)
  }
}
