// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import MessageBusBroker

@Suite struct `Routing of envelopes` {
  @Test func `an envelope is stamped, recorded and forwarded`() throws {
    var fixture = try RoutingFixture.running()
    let before = fixture.routing.sequence
    let sentRequest = try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    let header = try #require(fixture.last.first?.header)
    #expect(fixture.lastTypes == ["process.list"])
    #expect(header.id == sentRequest.id)
    #expect(header.sequence == before + 1)
    #expect(header.sourceGeneration == 1)
    #expect(header.destinationGeneration == 1)
    #expect(fixture.sent(to: 2, after: before) == fixture.last)
  }

  @Test func `an envelope is recorded before it is forwarded`() throws {
    var fixture = try RoutingFixture.running()
    let header = EnvelopeHeader(kind: ListProcesses.kind, source: host, destination: agent)
    let frame = try Envelope(header: header, body: Array("{}".utf8)).encoded()
    fixture.routing.received(frame, on: 1, key: hostKey, descriptor: 1)
    let actions = fixture.routing.takeActions()
    guard case .record(let recorded) = try #require(actions.first),
      case .forward(let forwarded, to: 2) = try #require(actions.last)
    else {
      Issue.record("the actions are \(actions)")
      return
    }
    #expect(recorded == forwarded)
  }

  @Test func `each record has the next sequence number`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    try fixture.send(ListProcesses(), from: host, to: .agent("iphone", 2), on: 1)
    try fixture.send(BusStatus(), from: host, to: .messageBus, on: 1)
    fixture.lose(2)
    #expect(fixture.recorded.map(\.header.sequence) == Array(1...UInt64(fixture.recorded.count)))
  }

  @Test func `a sender cannot forge the sequence number and the generations of an envelope`() throws {
    var fixture = try RoutingFixture.running()
    let header = EnvelopeHeader(kind: ListProcesses.kind, source: host, destination: agent)
    var frame = try Envelope(header: header, body: Array("{}".utf8)).encoded()
    EnvelopeHeader.stamp(&frame, sequence: 999_999, sourceGeneration: 77, destinationGeneration: 78)
    let before = fixture.routing.sequence
    fixture.receive(frame, on: 1, key: hostKey)
    let stamped = try #require(fixture.last.first?.header)
    #expect([UInt64(stamped.sourceGeneration), UInt64(stamped.destinationGeneration)] == [1, 1])
    #expect(stamped.sequence == before + 1)
  }

  @Test func `a notice to the journal is recorded and not forwarded`() throws {
    var fixture = try RoutingFixture.running()
    let count = fixture.forwarded.count
    let state = ProcessState(address: widget, generation: 1, state: "running", why: "a test")
    try fixture.send(state, from: host, to: .journal, on: 1)
    #expect(fixture.lastTypes == ["process.state"])
    #expect(fixture.forwarded.count == count)
  }

  @Test func `an envelope that only the journal receives is recorded and not forwarded`() throws {
    var fixture = try RoutingFixture.running()
    fixture.routing.receiver = { $0.kind == ListProcesses.kind ? .journal : $0.destination }
    let count = fixture.forwarded.count
    for _ in 0..<2 {
      try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
      #expect(fixture.lastTypes == ["process.list"])
    }
    #expect(fixture.forwarded.count == count)
  }

  @Test func `a message to an absent destination is answered with undelivered at once`() throws {
    var fixture = try RoutingFixture.running()
    let sent = try fixture.send(ListProcesses(), from: host, to: .agent("iphone", 2), on: 1)
    #expect(fixture.lastTypes == ["process.list", "bus.undelivered"])
    #expect(fixture.last[0].header.destinationGeneration == 0)
    #expect(fixture.last[1].header.cause == sent.id)
    #expect(try fixture.lastBody(Undelivered.self, at: 1).code == .unreachable)
    #expect(fixture.sent(to: 1).last == fixture.last[1])
  }

  @Test func `a message to a full destination fails as busy, and to a disconnected one as unreachable`() throws {
    var fixture = try RoutingFixture.running()
    let sentRequest = try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    let frame = try Envelope(header: sentRequest).encoded()
    fixture.perform(fixture.routing.notSent(frame, on: 2, isGone: false))
    #expect(fixture.lastTypes == ["bus.undelivered"])
    #expect(try fixture.lastBody(Undelivered.self).code == .busy)
    #expect(fixture.sent(to: 1).last?.header.cause == sentRequest.id)
    fixture.perform(fixture.routing.notSent(frame, on: 2, isGone: true))
    #expect(fixture.lastTypes == ["peer.changed", "peer.presence", "bus.undelivered"])
    #expect(try fixture.lastBody(Undelivered.self, at: 2).code == .unreachable)
  }

  @Test func `a message of the broker that cannot be sent has no further effect`() throws {
    var fixture = try RoutingFixture.running()
    let presence = EnvelopeHeader(kind: Presence.kind, source: .messageBus, destination: host)
    fixture.perform(fixture.routing.notSent(try Envelope(header: presence).encoded(), on: 1, isGone: false))
    #expect(fixture.last.isEmpty)
  }

  @Test func `the broker answers ping and status requests itself`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    let ping = try fixture.send(Ping(), from: tool, to: .messageBus, on: 3)
    #expect(fixture.lastTypes == ["peer.ping", "peer.ping/ok"])
    #expect(fixture.last[1].header.cause == ping.id)
    #expect(try fixture.lastBody(Ping.Reply.self, at: 1).pid == 4711)
    try fixture.send(BusStatus(), from: tool, to: .messageBus, on: 3)
    let status = try fixture.lastBody(BusStatus.Reply.self, at: 1)
    #expect(status.registrations.map(\.address) == [agent, host, tool])
    #expect(status.generation == 1)
    #expect(fixture.sent(to: 3).last == fixture.last[1])
  }

  @Test func `a signal is raised after it was recorded`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    try fixture.send(RaiseSignal(signal: 9), from: tool, to: .messageBus, on: 3)
    #expect(fixture.lastTypes == ["peer.raise-signal"])
    #expect(fixture.raised == [9])
  }

  @Test func `a malformed request to the broker is answered with an error`() throws {
    var fixture = try RoutingFixture.running()
    let header = EnvelopeHeader(kind: RegisterInstance.kind, source: agent, destination: .messageBus)
    fixture.receive(try Envelope(header: header, body: Array("{}".utf8)).encoded(), on: 2, key: agentKey)
    #expect(fixture.lastTypes == ["instance.register", "instance.register/failed"])
    #expect(try fixture.lastBody(BusError.self, at: 1).code == .malformed)
  }
}

