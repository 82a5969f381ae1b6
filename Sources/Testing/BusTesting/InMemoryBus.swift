// SPDX-License-Identifier: Apache-2.0

import Foundation
package import MessageBus
package import Messages
package import ZeroMQ

/// The bus without a network, for tests of services: the same table, presence, `unreachable` and acknowledgements, and
/// the same `Connection` at each end.
///
/// It does not cover keys, the journal, full queues, and the bytes on the wire.
package actor InMemoryBus {
  private struct Peer {
    var generation: UInt32
    var incarnation: UUID
    let deliver: @Sendable (TransportEvent) -> Void
  }

  package nonisolated let loop = Loop(name: "in-memory-bus")
  private var lines: [Address: @Sendable (TransportEvent) -> Void] = [:]
  /// Disconnected transports whose connections still exist.
  private var broken: [Address: @Sendable (TransportEvent) -> Void] = [:]
  private var peers: [Address: Peer] = [:]
  private var instances: [Address: (generation: UInt32, incarnation: UUID)] = [:]
  /// Process instances that an agent registered and that have not sent a hello yet.
  private var registered: Set<Address> = []
  private var interested: [Address: Set<Address>] = [:]
  private var watchers: [UUID: @Sendable (Envelope) -> Void] = [:]
  /// All envelopes in order, with sequence numbers and generations.
  package private(set) var sentEnvelopes: [Envelope] = []

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  package init() {}

  /// Creates a connection for one address; `start()` connects it. A request without a deadline has one minute: a test
  /// may get no processor for many seconds, and its deadline only guards against hanging.
  package nonisolated func connection(_ address: Address) -> Connection {
    Connection(address: address, loop: loop, ownsLoop: false, requestDeadline: .seconds(60)) { _, _ in
      InMemoryTransport(bus: self, address: address)
    }
  }

  /// Disconnects an address, as the exit of its process does.
  package func disconnect(_ address: Address) {
    lines[address]?(.down)
    broken[address] = lines.removeValue(forKey: address)
    remove(address)
  }

  /// Reconnects an address that was disconnected by `disconnect`, if its connection still exists.
  package func connectAgain(_ address: Address) {
    guard let deliver = broken.removeValue(forKey: address) else { return }
    open(address, deliver)
  }

  /// Observes all envelopes until the stream is terminated.
  ///
  /// - Returns: all past envelopes, then the new ones; the stream never finishes by itself.
  package func watch() -> AsyncStream<Envelope> {
    let (stream, continuation) = AsyncStream.makeStream(of: Envelope.self)
    for envelope in sentEnvelopes { continuation.yield(envelope) }
    let id = UUID()
    watchers[id] = { continuation.yield($0) }
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      loop.post { self.assumeIsolated { $0.watchers[id] = nil } }
    }
    return stream
  }

  /// Returns the first past or future envelope that `matches`.
  package func first(where matches: @escaping @Sendable (Envelope) -> Bool) async -> Envelope? {
    for await envelope in watch() where matches(envelope) { return envelope }
    return nil
  }

  // MARK: For the transport

  fileprivate func open(_ address: Address, _ deliver: @escaping @Sendable (TransportEvent) -> Void) {
    lines[address] = deliver
    broken[address] = nil
    loop.post { deliver(.up) }
  }

  fileprivate func close(_ address: Address) {
    lines[address] = nil
    broken[address] = nil
    remove(address)
  }

  private func remove(_ address: Address) {
    guard let peer = peers.removeValue(forKey: address) else { return }
    sendPresence(Presence(address: address, isPresent: false, generation: peer.generation))
  }

  fileprivate func route(_ frame: [UInt8], from sender: Address) {
    guard var envelope = try? Envelope(decoding: frame), lines[sender] != nil else { return }
    let header = envelope.header
    guard header.source == sender else { return refuse(header, reason: "role-mismatch", sender: sender) }
    if let reason = MessageTable.refusal(of: header) { return refuse(header, reason: reason, sender: sender) }
    if header.kind == Hello.kind {
      record(&envelope)
      return hello(envelope)
    }
    guard peers[sender] != nil else { return send(HelloRequired(), to: sender, cause: header.id) }
    interested[header.destination, default: []].insert(sender)
    record(&envelope)
    switch header.destination.role {
    case .journal: break
    case .messageBus: answer(envelope)
    default:
      guard let peer = peers[header.destination] else {
        let notice = Undelivered(
          kindName: header.kind.name, destination: header.destination, code: .unreachable)
        return send(notice, to: sender, cause: header.id)
      }
      forward(envelope, to: peer)
    }
  }

  private func hello(_ envelope: Envelope) {
    let sender = envelope.header.source
    guard let hello = try? BodyCoding.decode(Hello.self, from: envelope.body), let deliver = lines[sender] else {
      return
    }
    var instance = instances[sender] ?? (generation: 0, incarnation: UUID())
    if registered.remove(sender) != nil {
      instance.incarnation = hello.incarnation
    } else if instance.incarnation != hello.incarnation {
      instance = (instance.generation + 1, hello.incarnation)
    }
    instances[sender] = instance
    peers[sender] = Peer(generation: instance.generation, incarnation: instance.incarnation, deliver: deliver)
    reply(Hello.Reply(generation: instance.generation), to: envelope)
    sendPresence(Presence(address: sender, isPresent: true, generation: instance.generation))
  }

  private func answer(_ envelope: Envelope) {
    switch envelope.header.kind {
    case Goodbye.kind:
      reply(Done(), to: envelope)
      remove(envelope.header.source)
    case RegisterInstance.kind:
      guard let request = try? BodyCoding.decode(RegisterInstance.self, from: envelope.body) else { return }
      let generation = (instances[request.address]?.generation ?? 0) + 1
      instances[request.address] = (generation, UUID())
      registered.insert(request.address)
      reply(RegisterInstance.Reply(generation: generation), to: envelope)
    case RetireInstance.kind: reply(Done(), to: envelope)
    case Ping.kind: reply(Ping.Reply(pid: 0), to: envelope)
    case BusStatus.kind:
      let registrations = peers.map { Registration(address: $0, generation: $1.generation, isConnected: true) }
      reply(
        BusStatus.Reply(pid: 0, generation: 1, sequence: UInt64(sentEnvelopes.count), registrations: registrations),
        to: envelope)
    default: break
    }
  }

  private func refuse(_ header: EnvelopeHeader, reason: String, sender: Address) {
    let notice = Refused(
      reason: reason, claimed: header.source.text, keyOwner: sender.text, kindName: header.kind.name,
      destination: header.destination.text)
    send(notice, to: sender, cause: header.id)
  }

  private func sendPresence(_ presence: Presence) {
    for listener in interested[presence.address] ?? [] where listener != presence.address {
      send(presence, to: listener, cause: nil)
    }
  }

  private func send<N: Notice>(_ notice: N, to destination: Address, cause: UUID?) {
    guard let body = try? BodyCoding.encode(notice) else { return }
    sendFromBroker(N.kind, to: destination, cause: cause, correlation: nil, body: body)
  }

  private func reply<R: Codable>(_ reply: R, to envelope: Envelope) {
    guard let body = try? BodyCoding.encode(reply) else { return }
    let header = envelope.header
    sendFromBroker(
      header.kind.answered(.ok), to: header.source, cause: header.id, correlation: header.correlation, body: body)
  }

  private func sendFromBroker(_ kind: Kind, to destination: Address, cause: UUID?, correlation: UUID?, body: [UInt8]) {
    let header = EnvelopeHeader(
      kind: kind, cause: cause, correlation: correlation, source: .messageBus, destination: destination)
    var envelope = Envelope(header: header, body: body)
    record(&envelope)
    guard let deliver = lines[destination], let frame = try? envelope.encoded() else { return }
    loop.post { deliver(.received(frame)) }
  }

  private func forward(_ envelope: Envelope, to peer: Peer) {
    guard let frame = try? envelope.encoded() else { return }
    loop.post { peer.deliver(.received(frame)) }
  }

  private func record(_ envelope: inout Envelope) {
    envelope.header.sequence = UInt64(sentEnvelopes.count + 1)
    envelope.header.sourceGeneration = peers[envelope.header.source]?.generation ?? 0
    envelope.header.destinationGeneration = peers[envelope.header.destination]?.generation ?? 0
    sentEnvelopes.append(envelope)
    for watcher in watchers.values { watcher(envelope) }
  }
}

/// The transport between a connection and an in-memory bus on the same loop.
private final class InMemoryTransport: Transport {
  private let bus: InMemoryBus
  private let address: Address

  init(bus: InMemoryBus, address: Address) {
    self.bus = bus
    self.address = address
  }

  func open(_ deliver: @escaping @Sendable (TransportEvent) -> Void) {
    let address = address
    bus.assumeIsolated { $0.open(address, deliver) }
  }

  func send(_ frame: [UInt8]) -> Bool {
    let address = address
    bus.assumeIsolated { $0.route(frame, from: address) }
    return true
  }

  func whenWritable(_ handler: @escaping @Sendable () -> Void) { bus.loop.post(handler) }

  var hasNewerKey: Bool { false }

  func close() {
    let address = address
    bus.assumeIsolated { $0.close(address) }
  }
}
