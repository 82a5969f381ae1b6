import Cluster
import Conversations
import Foundation
import Journal
import MessageBus
import Synchronization
import Testing
import ZeroMQ

@testable import MessageBusBroker

private let nextHostKey = String(repeating: "H", count: 40)
private let thirdHostKey = String(repeating: "3", count: 40)
private let anHour = Timestamp(microseconds: 3_600_000_000)

/// What the broker decides of standing keys that follow each other.
@Suite struct `a standing key that is renewed` {
  @Test func `is registered by its holder, and is journalled before it is let in`() throws {
    var fixture = try RoutingFixture.running()
    #expect(fixture.admission(of: nextHostKey) == .unknown)
    try fixture.say(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    #expect(fixture.lastKinds == ["key.register", "key.changed", "key.register/ok"])
    let changed = try fixture.lastBody(KeyChanged.self, at: 1)
    #expect(changed.change == .registered && changed.key.pattern == AddressPattern(host))
    #expect(try fixture.lastBody(RegisterKey.Reply.self, at: 2).graceSeconds == 10)
    #expect(fixture.admission(of: nextHostKey) == .admitted)
    #expect(fixture.admission(of: hostKey) == .admitted)
    try fixture.say(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    #expect(fixture.lastKinds == ["key.register", "key.register/ok"], "the same again is the same")
  }

  @Test func `ends its predecessor when it has spoken and the grace has passed, and not before`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.say(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    #expect(fixture.superseding.isEmpty)
    try fixture.hello(host, on: 5, key: nextHostKey)
    #expect(fixture.superseding == [nextHostKey])
    #expect(fixture.lastKinds == ["peer.hello", "key.changed", "peer.changed", "peer.hello/ok"])
    #expect(try fixture.lastBody(KeyChanged.self, at: 1).change == .spoke)
    #expect(fixture.admission(of: hostKey) == .admitted)
    fixture.perform(fixture.routing.supersede(by: nextHostKey))
    #expect(fixture.lastKinds == ["key.changed"])
    #expect(try fixture.lastBody(KeyChanged.self).change == .revoked)
    #expect(try fixture.lastBody(KeyChanged.self).key.publicKey == hostKey)
    #expect(fixture.ended == [1], "whoever is still there with the former key is sent away")
    let (admission, effects) = fixture.routing.authenticate(hostKey, isTap: false, peerAddress: "")
    #expect(admission == .refused)
    fixture.perform(effects)
    #expect(try fixture.lastBody(TurnedAway.self).reason == "revoked-key")
    try fixture.hello(host, on: 6, key: nextHostKey)
    #expect(fixture.superseding == [nextHostKey], "once")
  }

  @Test func `the same incarnation on the new line is the same life, and its last words on the former one count`()
    throws
  {
    var fixture = RoutingFixture()
    let incarnation = UUID()
    try fixture.hello(host, on: 1, key: hostKey, incarnation: incarnation)
    try fixture.hello(agent, on: 2, key: agentKey)
    try fixture.say(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    try fixture.hello(host, on: 5, key: nextHostKey, incarnation: incarnation)
    #expect(fixture.routing.registrations[host]?.generation == 1)
    #expect(fixture.routing.line(of: host) == 5)
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    #expect(fixture.sent(to: 2).last?.header.kind == ListProcesses.kind)
  }

  @Test func `one who speaks with a former key after the grace may say nothing more`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    let next = String(repeating: "O", count: 40)
    try fixture.say(RegisterKey(publicKey: next), from: tool, to: .messageBus, on: 3)
    try fixture.hello(.operator("78"), on: 4, key: next)
    fixture.perform(fixture.routing.supersede(by: next))
    #expect(fixture.ended == [3])
    #expect(fixture.viewersEnded == 1, "viewers at the tap come back with the key that they have")
    #expect(fixture.routing.line(of: tool) == nil)
    try fixture.say(Ping(), from: tool, to: host, on: 3)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
  }

  @Test func `a key is registered by its holder only, and by an operator for those that are no processes`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    for (pattern, source, line) in [
      (AddressPattern(agent), host, 1), (.watchers, host, 1), (AddressPattern(host), tool, 3),
      (AddressPattern("operator/*"), host, 1),
    ] {
      try fixture.say(RegisterKey(publicKey: nextHostKey, pattern: pattern), from: source, to: .messageBus, on: line)
      #expect(fixture.lastKinds == ["key.register", "key.register/failed"])
      #expect(try fixture.lastBody(BusError.self, at: 1).code == .refused)
    }
    try fixture.say(RegisterKey(publicKey: nextHostKey, pattern: .watchers), from: tool, to: .messageBus, on: 3)
    #expect(fixture.lastKinds.last == "key.register/ok")
    try fixture.hello(.watcher("1"), on: 4, key: nextHostKey)
    #expect(fixture.lastKinds.contains("peer.hello/ok"))
  }

  @Test func `a key of somebody else, a revoked one and no key at all are not registered`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    for key in [agentKey, lifeKey] {
      try fixture.say(RegisterKey(publicKey: key), from: host, to: .messageBus, on: 1)
      #expect(try fixture.lastBody(BusError.self, at: 1).code == .keyInUse)
    }
    for key in ["short", String(repeating: "\"", count: 40), String(repeating: "é", count: 20)] {
      try fixture.say(RegisterKey(publicKey: key), from: host, to: .messageBus, on: 1)
      #expect(try fixture.lastBody(BusError.self, at: 1).code == .malformed)
    }
    try fixture.say(RetireLife(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    try fixture.say(RegisterKey(publicKey: lifeKey), from: host, to: .messageBus, on: 1)
    #expect(try fixture.lastBody(BusError.self, at: 1).code == .keyInUse)
  }

  @Test func `keys that are registered and never used are not kept without end`() throws {
    var fixture = try RoutingFixture.running()
    var codes: [String] = []
    for number in 10..<20 {
      let key = String(repeating: "k", count: 38) + "\(number)"
      try fixture.say(RegisterKey(publicKey: key), from: host, to: .messageBus, on: 1)
      if fixture.lastKinds.last == "key.register/failed" {
        codes.append(try fixture.lastBody(BusError.self, at: 1).code.rawValue)
      }
    }
    #expect(codes == ["too-many-keys", "too-many-keys"])
  }

  // MARK: A broker after another

  private func successor(of fixture: inout RoutingFixture) -> RoutingFixture {
    var recovered = JournalRecovery()
    for envelope in fixture.recorded { recovered.apply(envelope) }
    return RoutingFixture(recovered: recovered)
  }

  @Test(arguments: ["nothing", "registered", "spoke", "revoked"], [false, true])
  func `whenever the broker dies, the next one lets in who is to be let in`(step: String, newSegment: Bool) throws {
    var fixture = try RoutingFixture.running()
    let steps: [(name: String, act: (inout RoutingFixture) throws -> Void)] = [
      ("nothing", { _ in }),
      ("registered", { try $0.say(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1) }),
      ("spoke", { try $0.hello(host, on: 5, key: nextHostKey) }),
      ("revoked", { $0.perform($0.routing.supersede(by: nextHostKey)) }),
    ]
    for (name, act) in steps {
      try act(&fixture)
      if name == step { break }
    }
    if newSegment { fixture.perform([.record(fixture.routing.started())]) }
    var next = successor(of: &fixture)
    #expect(next.admission(of: nextHostKey) == (step == "nothing" ? .unknown : .admitted))
    // The file still has the first key: one that another has followed does not come back with it.
    #expect(next.admission(of: hostKey) == (["spoke", "revoked"].contains(step) ? .refused : .admitted))
    next.routing.setStanding(RoutingFixture.standing)
    #expect(next.admission(of: hostKey) == (["spoke", "revoked"].contains(step) ? .refused : .admitted))
    // What was begun is finished by saying it again.
    let current = step == "nothing" || step == "registered" ? hostKey : nextHostKey
    try next.hello(host, on: 1, key: current)
    try next.say(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
    #expect(next.lastKinds.last == "key.register/ok")
    try next.hello(host, on: 2, key: nextHostKey)
    next.perform(next.routing.supersede(by: nextHostKey))
    #expect(next.admission(of: hostKey) == .refused)
    #expect(next.admission(of: nextHostKey) == .admitted)
  }

  @Test func `a key that a person put into the file follows the one before it`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.say(RegisterKey(publicKey: nextHostKey), from: host, to: .messageBus, on: 1)
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

  @Test func `a life's former key is turned away by the broker after the next, too`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register(lifeKey)
    try fixture.register(nextLifeKey)
    fixture.perform([.record(fixture.routing.started())])
    var second = successor(of: &fixture)
    #expect(second.admission(of: lifeKey) == .refused)
    second.perform([.record(second.routing.started())])
    let third = successor(of: &second)
    #expect(third.admission(of: lifeKey) == .refused)
    #expect(third.admission(of: nextLifeKey) == .admitted)
  }
}

/// The same with sockets and a journal.
@Suite(.timeLimit(.minutes(1))) struct `a connection whose key is renewed` {
  private let fixture: BrokerFixture

  init() throws { fixture = try BrokerFixture() }

  @Test func `loses nothing of what is under way and keeps its order, and the former key is turned away for good`()
    async throws
  {
    let keys = CurrentKeys(fixture.hostPair)
    let next = try CurveKeyPair.generate()
    try await fixture.withBroker({ $0.keyGrace = .milliseconds(200) }) { bus in
      let one = fixture.connection(bus, host, keys: keys.read)
      #expect(try await one.start() == 1)
      let other = fixture.connection(bus, agent, fixture.agentPair)
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
      #expect(await one.generation == 1, "the same life")
      gate.continuation.yield()
      #expect(try await answered.children.isEmpty)
      _ = try await fixture.recorded(KeyChanged.self) {
        $0.change == .revoked && $0.key.publicKey == fixture.hostPair.publicKey
      }
      let stranger = fixture.connection(bus, host, fixture.hostPair)
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
    #expect(numbers == (0..<600).map(String.init), "none lost, none twice, in order")
    let away = try all.filter { $0.header.kind == TurnedAway.kind }.map {
      try BodyCoding.decode(TurnedAway.self, from: $0.body)
    }
    #expect(away.contains { $0.reason == "revoked-key" && $0.publicKey == fixture.hostPair.publicKey })
  }

  @Test func `one that was not there finds the new key when the former one is turned away`() async throws {
    let keys = CurrentKeys(fixture.hostPair)
    let next = try CurveKeyPair.generate()
    try await fixture.withBroker({ $0.keyGrace = .zero }) { bus in
      let one = fixture.connection(bus, host, keys: keys.read)
      _ = try await one.start()
      _ = try await one.request(RegisterKey(publicKey: next.publicKey), to: .messageBus)
      keys.set(next)
      // Somebody else speaks with it first, and the broker sends this one away.
      let other = fixture.connection(bus, host, next)
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

  @Test func `a new key that the broker does not know leaves the line as it is`() async throws {
    let keys = CurrentKeys(fixture.hostPair)
    let revoked = try CurveKeyPair.generate()
    try await fixture.withBroker { bus in
      let spawner = fixture.connection(bus, agent, fixture.agentPair)
      _ = try await spawner.start()
      _ = try await spawner.request(RegisterLife(address: widget, publicKey: revoked.publicKey), to: .messageBus)
      _ = try await spawner.request(RetireLife(address: widget, generation: 1), to: .messageBus)
      let one = fixture.connection(bus, host, keys: keys.read)
      _ = try await one.start()
      keys.set(revoked)
      let refused = await #expect(throws: BusError.self) { try await one.renewLine() }
      #expect(refused?.code == .refused)
      _ = try await one.request(Ping(), to: .messageBus)
      for connection in [one, spawner] { await connection.leave() }
    }
  }

  /// Any notice of the host with a text.
  private func note(_ number: Int) -> ReloadFailed {
    ReloadFailed(bundle: "com.example.W", widgetKind: "W", reason: "\(number)")
  }
}

/// Keys that change.
private final class CurrentKeys: Sendable {
  private let pair: Mutex<CurveKeyPair>

  init(_ pair: CurveKeyPair) { self.pair = Mutex(pair) }

  var read: @Sendable () -> CurveKeyPair { { self.pair.withLock { $0 } } }

  func set(_ next: CurveKeyPair) { pair.withLock { $0 = next } }
}
