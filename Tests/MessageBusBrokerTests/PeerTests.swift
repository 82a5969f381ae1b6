import Conversations
import Foundation
import Journal
import Testing

@testable import MessageBusBroker

@Suite struct `who is there` {
  @Test func `a hello is answered with a generation and recorded`() throws {
    var fixture = RoutingFixture()
    let hello = try fixture.hello(host, on: 1, key: hostKey)
    #expect(fixture.lastKinds == ["peer.hello", "peer.changed", "peer.hello/ok"])
    #expect(fixture.last[0].header.sourceGeneration == 1)
    #expect(fixture.last[2].header.cause == hello.id)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 1)
    let changed = try fixture.lastBody(RegistrationChanged.self, at: 1)
    #expect(changed.change == .connected)
    #expect(changed.registration.isConnected)
    #expect(fixture.sent(to: 1) == [fixture.last[2]])
  }

  @Test func `who has not said hello is asked once`() throws {
    var fixture = RoutingFixture()
    let said = try fixture.say(ListProcesses(), from: host, to: agent, on: 1, key: hostKey)
    #expect(fixture.lastKinds == ["peer.who"])
    #expect(fixture.last[0].header.cause == said.id)
    #expect(fixture.sent(to: 1) == fixture.last)
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1, key: hostKey)
    #expect(fixture.last.isEmpty)
    try fixture.hello(host, on: 1, key: hostKey)
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    #expect(fixture.lastKinds.first == "process.list")
  }

  @Test func `the same incarnation keeps its generation, a new one has the next`() throws {
    var fixture = RoutingFixture()
    let incarnation = UUID()
    try fixture.hello(host, on: 1, key: hostKey, incarnation: incarnation)
    fixture.lose(1)
    try fixture.hello(host, on: 2, key: hostKey, incarnation: incarnation)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 1)
    try fixture.hello(host, on: 3, key: hostKey)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 2)
  }

  @Test func `a hello that is said twice changes nothing`() throws {
    var fixture = RoutingFixture()
    let incarnation = UUID()
    try fixture.hello(host, on: 1, key: hostKey, incarnation: incarnation)
    try fixture.hello(host, on: 1, key: hostKey, incarnation: incarnation)
    #expect(fixture.lastKinds == ["peer.hello", "peer.hello/ok"])
  }

  @Test func `a newer process takes the address over`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(host, on: 5, key: hostKey)
    try fixture.say(AgentStarted(incarnation: UUID(), pid: 1, children: []), from: agent, to: host, on: 2)
    #expect(fixture.forwarded.last?.line == 5)
    #expect(fixture.last[0].header.destinationGeneration == 2)
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    fixture.lose(1)
    #expect(fixture.last.isEmpty, "the end of the older connection is no end of the address")
  }

  @Test func `a goodbye is answered, and then nothing is sent there`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    try fixture.say(Goodbye(), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastKinds == ["peer.goodbye", "peer.goodbye/ok", "peer.changed", "peer.presence"])
    #expect(try fixture.lastBody(RegistrationChanged.self, at: 2).change == .left)
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    #expect(fixture.lastKinds == ["process.list", "bus.undelivered"])
    fixture.lose(2)
    #expect(fixture.last.isEmpty, "its end is recorded already")
  }

  @Test func `those who sent something hear of coming and going`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    fixture.lose(2)
    #expect(fixture.lastKinds == ["peer.changed", "peer.presence"])
    #expect(try fixture.lastBody(RegistrationChanged.self).change == .disconnected)
    #expect(fixture.last[1].header.destination == host)
    let gone = try fixture.lastBody(Presence.self, at: 1)
    #expect(gone.address == agent && !gone.isPresent && gone.generation == 1)
    try fixture.hello(agent, on: 7, key: agentKey)
    #expect(fixture.lastKinds == ["peer.hello", "peer.changed", "peer.hello/ok", "peer.presence"])
    let back = try fixture.lastBody(Presence.self, at: 3)
    #expect(back.address == agent && back.isPresent && back.generation == 2)
    #expect(fixture.sent(to: 1).last == fixture.last[3])
  }

  @Test func `one who wrote to nobody at all hears when somebody comes`() throws {
    var fixture = RoutingFixture()
    try fixture.hello(host, on: 1, key: hostKey)
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    try fixture.hello(agent, on: 2, key: agentKey)
    #expect(fixture.sent(to: 1).last?.header.kind == Presence.kind)
  }

  @Test func `the last words of a connection count, though its end is told first`() throws {
    var fixture = try RoutingFixture.running()
    fixture.lose(2)
    let exited = ProcessExited(address: widget, generation: 1, pid: 5, ending: .exited(code: 0))
    try fixture.say(exited, from: agent, to: host, on: 2)
    #expect(fixture.lastKinds == ["process.exited"])
    #expect(fixture.last[0].header.sourceGeneration == 1)
    #expect(fixture.sent(to: 1).last == fixture.last[0])
    try fixture.hello(agent, on: 2, key: agentKey)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
  }

  @Test func `a descriptor names the connection that has it now`() throws {
    var fixture = try RoutingFixture.running()
    let released = fixture.routing.release(2)
    let old = try #require(released)
    let hello = EnvelopeHeader(kind: Hello.kind, source: tool, destination: .messageBus)
    let body = try BodyCoding.encode(Hello(incarnation: UUID(), pid: 1))
    fixture.routing.received(
      try Envelope(header: hello, body: body).encoded(), on: 22, key: operatorKey, descriptor: 2)
    fixture.perform(fixture.routing.takeEffects())
    fixture.perform(fixture.routing.lost(old))
    #expect(try fixture.lastBody(RegistrationChanged.self).registration.address == agent)
    #expect(fixture.routing.line(of: tool) == 22)
  }

  @Test func `an operator that left is forgotten`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    try fixture.say(Ping(), from: tool, to: host, on: 3)
    fixture.lose(3)
    #expect(fixture.routing.registrations[tool] == nil)
    fixture.lose(1)
    #expect(fixture.lastKinds == ["peer.changed"])
  }
}

