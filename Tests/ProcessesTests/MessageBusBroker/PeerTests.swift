// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import Messages
import Testing

@testable import MessageBusBroker

@Suite struct `Peer registrations` {
  @Test func `a hello is answered with a generation and recorded`() throws {
    var fixture = RoutingFixture()
    let hello = try fixture.hello(host, on: 1, key: hostKey)
    #expect(fixture.lastTypes == ["peer.hello", "peer.changed", "peer.hello/ok"])
    #expect(fixture.last[0].header.sourceGeneration == 1)
    #expect(fixture.last[2].header.cause == hello.id)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 1)
    let changed = try fixture.lastBody(RegistrationChanged.self, at: 1)
    #expect(changed.change == .connected)
    #expect(changed.registration.isConnected)
    #expect(fixture.sent(to: 1) == [fixture.last[2]])
  }

  @Test func `a peer that has not sent hello is asked for it once`() throws {
    var fixture = RoutingFixture()
    let sentRequest = try fixture.send(ListProcesses(), from: host, to: agent, on: 1, key: hostKey)
    #expect(fixture.lastTypes == ["peer.who"])
    #expect(fixture.last[0].header.cause == sentRequest.id)
    #expect(fixture.sent(to: 1) == fixture.last)
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1, key: hostKey)
    #expect(fixture.last.isEmpty)
    try fixture.hello(host, on: 1, key: hostKey)
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    #expect(fixture.lastTypes.first == "process.list")
  }

  @Test func `an incarnation keeps its generation, and a new incarnation gets the next one`() throws {
    var fixture = RoutingFixture()
    let incarnation = UUID()
    try fixture.hello(host, on: 1, key: hostKey, incarnation: incarnation)
    fixture.lose(1)
    try fixture.hello(host, on: 2, key: hostKey, incarnation: incarnation)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 1)
    try fixture.hello(host, on: 3, key: hostKey)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 2)
  }

  @Test func `a repeated hello changes nothing`() throws {
    var fixture = RoutingFixture()
    let incarnation = UUID()
    try fixture.hello(host, on: 1, key: hostKey, incarnation: incarnation)
    try fixture.hello(host, on: 1, key: hostKey, incarnation: incarnation)
    #expect(fixture.lastTypes == ["peer.hello", "peer.hello/ok"])
  }

  @Test func `a newer process takes over the address of an older one`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(host, on: 5, key: hostKey)
    try fixture.send(AgentStarted(incarnation: UUID(), pid: 1, children: []), from: agent, to: host, on: 2)
    #expect(fixture.forwarded.last?.line == 5)
    #expect(fixture.last[0].header.destinationGeneration == 2)
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    fixture.lose(1)
    #expect(fixture.last.isEmpty, "the end of the older connection does not disconnect the address")
  }

  @Test func `a goodbye is answered, and nothing is sent to that peer afterwards`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    try fixture.send(Goodbye(), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastTypes == ["peer.goodbye", "peer.goodbye/ok", "peer.changed", "peer.presence"])
    #expect(try fixture.lastBody(RegistrationChanged.self, at: 2).change == .left)
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    #expect(fixture.lastTypes == ["process.list", "bus.undelivered"])
    fixture.lose(2)
    #expect(fixture.last.isEmpty, "the disconnection is already recorded")
  }

  @Test func `a peer is notified when a peer that it sent to disconnects or reconnects`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    fixture.lose(2)
    #expect(fixture.lastTypes == ["peer.changed", "peer.presence"])
    #expect(try fixture.lastBody(RegistrationChanged.self).change == .disconnected)
    #expect(fixture.last[1].header.destination == host)
    let gone = try fixture.lastBody(Presence.self, at: 1)
    #expect(gone.address == agent && !gone.isPresent && gone.generation == 1)
    try fixture.hello(agent, on: 7, key: agentKey)
    #expect(fixture.lastTypes == ["peer.hello", "peer.changed", "peer.hello/ok", "peer.presence"])
    let back = try fixture.lastBody(Presence.self, at: 3)
    #expect(back.address == agent && back.isPresent && back.generation == 2)
    #expect(fixture.sent(to: 1).last == fixture.last[3])
  }

  @Test func `a peer that sent to an absent address is notified when that address connects`() throws {
    var fixture = RoutingFixture()
    try fixture.hello(host, on: 1, key: hostKey)
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    try fixture.hello(agent, on: 2, key: agentKey)
    #expect(fixture.sent(to: 1).last?.header.kind == Presence.kind)
  }

  @Test func `a message of a connection is accepted even when the disconnection is reported first`() throws {
    var fixture = try RoutingFixture.running()
    fixture.lose(2)
    let exited = ProcessExited(address: widget, generation: 1, pid: 5, ending: .exited(code: 0))
    try fixture.send(exited, from: agent, to: host, on: 2)
    #expect(fixture.lastTypes == ["process.exited"])
    #expect(fixture.last[0].header.sourceGeneration == 1)
    #expect(fixture.sent(to: 1).last == fixture.last[0])
    try fixture.hello(agent, on: 2, key: agentKey)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
  }

  @Test func `a reused descriptor refers to its new connection`() throws {
    var fixture = try RoutingFixture.running()
    let released = fixture.routing.release(2)
    let old = try #require(released)
    let hello = EnvelopeHeader(kind: Hello.kind, source: tool, destination: .messageBus)
    let body = try BodyCoding.encode(Hello(incarnation: UUID(), pid: 1))
    fixture.routing.received(
      try Envelope(header: hello, body: body).encoded(), on: 22, key: operatorKey, descriptor: 2)
    fixture.perform(fixture.routing.takeActions())
    fixture.perform(fixture.routing.lost(old))
    #expect(try fixture.lastBody(RegistrationChanged.self).registration.address == agent)
    #expect(fixture.routing.line(of: tool) == 22)
  }

  @Test func `a disconnected operator is removed from the registrations`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    try fixture.send(Ping(), from: tool, to: host, on: 3)
    fixture.lose(3)
    #expect(fixture.routing.registrations[tool] == nil)
    fixture.lose(1)
    #expect(fixture.lastTypes == ["peer.changed"])
  }
}

