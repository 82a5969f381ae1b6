// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Journal
import MessageBus
import Messages
import Testing
import ZeroMQ

@testable import MessageBusBroker

@Suite(.timeLimit(.minutes(1))) struct `The broker over real sockets` {
  private let fixture: BrokerFixture

  init() throws { fixture = try BrokerFixture() }

  @Test func `a prepared connection sends nothing before it is started`() async throws {
    try await fixture.withBroker { bus in
      let (early, late) = (
        fixture.connection(bus, address: host, pair: fixture.hostPair),
        fixture.connection(bus, address: agent, pair: fixture.agentPair)
      )
      early.prepare()
      _ = try await late.start()
      _ = try await early.start()
      await early.leave()
      await late.leave()
    }
    let hellos = try fixture.reader.read().filter { $0.header.kind == Hello.kind }
    #expect(hellos.map(\.header.source) == [agent, host])
  }

  @Test func `two processes exchange messages, and the journal has each one with its generations and sequence number`()
    async throws
  {
    try await fixture.withBroker { bus in
      let (one, other) = (
        fixture.connection(bus, address: host, pair: fixture.hostPair),
        fixture.connection(bus, address: agent, pair: fixture.agentPair)
      )
      let incarnation = UUID()
      other.onRequest(ListProcesses.self) { _, received in
        #expect(received.source == host)
        #expect(received.sourceGeneration == 1)
        return ListProcesses.Reply(incarnation: incarnation, children: [])
      }
      #expect(try await one.start() == 1)
      #expect(try await other.start() == 1)
      let reply = try await one.request(ListProcesses(), to: agent)
      #expect(reply.incarnation == incarnation)
      let question = try await fixture.recorded(ListProcesses.self).envelope.header
      #expect([question.sourceGeneration, question.destinationGeneration] == [1, 1])
      let answer = try await fixture.recorded { $0.header.cause == question.id }
      #expect(answer.header.kind == ListProcesses.kind.answered(.ok))
      #expect(answer.header.sequence > question.sequence)
      await one.leave()
      await other.leave()
      _ = try await fixture.recorded(RegistrationChanged.self) { $0.change == .left && $0.registration.address == host }
    }
    let all = try fixture.reader.read().map(\.header.sequence)
    #expect(all == Array(1...UInt64(all.count)))
  }

  @Test func `a message whose source is not the owner of its key is refused and journalled`() async throws {
    try await fixture.withBroker { bus in
      let peer = try RawPeer()
      try await peer.connect(
        .dealer, endpoint: bus.endpoint, curve: .client(fixture.hostPair, serverPublicKey: bus.publicKey))
      let sentHello = try await peer.send(Hello(incarnation: UUID(), pid: 1), from: agent, to: .messageBus)
      let received = try await peer.next(Refused.kind)
      #expect(received.header.cause == sentHello.id)
      try await peer.send([1, 2, 3])
      _ = try await peer.next(Refused.kind)
      let (first, body) = try await fixture.recorded(Refused.self)
      #expect(first.header.cause == sentHello.id)
      #expect(body.reason == "role-mismatch")
      #expect([body.claimed, body.keyOwner] == [agent.text, host.text])
      _ = try await fixture.recorded(Refused.self) { $0.reason == "not-an-envelope" }
      await peer.stop()
    }
  }

  /// A message after the last heartbeat of a stopped process once made ZeroMQ wait for it without a limit.
  @Test func `a replica from which nothing arrives is disconnected, and other silent peers are not`() async throws {
    let pair = try CurveKeyPair.generate()
    try fixture.add("push-server-1", pattern: AddressPattern(.pushServer("1")), pair: pair)
    try await fixture.withBroker({ $0.replicaSilence = .seconds(1) }) { bus in
      let other = try RawPeer()
      try await other.connect(
        .dealer, endpoint: bus.endpoint, curve: .client(fixture.hostPair, serverPublicKey: bus.publicKey))
      _ = try await other.send(Hello(incarnation: UUID(), pid: 2), from: host, to: .messageBus)
      _ = try await other.next(Hello.kind.answered(.ok))
      let replica = try RawPeer()
      try await replica.connect(.dealer, endpoint: bus.endpoint, curve: .client(pair, serverPublicKey: bus.publicKey))
      _ = try await replica.send(Hello(incarnation: UUID(), pid: 1), from: .pushServer("1"), to: .messageBus)
      _ = try await replica.next(Hello.kind.answered(.ok))
      _ = try await fixture.recorded(RegistrationChanged.self) {
        $0.change == .disconnected && $0.registration.address == .pushServer("1")
      }
      _ = try await other.send(Hello(incarnation: UUID(), pid: 2), from: host, to: .messageBus)
      _ = try await other.next(Hello.kind.answered(.ok))
      let ended = try fixture.reader.read().filter { $0.header.kind == RegistrationChanged.kind }
        .map { try BodyCoding.decode(RegistrationChanged.self, from: $0.body) }.filter { $0.change == .disconnected }
      #expect(ended.map(\.registration.address) == [.pushServer("1")])
      await replica.stop()
      await other.stop()
    }
  }

  @Test func `a client that sends malformed frames is disconnected while other clients are served`() async throws {
    try await fixture.withBroker { bus in
      let one = fixture.connection(bus, address: tool, pair: fixture.operatorPair)
      _ = try await one.start()
      let peer = try RawPeer()
      try await peer.connect(
        .dealer, endpoint: bus.endpoint, curve: .client(fixture.hostPair, serverPublicKey: bus.publicKey))
      _ = try await peer.send(Hello(incarnation: UUID(), pid: 1), from: host, to: .messageBus)
      _ = try await peer.next(Hello.kind.answered(.ok))
      for _ in 0..<16 { try await peer.send(Array(repeating: 0xee, count: 300)) }
      let (cut, body) = try await fixture.recorded(PeerDisconnected.self)
      #expect(body == PeerDisconnected(keyOwner: host.text, address: host, reason: "not-an-envelope", refusals: 16))
      _ = try await fixture.recorded(RegistrationChanged.self, from: .sequence(cut.header.sequence)) {
        $0.change == .disconnected && $0.registration.address == host
      }
      _ = try await one.request(Ping(), to: .messageBus)
      // The socket reconnects automatically, as any client's socket does.
      _ = try await peer.send(Hello(incarnation: UUID(), pid: 1), from: host, to: .messageBus)
      _ = try await peer.next(Hello.kind.answered(.ok))
      await peer.stop()
      await one.leave()
    }
  }

  @Test func `an oversize frame ends its connection while other clients are served`() async throws {
    try await fixture.withBroker { bus in
      let one = fixture.connection(bus, address: tool, pair: fixture.operatorPair)
      _ = try await one.start()
      let peer = try RawPeer()
      try await peer.connect(
        .dealer, endpoint: bus.endpoint, curve: .client(fixture.hostPair, serverPublicKey: bus.publicKey))
      _ = try await peer.send(Hello(incarnation: UUID(), pid: 1), from: host, to: .messageBus)
      _ = try await peer.next(Hello.kind.answered(.ok))
      try await peer.send(Array(repeating: 1, count: 64 << 20))
      _ = try await fixture.recorded(RegistrationChanged.self) {
        $0.change == .disconnected && $0.registration.address == host
      }
      _ = try await one.request(Ping(), to: .messageBus)
      await peer.stop()
      await one.leave()
    }
  }

  private enum Stranger: String, CaseIterable {
    case unknownKey = "unknown-key"
    /// NULL security, without a key.
    case noKey = "no-key"
    /// A known key with the public key of another broker.
    case badHandshake = "bad-handshake"
  }

  @Test(arguments: Stranger.allCases)
  private func `a client that fails authentication is refused and journalled while other clients are served`(
    who: Stranger
  ) async throws {
    try await fixture.withBroker { bus in
      let one = fixture.connection(bus, address: tool, pair: fixture.operatorPair)
      _ = try await one.start()
      let pair = try CurveKeyPair.generate()
      let curve: Socket.Curve =
        switch who {
        case .unknownKey: .client(pair, serverPublicKey: bus.publicKey)
        case .noKey: .none
        case .badHandshake: .client(fixture.hostPair, serverPublicKey: pair.publicKey)
        }
      let peer = try RawPeer()
      try await peer.connect(.dealer, endpoint: bus.endpoint, curve: curve)
      _ = try await peer.send(Hello(incarnation: UUID(), pid: 1), from: host, to: .messageBus)
      let (_, body) = try await fixture.recorded(AuthenticationFailed.self) { $0.reason == who.rawValue }
      #expect(body.publicKey == (who == .unknownKey ? pair.publicKey : ""))
      _ = try await one.request(Ping(), to: .messageBus)
      await peer.stop()
      await one.leave()
    }
    let hellos = try fixture.reader.read().filter { $0.header.kind == Hello.kind && $0.header.source == host }
    #expect(hellos.isEmpty, "the broker received no hello of this client")
  }

  @Test func `a request with a malformed body is answered with an error while other clients are served`() async throws {
    try await fixture.withBroker { bus in
      let peer = try RawPeer()
      try await peer.connect(
        .dealer, endpoint: bus.endpoint, curve: .client(fixture.agentPair, serverPublicKey: bus.publicKey))
      _ = try await peer.send(Hello(incarnation: UUID(), pid: 1), from: agent, to: .messageBus)
      _ = try await peer.next(Hello.kind.answered(.ok))
      for body in [
        [], Array("[]".utf8), Array("{\"address\":7}".utf8), [0xff, 0xfe], Array(repeating: 0x5b, count: 100_000),
      ] {
        let header = EnvelopeHeader(kind: RegisterInstance.kind, source: agent, destination: .messageBus)
        try await peer.send(try Envelope(header: header, body: body).encoded())
        let answer = try await peer.next(RegisterInstance.kind.answered(.failed))
        #expect(answer.header.cause == header.id)
        #expect(try BodyCoding.decode(BusError.self, from: answer.body).code == .malformed)
      }
      let one = fixture.connection(bus, address: tool, pair: fixture.operatorPair)
      _ = try await one.start()
      _ = try await one.request(Ping(), to: .messageBus)
      await one.leave()
      await peer.stop()
    }
  }

  @Test func `a key whose file is added later is admitted`() async throws {
    try await fixture.withBroker { bus in
      let pair = try CurveKeyPair.generate()
      let late = Address.agent("iphone", 2)
      let connection = fixture.connection(bus, address: late, pair: pair)
      async let generation = connection.start()
      _ = try await fixture.recorded(AuthenticationFailed.self) { $0.publicKey == pair.publicKey }
      try fixture.add("agent-2", pattern: AddressPattern(late), pair: pair)
      #expect(try await generation == 1)
      await connection.leave()
    }
  }

  @Test func `registrations survive a restart of the broker, and a running instance keeps its generation`() async throws
  {
    let instance = try CurveKeyPair.generate()
    let child = LockedConnection()
    let first = try await fixture.withBroker { bus in
      let one = fixture.connection(bus, address: agent, pair: fixture.agentPair)
      _ = try await one.start()
      let reply = try await one.request(
        RegisterInstance(address: widget, publicKey: instance.publicKey), to: .messageBus)
      #expect(reply.generation == 1)
      let connection = fixture.connection(bus, address: widget, pair: instance)
      #expect(try await connection.start() == 1)
      await child.keep(connection)
      await one.leave()
      return bus
    }
    let last = try fixture.reader.read().last?.header.sequence ?? 0
    try await fixture.withBroker { bus in
      #expect(bus.endpoint == first.endpoint, "the new broker has the same endpoint")
      #expect(bus.tap == first.tap)
      let (_, back) = try await fixture.recorded(RegistrationChanged.self, from: .sequence(last + 1)) {
        $0.change == .connected && $0.registration.address == widget
      }
      #expect(back.registration.generation == 1)
      await child.leave()
    }
    let all = try fixture.reader.read()
    #expect(all.map(\.header.sequence) == Array(1...UInt64(all.count)))
    #expect(all.filter { $0.header.kind == BusStarted.kind }.map(\.header.sourceGeneration) == [1, 2])
  }

  @Test func `the journal starts new segments while peers exchange messages`() async throws {
    try await fixture.withBroker({ $0.segmentLimit = 2000 }) { bus in
      let one = fixture.connection(bus, address: tool, pair: fixture.operatorPair)
      _ = try await one.start()
      for _ in 0..<30 { _ = try await one.request(BusStatus(), to: .messageBus) }
      await one.leave()
    }
    let all = try fixture.reader.read()
    #expect(all.map(\.header.sequence) == Array(1...UInt64(all.count)))
    #expect(all.filter { $0.header.kind == BusStarted.kind }.count > 3)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.instance.journal).count > 3)
  }

  @Test func `the journal keeps its size limit while peers exchange messages, and records what it removed`()
    async throws
  {
    let limit = 1 << 14
    let first = try await fixture.withBroker({ $0.journalLimit = limit }) { bus in
      let one = fixture.connection(bus, address: tool, pair: fixture.operatorPair)
      _ = try await one.start()
      for _ in 0..<60 { _ = try await one.request(BusStatus(), to: .messageBus) }
      let (_, trimmed) = try await fixture.recorded(JournalTrimmed.self) { $0.firstSequence > 1 }
      await one.leave()
      return trimmed.lastSequence + 1
    }
    let all = try fixture.reader.read().map(\.header.sequence)
    let (oldest, newest) = (try #require(all.first), try #require(all.last))
    #expect(all == Array(oldest...newest))
    #expect(oldest >= first)
    let segments = try FileManager.default.contentsOfDirectory(atPath: fixture.instance.journal)
    let size = try segments.reduce(0) {
      $0 + (try Data(contentsOf: URL(filePath: "\(fixture.instance.journal)/\($1)"))).count
    }
    #expect(size < limit + 4000)
  }

  @Test func `the tap sends the journalled envelopes to operators only`() async throws {
    try await fixture.withBroker { bus in
      let viewer = try RawPeer()
      try await viewer.connect(
        .sub, endpoint: bus.tap, curve: .client(fixture.operatorPair, serverPublicKey: bus.publicKey))
      let intruder = try RawPeer()
      try await intruder.connect(
        .sub, endpoint: bus.tap, curve: .client(fixture.hostPair, serverPublicKey: bus.publicKey))
      let (_, away) = try await fixture.recorded(AuthenticationFailed.self)
      #expect(away.reason == "not-an-operator")
      let one = fixture.connection(bus, address: host, pair: fixture.hostPair)
      _ = try await one.start()
      // A subscription takes effect when its message has arrived, so the first envelopes may be missed.
      let talking = Task {
        while !Task.isCancelled { _ = try await one.request(Ping(), to: .messageBus) }
      }
      let shown = try await viewer.next(Ping.kind)
      talking.cancel()
      #expect(shown == (try await fixture.recorded { $0.header.sequence == shown.header.sequence }))
      await one.leave()
      await viewer.stop()
      await intruder.stop()
    }
  }

  @Test func `a second broker for the same instance fails to start`() async throws {
    try await fixture.withBroker { _ in
      let second = try fixture.broker()
      let error = await #expect(throws: BrokerError.self) { try await second.start() }
      #expect(error?.code == .alreadyServed)
      #expect(error?.message.contains("pid \(getpid())") == true)
      await second.stop()
    }
    try await fixture.withBroker { _ in }
  }

  @Test func `a broker whose former port is taken uses another port`() async throws {
    let first = try await fixture.withBroker { $0 }
    let squatter = try RawListener(first.endpoint)
    try await fixture.withBroker { bus in
      #expect(bus.endpoint != first.endpoint)
      #expect(bus.tap == first.tap)
    }
    squatter.close()
  }
}

@Suite struct `Byte counts on the command line` {
  @Test func `a byte count is parsed and printed, and malformed text is refused`() {
    #expect(ByteCount(argument: "1GiB")?.bytes == 1 << 30)
    #expect(ByteCount(argument: "65536")?.description == "64KiB")
    #expect(ByteCount(argument: "100MiB")?.description == "100MiB")
    for text in ["", "GiB", "1GB", "-1GiB", "1000", "9999999999999999999", "99999999999GiB", "1.5GiB"] {
      #expect(ByteCount(argument: text) == nil, "\(text)")
    }
  }
}

@Suite struct `Broker endpoints` {
  @Test func `an endpoint is parsed and printed, and malformed text is refused`() {
    #expect(Endpoint("tcp://127.0.0.1:7701") == Endpoint(host: "127.0.0.1", port: 7701))
    #expect(Endpoint("tcp://127.0.0.1:*")?.description == "tcp://127.0.0.1:*")
    #expect(Endpoint("tcp://0.0.0.0:0")?.port == nil)
    #expect(Endpoint("tcp://0.0.0.0:1")?.isWildcard == true)
    for text in ["", "tcp://", "tcp://:1", "tcp://a", "ipc:///a:1", "tcp://a:65536", "tcp://a:b"] {
      #expect(Endpoint(text) == nil, "\(text)")
    }
  }
}

/// Holds a connection across two scopes.
private actor LockedConnection {
  private var connection: Connection?

  func keep(_ connection: Connection) { self.connection = connection }

  func leave() async { await connection?.leave() }
}

/// Listens on the port of an endpoint.
private struct RawListener {
  private let descriptor: Int32

  init(_ endpoint: String) throws {
    let place = try #require(Endpoint(endpoint))
    let port = try #require(place.port)
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr(place.host)
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0 && listen(descriptor, 1) == 0)
  }

  func close() { _ = Foundation.close(descriptor) }
}