@Suite struct `lives and their keys` {
  @Test func `a life is registered, and speaks as its generation`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    #expect(fixture.lastKinds == ["life.register", "peer.changed", "life.register/ok"])
    #expect(try fixture.lastBody(RegisterLife.Reply.self, at: 2).generation == 1)
    #expect(try fixture.lastBody(RegistrationChanged.self, at: 1).change == .registered)
    #expect(fixture.admission(of: lifeKey) == .admitted)
    try fixture.hello(widget, on: 3, key: lifeKey)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 1)
    #expect(fixture.routing.registrations[widget]?.publicKey == lifeKey)
  }

  @Test func `the same registration again is the same life`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    try fixture.register()
    #expect(fixture.lastKinds == ["life.register", "life.register/ok"])
    #expect(try fixture.lastBody(RegisterLife.Reply.self, at: 1).generation == 1)
  }

  @Test func `the key of a retired life is turned away`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    try fixture.hello(widget, on: 3, key: lifeKey)
    try fixture.say(RetireLife(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastKinds == ["life.retire", "peer.changed", "life.retire/ok"])
    let (admission, effects) = fixture.routing.authenticate(lifeKey, isTap: false, peerAddress: "")
    #expect(admission == .refused)
    fixture.perform(effects)
    #expect(try fixture.lastBody(TurnedAway.self).reason == "revoked-key")
    #expect(fixture.routing.line(of: widget) == nil)
    try fixture.hello(widget, on: 4, key: lifeKey)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    try fixture.say(RetireLife(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastKinds == ["life.retire", "life.retire/ok"])
  }

  @Test func `a connection that has not spoken when its life is retired never does`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    let ready = ProcessReady(pid: 1, executable: "x", widgets: [])
    try fixture.say(ready, from: widget, to: host, on: 3, key: lifeKey)
    #expect(fixture.lastKinds == ["peer.who"])
    try fixture.say(RetireLife(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    try fixture.hello(widget, on: 3, key: lifeKey)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    #expect(fixture.routing.registrations[widget]?.isConnected == false)
  }

  @Test func `the next life has the next generation, and the former key is worth nothing`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    try fixture.hello(widget, on: 3, key: lifeKey)
    let request = EnvelopeHeader(kind: RequestTimeline.kind, source: host, destination: widget)
    fixture.receive(try Envelope(header: request).encoded(), on: 1, key: hostKey)
    #expect(fixture.sent(to: 3).last?.header.id == request.id)
    try fixture.register(nextLifeKey)
    #expect(fixture.lastKinds == ["life.register", "peer.presence", "peer.changed", "life.register/ok"])
    #expect(try fixture.lastBody(RegisterLife.Reply.self, at: 3).generation == 2)
    #expect(fixture.admission(of: lifeKey) == .refused)
    let ready = ProcessReady(pid: 1, executable: "x", widgets: [])
    try fixture.say(ready, from: widget, to: host, on: 3)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    try fixture.hello(widget, on: 4, key: nextLifeKey)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 2)
  }

  @Test func `retiring an older life does not touch the next`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    try fixture.register(nextLifeKey)
    try fixture.say(RetireLife(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastKinds == ["life.retire", "life.retire/ok"])
    #expect(fixture.admission(of: nextLifeKey) == .admitted)
    try fixture.say(RetireLife(address: widget, generation: 3), from: agent, to: .messageBus, on: 2)
    #expect(try fixture.lastBody(BusError.self, at: 1).code == BusError.Code("no-such-life"))
  }

  @Test func `an agent registers the apps and extensions of its own device only`() throws {
    var fixture = try RoutingFixture.running()
    for address in [host, .provider, .widgetExtension("ipad", "com.example.W"), .messageBus, tool] {
      try fixture.register(lifeKey, address)
      #expect(fixture.lastKinds == ["life.register", "life.register/failed"])
      #expect(try fixture.lastBody(BusError.self, at: 1).code == .refused)
    }
    try fixture.say(RegisterLife(address: widget, publicKey: lifeKey), from: host, to: .messageBus, on: 1)
    #expect(try fixture.lastBody(Refused.self).reason == "not-in-table")
  }

  @Test func `a key is of one life only`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register(lifeKey, widget)
    for key in [lifeKey, hostKey] {
      try fixture.register(key, app)
      #expect(try fixture.lastBody(BusError.self, at: 1).code == BusError.Code("key-in-use"))
    }
    try fixture.register("short", app)
    #expect(try fixture.lastBody(BusError.self, at: 1).code == .malformed)
  }

  @Test func `the app's key cannot speak as the extension`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register(lifeKey, app)
    try fixture.hello(app, on: 3, key: lifeKey)
    try fixture.say(ProcessReady(pid: 1, executable: "x", widgets: []), from: widget, to: host, on: 3)
    let refused = try fixture.lastBody(Refused.self)
    #expect(refused.reason == "role-mismatch")
    #expect(refused.keyOwner == "\(app) generation 1")
  }
}

