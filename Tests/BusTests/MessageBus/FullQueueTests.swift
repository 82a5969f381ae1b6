// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages
import Synchronization
import Testing
import ZeroMQ

private let host = Address.host("phone")
private let agent = Address.agent("phone", 1)

/// A broker at the other end of one connection. It replies to each hello, and its queue can be full.
private final class BrokerModel: Sendable {
  private struct State {
    var isFull = false
    var deliver: (@Sendable (TransportEvent) -> Void)?
  }

  let loop = Loop(name: "broker-model")
  /// The envelopes that it received, except hellos.
  let received: AsyncStream<Envelope>
  /// The envelopes for which its queue had no room.
  let blocked: AsyncStream<Envelope>
  private let receive: AsyncStream<Envelope>.Continuation
  private let block: AsyncStream<Envelope>.Continuation
  private let state = Mutex(State())

  init() {
    (received, receive) = AsyncStream.makeStream()
    (blocked, block) = AsyncStream.makeStream()
  }

  /// Creates a connection to it.
  func connection() -> Connection {
    Connection(address: host, loop: loop, ownsLoop: false, requestDeadline: .seconds(60)) { _, _ in
      ModelTransport(self)
    }
  }

  func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

  /// Disconnects, and connects again with an empty queue.
  func reconnect() {
    setFull(false)
    deliver(.down)
    deliver(.up)
  }

  func deliver(_ event: TransportEvent) {
    loop.post { self.state.withLock { $0.deliver }?(event) }
  }

  func send(_ envelope: Envelope) throws { deliver(.received(try envelope.encoded())) }

  /// Replies to a request of the connection.
  func reply(_ reply: some Encodable, to request: Envelope) throws {
    let header = request.header
    let envelope = Envelope(
      header: EnvelopeHeader(
        kind: header.kind.answered(.ok), cause: header.id, source: header.destination, destination: header.source),
      body: try BodyCoding.encode(reply))
    try send(envelope)
  }

  func open(_ deliver: @escaping @Sendable (TransportEvent) -> Void) {
    state.withLock { $0.deliver = deliver }
    self.deliver(.up)
  }

  func take(_ frame: [UInt8]) -> Bool {
    guard let envelope = try? Envelope(decoding: frame) else { return true }
    guard !state.withLock({ $0.isFull }) else {
      block.yield(envelope)
      return false
    }
    if envelope.header.kind == Hello.kind {
      try? reply(Hello.Reply(generation: 1), to: envelope)
    } else {
      receive.yield(envelope)
    }
    return true
  }
}

private final class ModelTransport: Transport {
  private let broker: BrokerModel
  init(_ broker: BrokerModel) { self.broker = broker }
  func open(_ deliver: @escaping @Sendable (TransportEvent) -> Void) { broker.open(deliver) }
  func send(_ frame: [UInt8]) -> Bool { broker.take(frame) }
  func whenWritable(_ handler: @escaping @Sendable () -> Void) {}
  func close() {}
  var hasNewerKey: Bool { false }
}

/// Frames that wait for room in the transport are dropped when it disconnects. What they contain is not lost.
@Suite(.timeLimit(.minutes(1))) struct `A disconnection with a full queue` {
  private let broker = BrokerModel()

  @Test func `a request that waits for room is sent again after a disconnection`() async throws {
    let connection = broker.connection()
    _ = try await connection.start()
    broker.setFull(true)
    async let reply = connection.request(Ping(), to: agent)
    let blocked = try #require(await broker.blocked.first { _ in true })
    broker.reconnect()
    let sent = try #require(await broker.received.first { _ in true })
    #expect(sent.header.id == blocked.header.id && sent.header.attempt == 1)
    try broker.reply(Ping.Reply(pid: 7), to: sent)
    #expect(try await reply.pid == 7)
    await broker.loop.stop()
  }

  @Test func `a reply that waits for room is sent when the request arrives again after a disconnection`() async throws {
    let calls = Mutex(0)
    let connection = broker.connection()
    connection.onRequest(Ping.self) { _, _ in
      calls.withLock { $0 += 1 }
      return Ping.Reply(pid: 7)
    }
    _ = try await connection.start()
    broker.setFull(true)
    let request = Envelope(
      header: EnvelopeHeader(kind: Ping.kind, source: agent, destination: host), body: try BodyCoding.encode(Ping()))
    try broker.send(request)
    _ = await broker.blocked.first { _ in true }
    // The broker announces the new connection of the host, and the agent then sends its request again.
    broker.reconnect()
    try broker.send(request)
    let reply = try #require(await broker.received.first { _ in true })
    #expect(reply.header.kind == Ping.kind.answered(.ok) && reply.header.cause == request.header.id)
    #expect(calls.withLock { $0 } == 1)
    await broker.loop.stop()
  }
}
