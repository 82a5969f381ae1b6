// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
package import ZeroMQ

// The transport of a connection, and its replacement by one with a newer key.

extension Connection {
  /// Creates a connection over ZeroMQ, with its own thread.
  ///
  /// - Parameters:
  ///   - endpoint: where the broker listens, `tcp://host:port`.
  ///   - serverKey: the broker's public key, z85.
  ///   - heartbeats: only for processes that are never suspended.
  ///   - requestDeadline: the deadline of a request without an explicit one.
  ///   - keys: returns this process's keys. Called on the connection's thread each time a transport is created, since
  ///     the keys may have been renewed.
  package static func zeroMQ(
    address: Address, endpoint: String, serverKey: String, heartbeats: Bool,
    requestDeadline: Duration = .seconds(5), store: (identity: UUID, opening: Int)? = nil,
    keys: @escaping @Sendable () throws -> CurveKeyPair
  ) -> Connection {
    Connection(
      address: address, loop: Loop(name: "bus"), ownsLoop: true, requestDeadline: requestDeadline, store: store
    ) { loop, former in
      try ZeroMQTransport(
        loop: loop, endpoint: endpoint, serverKey: serverKey, heartbeats: heartbeats, isReplaceable: address.isReplica,
        following: former as? ZeroMQTransport, currentKeys: keys)
    }
  }

  /// Creates a connection over ZeroMQ with constant keys.
  package static func zeroMQ(
    address: Address, endpoint: String, serverKey: String, keys: CurveKeyPair, heartbeats: Bool,
    requestDeadline: Duration = .seconds(5)
  ) -> Connection {
    zeroMQ(
      address: address, endpoint: endpoint, serverKey: serverKey, heartbeats: heartbeats,
      requestDeadline: requestDeadline
    ) { keys }
  }

  /// Moves to a new transport with the current keys. No message is lost or reordered: the broker has received
  /// everything sent on the previous transport before it receives anything on the new one, and replies on the previous
  /// one are still received for one second.
  ///
  /// - Throws: `refused` when the broker rejects the keys (the previous transport stays in use), `closed`.
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
      renewed(BusError(.failed, "no new connection to the bus could be created: \(error)"))
    }
  }

  /// Ends the renewal.
  func renewed(_ error: BusError?) {
    let waiting = renewing
    renewing = []
    for continuation in waiting { continuation.resume(returning: error) }
  }

  /// Begins to connect before `start()`, to save time. Nothing is sent until `connect()` or `start()`.
  package nonisolated func prepare() { perform { $0.open() } }

  /// Creates the first transport, unless one exists.
  func open() {
    guard transport == nil, end == nil else { return }
    do {
      try openLine()
    } catch {
      finish(BusError(.closed, "the bus cannot be reached: \(error)"))
    }
  }

  /// Creates a transport and makes it the current one.
  func openLine() throws {
    let line = try makeTransport(loop, transport)
    transport = line
    try open(line)
  }

  /// Handles a rejected key on the current transport: connects again if a newer key is available.
  ///
  /// - Returns: whether it connects again.
  func openAgain() -> Bool {
    guard let former = transport, former.hasNewerKey else { return false }
    blocked.removeAll()
    session.down()
    former.close()
    return (try? openLine()) != nil
  }

  private func open(_ line: any Transport) throws {
    let name = ObjectIdentifier(line)
    try line.open { [weak self] event in self?.assumeIsolated { $0.handleTransport(event, by: name) } }
  }

  private func handleTransport(_ event: TransportEvent, by line: ObjectIdentifier) {
    guard end == nil else { return }
    if line == transport.map(ObjectIdentifier.init) {
      handleTransport(event)
      // After a disconnection nothing more arrives on the previous transport.
      if case .down = event, isNextUp { moveOver() }
    } else if line == nextTransport.map(ObjectIdentifier.init) {
      reportedNext(event)
    } else {
      reportedFormer(event, line)
    }
  }

  private func reportedFormer(_ event: TransportEvent, _ line: ObjectIdentifier) {
    switch event {
    case .received(let frame): received(frame)
    case .down, .turnedAway:
      // Otherwise it would reconnect, with a key that is about to be rejected.
      for former in formerTransports where ObjectIdentifier(former) == line { former.close() }
    case .up: break
    }
  }

  private func reportedNext(_ event: TransportEvent) {
    switch event {
    case .up:
      isNextUp = true
      // A hello on the previous transport must not arrive after the hello on the new one.
      if session.isWelcome { perform(session.drain()) } else if !session.isGreeting { moveOver() }
    case .down: isNextUp = false
    case .turnedAway:
      nextTransport?.close()
      nextTransport = nil
      perform(session.undrain())
      renewed(BusError(.refused, "the bus does not accept the new key of \(address)"))
    case .received: break
    }
  }

  /// The broker has received everything sent so far: from here on only the new transport sends.
  func moveOver() {
    guard let next = nextTransport, isNextUp else { return }
    if let transport { formerTransports.append(transport) }
    (transport, nextTransport, isNextUp) = (next, nil, false)
    blocked.removeAll()
    session.down()
    perform(session.up())
    _ = loop.after(.seconds(1)) { [weak self] in
      self?.assumeIsolated { connection in
        if !connection.formerTransports.isEmpty { connection.formerTransports.removeFirst().close() }
      }
    }
  }

  /// The broker has replied to the hello on the current transport.
  func welcomedOnLine() {
    guard nextTransport != nil else { return renewed(nil) }
    // Runs after everything that waited for this welcome.
    loop.post { [weak self] in
      self?.assumeIsolated { connection in
        guard connection.isNextUp, connection.session.isWelcome else { return }
        connection.perform(connection.session.drain())
      }
    }
  }

  func closeLines(_ error: BusError) {
    for line in formerTransports + [transport, nextTransport].compactMap(\.self) { line.close() }
    (transport, nextTransport, isNextUp, formerTransports) = (nil, nil, false, [])
    renewed(error)
  }
}
