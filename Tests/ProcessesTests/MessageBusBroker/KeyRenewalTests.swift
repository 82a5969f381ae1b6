// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Journal
import MessageBus
import Messages
import Synchronization
import Testing
import ZeroMQ

@testable import MessageBusBroker

private let nextHostKey = String(repeating: "H", count: 40)
private let thirdHostKey = String(repeating: "3", count: 40)
private let anHour = Timestamp(microseconds: 3_600_000_000)

/// The broker's decisions when one standing key replaces another.
@Suite struct `Renewal of a standing key` {
  @Test func `a new key is registered by its holder and journalled before it is admitted`() throws {
    var fixture = try RoutingFixture.running()
    #expect(fixture.admission(of: nextHostKey) == .unknown)
    try fixture.send(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    #expect(fixture.lastTypes == ["key.register", "key.changed", "key.register/ok"])
    let changed = try fixture.lastBody(KeyChanged.self, at: 1)
    #expect(changed.change == .registered && changed.key.pattern == AddressPattern(host))
    #expect(try fixture.lastBody(RegisterKey.Reply.self, at: 2).graceSeconds == 10)
    #expect(fixture.admission(of: nextHostKey) == .admitted)
    #expect(fixture.admission(of: hostKey) == .admitted)
    try fixture.send(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    #expect(fixture.lastTypes == ["key.register", "key.register/ok"], "a repeated registration changes nothing")
  }

  @Test func `a new key revokes the previous one after its first use and the grace period, and not before`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.send(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    #expect(fixture.superseding.isEmpty)
    try fixture.hello(host, on: 5, key: nextHostKey)
    #expect(fixture.superseding == [nextHostKey])
    #expect(fixture.lastTypes == ["peer.hello", "key.changed", "peer.changed", "peer.hello/ok"])
    #expect(try fixture.lastBody(KeyChanged.self, at: 1).change == .used)
    #expect(fixture.admission(of: hostKey) == .admitted)
    fixture.perform(fixture.routing.supersede(by: nextHostKey))
    #expect(fixture.lastTypes == ["key.changed"])
    #expect(try fixture.lastBody(KeyChanged.self).change == .revoked)
    #expect(try fixture.lastBody(KeyChanged.self).key.publicKey == hostKey)
    #expect(fixture.ended == [1], "the connection with the previous key is closed")
    let (admission, actions) = fixture.routing.authenticate(hostKey, isTap: false, peerAddress: "")
    #expect(admission == .refused)
    fixture.perform(actions)
    #expect(try fixture.lastBody(AuthenticationFailed.self).reason == "revoked-key")
    try fixture.hello(host, on: 6, key: nextHostKey)
    #expect(fixture.superseding == [nextHostKey], "the grace period starts only once")
  }

  @Test func `an incarnation keeps its generation on a new connection and may still send on the previous one`() throws {
    var fixture = RoutingFixture()
    let incarnation = UUID()
    try fixture.hello(host, on: 1, key: hostKey, incarnation: incarnation)
    try fixture.hello(agent, on: 2, key: agentKey)
    try fixture.send(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    try fixture.hello(host, on: 5, key: nextHostKey, incarnation: incarnation)
    #expect(fixture.routing.registrations[host]?.generation == 1)
    #expect(fixture.routing.line(of: host) == 5)
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    #expect(fixture.sent(to: 2).last?.header.kind == ListProcesses.kind)
  }

  @Test func `a peer that uses a previous key after the grace period is disconnected and refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    let next = String(repeating: "O", count: 40)
    try fixture.send(RegisterKey(publicKey: next), from: tool, to: .messageBus, on: 3)
    try fixture.hello(.operator("78"), on: 4, key: next)
    fixture.perform(fixture.routing.supersede(by: next))
    #expect(fixture.ended == [3])
    #expect(fixture.viewersEnded == 1, "viewers of the tap reconnect with their current key")
    #expect(fixture.routing.line(of: tool) == nil)
    try fixture.send(Ping(), from: tool, to: host, on: 3)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
  }

  @Test func `a key is registered only by its holder, and a watcher's key by an operator`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    for (pattern, source, line) in [
      (AddressPattern(agent), host, 1), (.watchers, host, 1), (AddressPattern(host), tool, 3),
      (AddressPattern("operator/*"), host, 1),
    ] {
      try fixture.send(RegisterKey(publicKey: nextHostKey, pattern: pattern), from: source, to: .messageBus, on: line)
      #expect(fixture.lastTypes == ["key.register", "key.register/failed"])
      #expect(try fixture.lastBody(BusError.self, at: 1).code == .refused)
    }
    try fixture.send(RegisterKey(publicKey: nextHostKey, pattern: .watchers), from: tool, to: .messageBus, on: 3)
    #expect(fixture.lastTypes.last == "key.register/ok")
    try fixture.hello(.watcher("1"), on: 4, key: nextHostKey)
    #expect(fixture.lastTypes.contains("peer.hello/ok"))
  }

  @Test func `a key that is in use, revoked or malformed is not registered`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    for key in [agentKey, instanceKey] {
      try fixture.send(RegisterKey(publicKey: key), from: host, to: .messageBus, on: 1)
      #expect(try fixture.lastBody(BusError.self, at: 1).code == .keyInUse)
    }
    for key in ["short", String(repeating: "\"", count: 40), String(repeating: "é", count: 20)] {
      try fixture.send(RegisterKey(publicKey: key), from: host, to: .messageBus, on: 1)
      #expect(try fixture.lastBody(BusError.self, at: 1).code == .malformed)
    }
    try fixture.send(RetireInstance(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    try fixture.send(RegisterKey(publicKey: instanceKey), from: host, to: .messageBus, on: 1)
    #expect(try fixture.lastBody(BusError.self, at: 1).code == .keyInUse)
  }

  @Test func `the number of registered keys that were never used is limited`() throws {
    var fixture = try RoutingFixture.running()
    var codes: [String] = []
    for number in 10..<20 {
      let key = String(repeating: "k", count: 38) + "\(number)"
      try fixture.send(RegisterKey(publicKey: key), from: host, to: .messageBus, on: 1)
      if fixture.lastTypes.last == "key.register/failed" {
        codes.append(try fixture.lastBody(BusError.self, at: 1).code.rawValue)
      }
    }
    #expect(codes == ["too-many-keys", "too-many-keys"])
  }

  // MARK: Restarts

  private func successor(of fixture: inout RoutingFixture) -> RoutingFixture {
    var recovered = JournalRecovery()
    for envelope in fixture.recorded { recovered.apply(envelope) }
    return RoutingFixture(recovered: recovered)
  }

  @Test(arguments: ["nothing", "registered", "used", "revoked"], [false, true])
  func `a broker that restarts at any step of a key renewal admits the right keys`(step: String, newSegment: Bool)
    throws
  {
    var fixture = try RoutingFixture.running()
    let steps: [(name: String, act: (inout RoutingFixture) throws -> Void)] = [
      ("nothing", { _ in }),
      ("registered", { try $0.send(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1) }),
      ("used", { try $0.hello(host, on: 5, key: nextHostKey) }),
      ("revoked", { $0.perform($0.routing.supersede(by: nextHostKey)) }),
    ]
    for (name, act) in steps {
      try act(&fixture)
      if name == step { break }
    }
    if newSegment { fixture.perform([.record(fixture.routing.started())]) }
    var next = successor(of: &fixture)
    #expect(next.admission(of: nextHostKey) == (step == "nothing" ? .unknown : .admitted))
    // The file still has the first key. A key that was replaced is not admitted because of it.
    #expect(next.admission(of: hostKey) == (["used", "revoked"].contains(step) ? .refused : .admitted))
    next.routing.setStanding(RoutingFixture.standing)
    #expect(next.admission(of: hostKey) == (["used", "revoked"].contains(step) ? .refused : .admitted))
    // A repeated registration completes the interrupted renewal.
    let current = step == "nothing" || step == "registered" ? hostKey : nextHostKey
    try next.hello(host, on: 1, key: current)
    try next.send(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    #expect(next.lastTypes.last == "key.register/ok")
    try next.hello(host, on: 2, key: nextHostKey)
    next.perform(next.routing.supersede(by: nextHostKey))
    #expect(next.admission(of: hostKey) == .refused)
    #expect(next.admission(of: nextHostKey) == .admitted)
  }

  @Test func `a key that the user puts into the file replaces the previous key`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.send(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    try fixture.hello(host, on: 5, key: nextHostKey)
    fixture.perform(fixture.routing.supersede(by: nextHostKey))
    let byHand = StandingKeyFacts(pattern: AddressPattern(host), publicKey: thirdHostKey, since: anHour)
    fixture.routing.setStanding([byHand] + RoutingFixture.standing.filter { $0.pattern != byHand.pattern })
    #expect(fixture.admission(of: thirdHostKey) == .admitted)
    try fixture.hello(host, on: 6, key: thirdHostKey)
    fixture.perform(fixture.routing.supersede(by: thirdHostKey))
    #expect(fixture.admission(of: nextHostKey) == .refused)
    var next = successor(of: &fixture)
    next.routing.setStanding([byHand])
    #expect(next.admission(of: thirdHostKey) == .admitted)
    #expect(next.admission(of: nextHostKey) == .refused)
  }

  @Test func `an instance's previous key is still refused after two restarts of the broker`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register(instanceKey)
    try fixture.register(nextInstanceKey)
    fixture.perform([.record(fixture.routing.started())])
    var second = successor(of: &fixture)
    #expect(second.admission(of: instanceKey) == .refused)
    second.perform([.record(second.routing.started())])
    let third = successor(of: &second)
    #expect(third.admission(of: instanceKey) == .refused)
    #expect(third.admission(of: nextInstanceKey) == .admitted)
  }
}

/// The same with real sockets and a journal.
@Suite(.timeLimit(.minutes(1))) struct `A connection whose key is renewed` {
  private let fixture: BrokerFixture

  init() throws { fixture = try BrokerFixture() }

  @Test func `a key renewal keeps all messages and their order, and the previous key is refused afterwards`()
    async throws
  {
    let keys = CurrentKeys(fixture.hostPair)
    let next = try CurveKeyPair.generate()
    try await fixture.withBroker({ $0.keyGrace = .milliseconds(200) }) { bus in
      let one = fixture.connection(bus, host, keys: keys.read)
      #expect(try await one.start() == 1)
      let other = fixture.connection(bus, address: agent, pair: fixture.agentPair)
      let gate = AsyncStream.makeStream(of: Void.self)
      other.onRequest(ListProcesses.self) { _, _ in
        for await _ in gate.stream { break }
        return ListProcesses.Reply(incarnation: UUID(), children: [])
      }
      _ = try await other.start()
      async let answered = one.request(ListProcesses(), to: agent)
      _ = try await fixture.recorded(ListProcesses.self)
      for number in 0..<300 { one.record(note(number)) }
      _ = try await one.request(RegisterKey(publicKey: next.publicKey), to: .messageBus)
      keys.set(next)
      async let renewed: Void = one.renewLine()
      for number in 300..<600 { one.record(note(number)) }
      try await renewed
      #expect(await one.generation == 1, "the same instance")
      gate.continuation.yield()
      #expect(try await answered.children.isEmpty)
      _ = try await fixture.recorded(KeyChanged.self) {
        $0.change == .revoked && $0.key.publicKey == fixture.hostPair.publicKey
      }
      let stranger = fixture.connection(bus, address: host, pair: fixture.hostPair)
      let refused = await #expect(throws: BusError.self) { try await stranger.start() }
      #expect(refused?.code == .refused)
      await stranger.leave()
      await one.leave()
      await other.leave()
    }
    let all = try fixture.reader.read()
    let numbers = try all.filter { $0.header.kind == ReloadFailed.kind }.map {
      try BodyCoding.decode(ReloadFailed.self, from: $0.body).reason
    }
    #expect(numbers == (0..<600).map(String.init), "all in order, none lost and none repeated")
    let away = try all.filter { $0.header.kind == AuthenticationFailed.kind }.map {
      try BodyCoding.decode(AuthenticationFailed.self, from: $0.body)
    }
    #expect(away.contains { $0.reason == "revoked-key" && $0.publicKey == fixture.hostPair.publicKey })
  }

  @Test func `a connection whose key is revoked reconnects with the new key`() async throws {
    let keys = CurrentKeys(fixture.hostPair)
    let next = try CurveKeyPair.generate()
    try await fixture.withBroker({ $0.keyGrace = .zero }) { bus in
      let one = fixture.connection(bus, host, keys: keys.read)
      _ = try await one.start()
      _ = try await one.request(RegisterKey(publicKey: next.publicKey), to: .messageBus)
      keys.set(next)
      // Another connection uses the new key first, and the broker closes this one.
      let other = fixture.connection(bus, address: host, pair: next)
      _ = try await other.start()
      await other.leave()
      let (revoked, _) = try await fixture.recorded(KeyChanged.self) { $0.change == .revoked }
      _ = try await fixture.recorded(RegistrationChanged.self, from: .sequence(revoked.header.sequence)) {
        $0.change == .connected && $0.registration.address == host
      }
      _ = try await one.request(Ping(), to: .messageBus)
      await one.leave()
    }
  }

  @Test func `a renewal with a revoked key fails and leaves the connection as it is`() async throws {
    let keys = CurrentKeys(fixture.hostPair)
    let revoked = try CurveKeyPair.generate()
    try await fixture.withBroker { bus in
      let spawner = fixture.connection(bus, address: agent, pair: fixture.agentPair)
      _ = try await spawner.start()
      _ = try await spawner.request(RegisterInstance(address: widget, publicKey: revoked.publicKey), to: .messageBus)
      _ = try await spawner.request(RetireInstance(address: widget, generation: 1), to: .messageBus)
      let one = fixture.connection(bus, host, keys: keys.read)
      _ = try await one.start()
      keys.set(revoked)
      let refused = await #expect(throws: BusError.self) { try await one.renewLine() }
      #expect(refused?.code == .refused)
      _ = try await one.request(Ping(), to: .messageBus)
      for connection in [one, spawner] { await connection.leave() }
    }
  }

  /// Returns a notice of the host with a number as its text.
  private func note(_ number: Int) -> ReloadFailed {
    ReloadFailed(bundle: "com.example.W", widgetKind: "W", reason: "\(number)")
  }
}

/// A key pair that a test can replace.
private final class CurrentKeys: Sendable {
  private let pair: Mutex<CurveKeyPair>

  init(_ pair: CurveKeyPair) { self.pair = Mutex(pair) }

  var read: @Sendable () -> CurveKeyPair { { self.pair.withLock { $0 } } }

  func set(_ next: CurveKeyPair) { pair.withLock { $0 = next } }
}