@Suite struct `Refusal of envelopes` {
  private func refusal(_ fixture: RoutingFixture) throws -> (envelope: Envelope, body: Refused) {
    #expect(fixture.lastTypes == ["bus.refused"])
    let envelope = try #require(fixture.last.first)
    return (envelope, try BodyCoding.decode(Refused.self, from: envelope.body))
  }

  @Test func `a message whose source is not the address of its key is refused`() throws {
    var fixture = try RoutingFixture.running()
    let count = fixture.forwarded.count
    let sentRequest = try fixture.send(ListProcesses(), from: agent, to: agent, on: 1)
    let (envelope, body) = try refusal(fixture)
    #expect(body.reason == "role-mismatch")
    #expect(body.claimed == agent.text)
    #expect(body.keyOwner == host.text)
    #expect(envelope.header.cause == sentRequest.id)
    #expect(envelope.header.destination == host)
    #expect(fixture.forwarded.dropFirst(count).map(\.line) == [1], "only the sender receives the refusal")
  }

  @Test func `a hello whose source is not the address of its key is refused`() throws {
    var fixture = RoutingFixture()
    try fixture.hello(agent, on: 1, key: hostKey)
    #expect(try refusal(fixture).body.reason == "role-mismatch")
    #expect(fixture.routing.registrations.isEmpty)
  }

  @Test func `one run of the command-line tool cannot send as another`() throws {
    var fixture = RoutingFixture()
    try fixture.hello(tool, on: 3, key: operatorKey)
    try fixture.send(Ping(), from: .operator("78"), to: .messageBus, on: 3)
    #expect(try refusal(fixture).body.reason == "role-mismatch")
    #expect(fixture.sent(to: 3).last?.header.destination == tool)
  }