@Suite struct `Instances and their keys` {
  @Test func `a registered instance is admitted and gets its generation`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    #expect(fixture.lastTypes == ["instance.register", "peer.changed", "instance.register/ok"])
    #expect(try fixture.lastBody(RegisterInstance.Reply.self, at: 2).generation == 1)
    #expect(try fixture.lastBody(RegistrationChanged.self, at: 1).change == .registered)
    #expect(fixture.admission(of: instanceKey) == .admitted)
    try fixture.hello(widget, on: 3, key: instanceKey)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 1)
    #expect(fixture.routing.registrations[widget]?.publicKey == instanceKey)
  }

  @Test func `a repeated registration returns the same generation`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    try fixture.register()
    #expect(fixture.lastTypes == ["instance.register", "instance.register/ok"])
    #expect(try fixture.lastBody(RegisterInstance.Reply.self, at: 1).generation == 1)
  }

  @Test func `the key of a retired instance is refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    try fixture.hello(widget, on: 3, key: instanceKey)
    try fixture.send(RetireInstance(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastTypes == ["instance.retire", "peer.changed", "instance.retire/ok"])
    let (admission, actions) = fixture.routing.authenticate(instanceKey, isTap: false, peerAddress: "")
    #expect(admission == .refused)
    fixture.perform(actions)
    #expect(try fixture.lastBody(AuthenticationFailed.self).reason == "revoked-key")
    #expect(fixture.routing.line(of: widget) == nil)
    try fixture.hello(widget, on: 4, key: instanceKey)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    try fixture.send(RetireInstance(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastTypes == ["instance.retire", "instance.retire/ok"])
  }

  @Test func `a connection that has not sent hello is refused after its instance is retired`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    let ready = ProcessReady(pid: 1, executable: "x", widgets: [])
    try fixture.send(ready, from: widget, to: host, on: 3, key: instanceKey)
    #expect(fixture.lastTypes == ["peer.who"])
    try fixture.send(RetireInstance(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    try fixture.hello(widget, on: 3, key: instanceKey)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    #expect(fixture.routing.registrations[widget]?.isConnected == false)
  }

  @Test func `the next instance has the next generation, and the key of the previous one is refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    try fixture.hello(widget, on: 3, key: instanceKey)
    let request = EnvelopeHeader(kind: RequestTimeline.kind, source: host, destination: widget)
    fixture.receive(try Envelope(header: request).encoded(), on: 1, key: hostKey)
    #expect(fixture.sent(to: 3).last?.header.id == request.id)
    try fixture.register(nextInstanceKey)
    #expect(fixture.lastTypes == ["instance.register", "peer.presence", "peer.changed", "instance.register/ok"])
    #expect(try fixture.lastBody(RegisterInstance.Reply.self, at: 3).generation == 2)
    #expect(fixture.admission(of: instanceKey) == .refused)
    let ready = ProcessReady(pid: 1, executable: "x", widgets: [])
    try fixture.send(ready, from: widget, to: host, on: 3)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    try fixture.hello(widget, on: 4, key: nextInstanceKey)
    #expect(try fixture.lastBody(Hello.Reply.self, at: 2).generation == 2)
  }

  @Test func `the retirement of an older instance does not affect the next one`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    try fixture.register(nextInstanceKey)
    try fixture.send(RetireInstance(address: widget, generation: 1), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastTypes == ["instance.retire", "instance.retire/ok"])
    #expect(fixture.admission(of: nextInstanceKey) == .admitted)
    try fixture.send(RetireInstance(address: widget, generation: 3), from: agent, to: .messageBus, on: 2)
    #expect(try fixture.lastBody(BusError.self, at: 1).code == BusError.Code("no-such-instance"))
  }

  @Test func `an agent registers only the apps and extensions of the same device`() throws {
    var fixture = try RoutingFixture.running()
    for address in [host, .provider, .widgetExtension("ipad", "com.example.W"), .messageBus, tool] {
      try fixture.register(instanceKey, address)
      #expect(fixture.lastTypes == ["instance.register", "instance.register/failed"])
      #expect(try fixture.lastBody(BusError.self, at: 1).code == .refused)
    }
    try fixture.send(RegisterInstance(address: widget, publicKey: instanceKey), from: host, to: .messageBus, on: 1)
    #expect(try fixture.lastBody(Refused.self).reason == "not-in-table")
  }

  @Test func `a key belongs to one instance only`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register(instanceKey, widget)
    for key in [instanceKey, hostKey] {
      try fixture.register(key, app)
      #expect(try fixture.lastBody(BusError.self, at: 1).code == BusError.Code("key-in-use"))
    }
    try fixture.register("short", app)
    #expect(try fixture.lastBody(BusError.self, at: 1).code == .malformed)
  }

  @Test func `the app's key cannot send as the extension`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register(instanceKey, app)
    try fixture.hello(app, on: 3, key: instanceKey)
    try fixture.send(ProcessReady(pid: 1, executable: "x", widgets: []), from: widget, to: host, on: 3)
    let refused = try fixture.lastBody(Refused.self)
    #expect(refused.reason == "role-mismatch")
    #expect(refused.keyOwner == "\(app) generation 1")
  }
}