@Suite struct `a broker after another` {
  /// What a new broker reads from the records of an old one.
  private func successor(of fixture: inout RoutingFixture) -> RoutingFixture {
    var recovered = JournalRecovery()
    for envelope in fixture.recorded { recovered.apply(envelope) }
    return RoutingFixture(recovered: recovered)
  }

  @Test func `knows keys, generations and the next number`() throws {
    var fixture = try RoutingFixture.running()
    fixture.perform([.record(fixture.routing.started())])
    let incarnation = UUID()
    try fixture.register()
    try fixture.hello(widget, on: 3, key: lifeKey, incarnation: incarnation)
    try fixture.register(nextLifeKey, app)
    try fixture.say(RetireLife(address: app, generation: 1), from: agent, to: .messageBus, on: 2)
    let last = fixture.routing.sequence
    var next = successor(of: &fixture)
    #expect(next.routing.generation == 2)
    next.perform([.record(next.routing.started())])
    #expect(next.last[0].header.sequence == last + 1)
    #expect(try next.lastBody(BusStarted.self).registrations.count == 4)
    #expect(next.admission(of: lifeKey) == .admitted)
    #expect(next.admission(of: nextLifeKey) == .refused)
    try next.hello(widget, on: 1, key: lifeKey, incarnation: incarnation)
    #expect(try next.lastBody(Hello.Reply.self, at: 2).generation == 1)
    try next.hello(host, on: 2, key: hostKey)
    #expect(try next.lastBody(Hello.Reply.self, at: 2).generation == 2)
  }

  @Test func `the first record tells all that is known`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    fixture.perform([.record(fixture.routing.started())])
    let started = try fixture.lastBody(BusStarted.self)
    #expect(started.pid == 4711)
    #expect(started.generation == 1)
    #expect(started.registrations.map(\.address) == [agent, host])
  }
}