  @Test func `a message that is not in the message table is refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.send(ListProcesses(), from: host, to: widget, on: 1)
    #expect(try refusal(fixture).body.reason == "not-in-table")
    try fixture.send(BusStarted(pid: 1, generation: 1, registrations: []), from: host, to: .journal, on: 1)
    #expect(try refusal(fixture).body.reason == "not-in-table")
  }

  @Test func `a message to another device is refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.send(ListProcesses(), from: host, to: .agent("ipad", 1), on: 1)
    #expect(try refusal(fixture).body.reason == "other-device")
  }

  @Test func `bytes that are not an envelope are refused and recorded`() throws {
    var fixture = try RoutingFixture.running()
    for bytes in [[], [1], Array(repeating: UInt8(1), count: 500)] {
      fixture.receive(bytes, on: 1, key: hostKey)
      let (envelope, body) = try refusal(fixture)
      #expect(body.reason == "not-an-envelope")
      #expect(body.keyOwner == host.text)
      #expect(envelope.header.cause == nil)
    }
    fixture.routing.receivedMultipart(on: 1, key: hostKey, descriptor: 1)
    fixture.perform(fixture.routing.takeActions())
    #expect(try refusal(fixture).body.reason == "not-an-envelope")
  }

  @Test func `only a peer that repeatedly sends malformed frames is disconnected`() throws {
    var fixture = try RoutingFixture.running()
    for number in 1...40 {
      fixture.receive([UInt8(number)], on: 1, key: hostKey)
      if number % 2 == 0 {
        fixture.routing.receivedMultipart(on: 2, key: agentKey, descriptor: 2)
        fixture.perform(fixture.routing.takeActions())
      }
    }
    let refusals = fixture.recorded.filter { $0.header.kind == Refused.kind }
    #expect(refusals.count == 32, "frames after the disconnection are ignored")
    let cut = try fixture.recorded.filter { $0.header.kind == PeerDisconnected.kind }
      .map { try BodyCoding.decode(PeerDisconnected.self, from: $0.body) }
    #expect(cut.map(\.address) == [host, agent])
    #expect(cut.map(\.refusals) == [16, 16])
    #expect(fixture.ended == [1, 2])
    try fixture.hello(tool, on: 3, key: operatorKey)
    #expect(fixture.lastTypes.contains("peer.hello/ok"))
    fixture.lose(1)
    fixture.routing.received([1], on: 11, key: hostKey, descriptor: 1)
    fixture.perform(fixture.routing.takeActions())
    #expect(fixture.lastTypes == ["bus.refused"], "a new connection starts with a count of 0")
    #expect(fixture.ended == [1, 2])
  }

  @Test func `a notice to the broker with a malformed body is recorded as refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    let header = EnvelopeHeader(kind: RaiseSignal.kind, source: tool, destination: .messageBus)
    fixture.receive(try Envelope(header: header, body: Array("[]".utf8)).encoded(), on: 3, key: operatorKey)
    #expect(fixture.lastTypes == ["peer.raise-signal", "body.refused"])
    #expect(fixture.last[1].header.cause == header.id)
    #expect(try fixture.lastBody(BodyRefused.self, at: 1).error.code == .malformed)
    #expect(fixture.raised.isEmpty)
  }

  @Test func `the refusal of malformed bytes from an operator is recorded and not sent`() throws {
    var fixture = RoutingFixture()
    fixture.receive([1, 2, 3], on: 3, key: operatorKey)
    #expect(try refusal(fixture).envelope.header.destination == .journal)
    #expect(fixture.forwarded.isEmpty)
  }

  @Test func `an oversize body is refused with its own reason`() throws {
    var fixture = try RoutingFixture.running()
    let header = EnvelopeHeader(kind: ListProcesses.kind, source: host, destination: agent)
    var frame = try Envelope(header: header).encoded()
    frame[110] = 0xff
    fixture.receive(frame, on: 1, key: hostKey)
    #expect(try refusal(fixture).body.reason == "body-too-large")
  }

  @Test func `a message with an unknown key is refused`() throws {
    var fixture = RoutingFixture()
    fixture.receive([1], on: 9, key: instanceKey)
    #expect(try refusal(fixture).body.reason == "not-registered")
    #expect(fixture.forwarded.isEmpty)
  }
}

@Suite struct `Admission of keys` {
  @Test func `a known key is admitted, and an unknown key may try again`() throws {
    var fixture = RoutingFixture()
    #expect(fixture.admission(of: hostKey) == .admitted)
    let (admission, actions) = fixture.routing.authenticate(instanceKey, isTap: false, peerAddress: "127.0.0.1")
    #expect(admission == .unknown)
    fixture.perform(actions)
    #expect(fixture.lastTypes == ["peer.turned-away"])
    let body = try fixture.lastBody(AuthenticationFailed.self)
    #expect([body.reason, body.publicKey, body.peerAddress] == ["unknown-key", instanceKey, "127.0.0.1"])
  }

  @Test func `repeated attempts with one unknown key are recorded once in ten seconds`() {
    var fixture = RoutingFixture()
    var recorded = 0
    for second in 0..<25 {
      fixture.routing.now = Timestamp(microseconds: Int64(second) * 1_000_000)
      recorded += fixture.routing.authenticate(instanceKey, isTap: false, peerAddress: "").1.count
    }
    #expect(recorded == 3)
    recorded += fixture.routing.authenticate(nextInstanceKey, isTap: false, peerAddress: "").1.count
    #expect(recorded == 4)
  }

  @Test func `the tap admits operators only`() throws {
    var fixture = RoutingFixture()
    #expect(fixture.admission(of: operatorKey, isTap: true) == .admitted)
    let (admission, actions) = fixture.routing.authenticate(hostKey, isTap: true, peerAddress: "")
    #expect(admission == .refused)
    fixture.perform(actions)
    #expect(try fixture.lastBody(AuthenticationFailed.self).reason == "not-an-operator")
  }

  @Test func `the key of the broker is not admitted for a client`() {
    var fixture = RoutingFixture()
    fixture.routing.setStanding(
      RoutingFixture.facts([instanceKey: AddressPattern(.messageBus), hostKey: AddressPattern(host)]))
    #expect(fixture.admission(of: instanceKey) == .unknown)
    #expect(fixture.admission(of: hostKey) == .admitted)
  }
}