@Suite struct `A restarted broker` {
  /// Returns the routing that a new broker recovers from the records of an old one.
  private func successor(of fixture: inout RoutingFixture) -> RoutingFixture {
    var recovered = JournalRecovery()
    for envelope in fixture.recorded { recovered.apply(envelope) }
    return RoutingFixture(recovered: recovered)
  }

  @Test func `a restarted broker restores keys, generations and the next sequence number`() throws {
    var fixture = try RoutingFixture.running()
    fixture.perform([.record(fixture.routing.started())])
    let incarnation = UUID()
    try fixture.register()
    try fixture.hello(widget, on: 3, key: instanceKey, incarnation: incarnation)
    try fixture.register(nextInstanceKey, app)
    try fixture.send(RetireInstance(address: app, generation: 1), from: agent, to: .messageBus, on: 2)
    let last = fixture.routing.sequence
    var next = successor(of: &fixture)
    #expect(next.routing.generation == 2)
    next.perform([.record(next.routing.started())])
    #expect(next.last[0].header.sequence == last + 1)
    #expect(try next.lastBody(BusStarted.self).registrations.count == 4)
    #expect(next.admission(of: instanceKey) == .admitted)
    #expect(next.admission(of: nextInstanceKey) == .refused)
    try next.hello(widget, on: 1, key: instanceKey, incarnation: incarnation)
    #expect(try next.lastBody(Hello.Reply.self, at: 2).generation == 1)
    try next.hello(host, on: 2, key: hostKey)
    #expect(try next.lastBody(Hello.Reply.self, at: 2).generation == 2)
  }

  @Test func `the first record of a segment lists the registrations of all processes`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    fixture.perform([.record(fixture.routing.started())])
    let started = try fixture.lastBody(BusStarted.self)
    #expect(started.pid == 4711)
    #expect(started.generation == 1)
    #expect(started.registrations.map(\.address) == [agent, host])
  }
}
