package import Conversations
import Foundation
package import ZeroMQ

/// The bus without a wire, for tests of the rooms: the same table, presence, `unreachable` and acknowledgements, and the
/// same `Connection` at each end.
///
/// It does not cover keys, the journal, queues that fill, and bytes on a line.
package actor InMemoryBus {
  private struct Peer {
    var generation: UInt32
    var incarnation: UUID
    let told: @Sendable (TransportEvent) -> Void
  }

  package nonisolated let loop = Loop(name: "in-memory-bus")
  private var lines: [Address: @Sendable (TransportEvent) -> Void] = [:]
  /// Lines that broke and whose connections still are there.
  private var broken: [Address: @Sendable (TransportEvent) -> Void] = [:]
  private var peers: [Address: Peer] = [:]
  private var lives: [Address: (generation: UInt32, incarnation: UUID)] = [:]
  /// Lives that an agent registered and that have not spoken yet.
  private var registered: Set<Address> = []
  private var interested: [Address: Set<Address>] = [:]
  private var watchers: [UUID: @Sendable (Envelope) -> Void] = [:]
  /// All that was said, in order, with sequence numbers and generations.
  package private(set) var said: [Envelope] = []

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  package init() {}

  /// A connection for one address. `start()` connects it. A request that names no deadline has a minute: a test may get
  /// no processor for many seconds, and its deadline is only a guard against hanging.
  package nonisolated func connection(_ address: Address) -> Connection {
    Connection(address: address, loop: loop, ownsLoop: false, requestDeadline: .seconds(60)) { _, _ in
      InMemoryTransport(bus: self, address: address)
    }
  }

  /// Breaks the line of an address, as the death of its process does.
  package func disconnect(_ address: Address) {
    lines[address]?(.down)
    broken[address] = lines.removeValue(forKey: address)
    remove(address)
  }

  /// Mends the line of an address that `disconnect` broke, when its connection still is there.
  package func connectAgain(_ address: Address) {
    guard let told = broken.removeValue(forKey: address) else { return }
    open(address, told)
  }

  /// Hears everything that is said from now on, until `watch` is over.
  ///
  /// - Returns: all that was said before, then what is said; the stream never ends by itself.
  package func watch() -> AsyncStream<Envelope> {
    let (stream, continuation) = AsyncStream.makeStream(of: Envelope.self)
    for envelope in said { continuation.yield(envelope) }
    let id = UUID()
    watchers[id] = { continuation.yield($0) }
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      loop.post { self.assumeIsolated { $0.watchers[id] = nil } }
    }
    return stream
  }

  /// The first envelope, of the past or to come, that `matches`.
  package func first(where matches: @escaping @Sendable (Envelope) -> Bool) async -> Envelope? {
    for await envelope in watch() where matches(envelope) { return envelope }
    return nil
  }

  // MARK: The transport's side

  fileprivate func open(_ address: Address, _ told: @escaping @Sendable (TransportEvent) -> Void) {
    lines[address] = told
    broken[address] = nil
    loop.post { told(.up) }
  }

  fileprivate func close(_ address: Address) {
    lines[address] = nil
    broken[address] = nil
    remove(address)
  }

  private func remove(_ address: Address) {
    guard let peer = peers.removeValue(forKey: address) else { return }
    tell(Presence(address: address, isPresent: false, generation: peer.generation))
  }

  fileprivate func route(_ frame: [UInt8], from sender: Address) {
    guard var envelope = try? Envelope(decoding: frame), lines[sender] != nil else { return }
    let header = envelope.header
    guard header.source == sender else { return refuse(header, "role-mismatch", sender) }
    if let reason = ConversationTable.refusal(of: header) { return refuse(header, reason, sender) }
    if header.kind == Hello.kind {
      note(&envelope)
      return hello(envelope)
    }
    guard peers[sender] != nil else { return send(WhoAreYou(), to: sender, cause: header.id) }
    interested[header.destination, default: []].insert(sender)
    note(&envelope)
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
    guard let hello = try? BodyCoding.decode(Hello.self, from: envelope.body), let told = lines[sender] else { return }
    var life = lives[sender] ?? (generation: 0, incarnation: UUID())
    if registered.remove(sender) != nil {
      life.incarnation = hello.incarnation
    } else if life.incarnation != hello.incarnation {
      life = (life.generation + 1, hello.incarnation)
    }
    lives[sender] = life
    peers[sender] = Peer(generation: life.generation, incarnation: life.incarnation, told: told)
    reply(Hello.Reply(generation: life.generation), to: envelope)
    tell(Presence(address: sender, isPresent: true, generation: life.generation))
  }

  private func answer(_ envelope: Envelope) {
    switch envelope.header.kind {
    case Goodbye.kind:
      reply(Done(), to: envelope)
      remove(envelope.header.source)
    case RegisterLife.kind:
      guard let request = try? BodyCoding.decode(RegisterLife.self, from: envelope.body) else { return }
      let generation = (lives[request.address]?.generation ?? 0) + 1
      lives[request.address] = (generation, UUID())
      registered.insert(request.address)
      reply(RegisterLife.Reply(generation: generation), to: envelope)
    case RetireLife.kind: reply(Done(), to: envelope)
    case Ping.kind: reply(Ping.Reply(pid: 0), to: envelope)
    case BusStatus.kind:
      let registrations = peers.map { Registration(address: $0, generation: $1.generation, isConnected: true) }
      reply(
        BusStatus.Reply(pid: 0, generation: 1, sequence: UInt64(said.count), registrations: registrations),
        to: envelope)
    default: break
    }
  }

  private func refuse(_ header: EnvelopeHeader, _ reason: String, _ sender: Address) {
    let notice = Refused(
      reason: reason, claimed: header.source.text, keyOwner: sender.text, kindName: header.kind.name,
      destination: header.destination.text)
    send(notice, to: sender, cause: header.id)
  }

  private func tell(_ presence: Presence) {
    for listener in interested[presence.address] ?? [] where listener != presence.address {
      send(presence, to: listener, cause: nil)
    }
  }

  private func send<N: Notice>(_ notice: N, to destination: Address, cause: UUID?) {
    guard let body = try? BodyCoding.encode(notice) else { return }
    said(N.kind, to: destination, cause: cause, correlation: nil, body: body)
  }

  private func reply<R: Codable>(_ reply: R, to envelope: Envelope) {
    guard let body = try? BodyCoding.encode(reply) else { return }
    let header = envelope.header
    said(
      header.kind.answered(.ok), to: header.source, cause: header.id, correlation: header.correlation, body: body)
  }

  private func said(_ kind: Kind, to destination: Address, cause: UUID?, correlation: UUID?, body: [UInt8]) {
    let header = EnvelopeHeader(
      kind: kind, cause: cause, correlation: correlation, source: .messageBus, destination: destination)
    var envelope = Envelope(header: header, body: body)
    note(&envelope)
    guard let told = lines[destination], let frame = try? envelope.encoded() else { return }
    loop.post { told(.received(frame)) }
  }

  private func forward(_ envelope: Envelope, to peer: Peer) {
    guard let frame = try? envelope.encoded() else { return }
    loop.post { peer.told(.received(frame)) }
  }

  private func note(_ envelope: inout Envelope) {
    envelope.header.sequence = UInt64(said.count + 1)
    envelope.header.sourceGeneration = peers[envelope.header.source]?.generation ?? 0
    envelope.header.destinationGeneration = peers[envelope.header.destination]?.generation ?? 0
    said.append(envelope)
    for watcher in watchers.values { watcher(envelope) }
  }
}

/// The line between a connection and an in-memory bus on the same loop.
private final class InMemoryTransport: Transport {
  private let bus: InMemoryBus
  private let address: Address

  init(bus: InMemoryBus, address: Address) {
    self.bus = bus
    self.address = address
  }

  func open(_ told: @escaping @Sendable (TransportEvent) -> Void) {
    let address = address
    bus.assumeIsolated { $0.open(address, told) }
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
