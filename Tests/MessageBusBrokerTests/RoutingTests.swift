import Conversations
import Foundation
import Testing

@testable import MessageBusBroker

@Suite struct `routing envelopes` {
  @Test func `an envelope is stamped, recorded and forwarded`() throws {
    var fixture = try RoutingFixture.running()
    let before = fixture.routing.sequence
    let said = try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    let header = try #require(fixture.last.first?.header)
    #expect(fixture.lastKinds == ["process.list"])
    #expect(header.id == said.id)
    #expect(header.sequence == before + 1)
    #expect(header.sourceGeneration == 1)
    #expect(header.destinationGeneration == 1)
    #expect(fixture.sent(to: 2, after: before) == fixture.last)
  }

  @Test func `a record precedes its forward`() throws {
    var fixture = try RoutingFixture.running()
    let header = EnvelopeHeader(kind: ListProcesses.kind, source: host, destination: agent)
    let frame = try Envelope(header: header, body: Array("{}".utf8)).encoded()
    fixture.routing.received(frame, on: 1, key: hostKey, descriptor: 1)
    let effects = fixture.routing.takeEffects()
    guard case .record(let recorded) = try #require(effects.first),
      case .forward(let forwarded, to: 2) = try #require(effects.last)
    else {
      Issue.record("the effects are \(effects)")
      return
    }
    #expect(recorded == forwarded)
  }

  @Test func `every record has the next number`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    try fixture.say(ListProcesses(), from: host, to: .agent("iphone", 2), on: 1)
    try fixture.say(BusStatus(), from: host, to: .messageBus, on: 1)
    fixture.lose(2)
    #expect(fixture.recorded.map(\.header.sequence) == Array(1...UInt64(fixture.recorded.count)))
  }

  @Test func `a sender cannot forge what the broker stamps`() throws {
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

  @Test func `what is said to the journal reaches nobody`() throws {
    var fixture = try RoutingFixture.running()
    let count = fixture.forwarded.count
    let state = ProcessState(address: widget, generation: 1, state: "running", why: "a test")
    try fixture.say(state, from: host, to: .journal, on: 1)
    #expect(fixture.lastKinds == ["process.state"])
    #expect(fixture.forwarded.count == count)
  }

  @Test func `nobody at the destination is answered at once`() throws {
    var fixture = try RoutingFixture.running()
    let said = try fixture.say(ListProcesses(), from: host, to: .agent("iphone", 2), on: 1)
    #expect(fixture.lastKinds == ["process.list", "bus.undelivered"])
    #expect(fixture.last[0].header.destinationGeneration == 0)
    #expect(fixture.last[1].header.cause == said.id)
    #expect(try fixture.lastBody(Undelivered.self, at: 1).code == .unreachable)
    #expect(fixture.sent(to: 1).last == fixture.last[1])
  }

  @Test func `a full destination is busy, and one that is gone unreachable`() throws {
    var fixture = try RoutingFixture.running()
    let said = try fixture.say(ListProcesses(), from: host, to: agent, on: 1)
    let frame = try Envelope(header: said).encoded()
    fixture.perform(fixture.routing.notSent(frame, on: 2, isGone: false))
    #expect(fixture.lastKinds == ["bus.undelivered"])
    #expect(try fixture.lastBody(Undelivered.self).code == .busy)
    #expect(fixture.sent(to: 1).last?.header.cause == said.id)
    fixture.perform(fixture.routing.notSent(frame, on: 2, isGone: true))
    #expect(fixture.lastKinds == ["peer.changed", "peer.presence", "bus.undelivered"])
    #expect(try fixture.lastBody(Undelivered.self, at: 2).code == .unreachable)
  }

  @Test func `what the broker says and cannot send starts nothing`() throws {
    var fixture = try RoutingFixture.running()
    let presence = EnvelopeHeader(kind: Presence.kind, source: .messageBus, destination: host)
    fixture.perform(fixture.routing.notSent(try Envelope(header: presence).encoded(), on: 1, isGone: false))
    #expect(fixture.last.isEmpty)
  }

  @Test func `the broker answers pings and status itself`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    let ping = try fixture.say(Ping(), from: tool, to: .messageBus, on: 3)
    #expect(fixture.lastKinds == ["peer.ping", "peer.ping/ok"])
    #expect(fixture.last[1].header.cause == ping.id)
    #expect(try fixture.lastBody(Ping.Reply.self, at: 1).pid == 4711)
    try fixture.say(BusStatus(), from: tool, to: .messageBus, on: 3)
    let status = try fixture.lastBody(BusStatus.Reply.self, at: 1)
    #expect(status.registrations.map(\.address) == [agent, host, tool])
    #expect(status.generation == 1)
    #expect(fixture.sent(to: 3).last == fixture.last[1])
  }

  @Test func `a signal is raised after it was recorded`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    try fixture.say(RaiseSignal(signal: 9), from: tool, to: .messageBus, on: 3)
    #expect(fixture.lastKinds == ["peer.raise-signal"])
    #expect(fixture.raised == [9])
  }

  @Test func `a malformed request is answered with its failure`() throws {
    var fixture = try RoutingFixture.running()
    let header = EnvelopeHeader(kind: RegisterLife.kind, source: agent, destination: .messageBus)
    fixture.receive(try Envelope(header: header, body: Array("{}".utf8)).encoded(), on: 2, key: agentKey)
    #expect(fixture.lastKinds == ["life.register", "life.register/failed"])
    #expect(try fixture.lastBody(BusError.self, at: 1).code == .malformed)
  }
}

@Suite struct `refusing envelopes` {
  private func refusal(_ fixture: RoutingFixture) throws -> (envelope: Envelope, body: Refused) {
    #expect(fixture.lastKinds == ["bus.refused"])
    let envelope = try #require(fixture.last.first)
    return (envelope, try BodyCoding.decode(Refused.self, from: envelope.body))
  }

  @Test func `a key speaks as its own address only`() throws {
    var fixture = try RoutingFixture.running()
    let count = fixture.forwarded.count
    let said = try fixture.say(ListProcesses(), from: agent, to: agent, on: 1)
    let (envelope, body) = try refusal(fixture)
    #expect(body.reason == "role-mismatch")
    #expect(body.claimed == agent.text)
    #expect(body.keyOwner == host.text)
    #expect(envelope.header.cause == said.id)
    #expect(envelope.header.destination == host)
    #expect(fixture.forwarded.dropFirst(count).map(\.line) == [1], "the sender hears of it, and nobody else")
  }

  @Test func `a key speaks as its own address in its first words too`() throws {
    var fixture = RoutingFixture()
    try fixture.hello(agent, on: 1, key: hostKey)
    #expect(try refusal(fixture).body.reason == "role-mismatch")
    #expect(fixture.routing.registrations.isEmpty)
  }

  @Test func `one run of the tool cannot speak as another`() throws {
    var fixture = RoutingFixture()
    try fixture.hello(tool, on: 3, key: operatorKey)
    try fixture.say(Ping(), from: .operator("78"), to: .messageBus, on: 3)
    #expect(try refusal(fixture).body.reason == "role-mismatch")
    #expect(fixture.sent(to: 3).last?.header.destination == tool)
  }

  @Test func `what is not in the table is refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.say(ListProcesses(), from: host, to: widget, on: 1)
    #expect(try refusal(fixture).body.reason == "not-in-table")
    try fixture.say(BusStarted(pid: 1, generation: 1, registrations: []), from: host, to: .journal, on: 1)
    #expect(try refusal(fixture).body.reason == "not-in-table")
  }

  @Test func `another device is refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.say(ListProcesses(), from: host, to: .agent("ipad", 1), on: 1)
    #expect(try refusal(fixture).body.reason == "other-device")
  }

  @Test func `bytes that are no envelope are recorded`() throws {
    var fixture = try RoutingFixture.running()
    for bytes in [[], [1], Array(repeating: UInt8(1), count: 500)] {
      fixture.receive(bytes, on: 1, key: hostKey)
      let (envelope, body) = try refusal(fixture)
      #expect(body.reason == "not-an-envelope")
      #expect(body.keyOwner == host.text)
      #expect(envelope.header.cause == nil)
    }
    fixture.routing.receivedMultipart(on: 1, key: hostKey, descriptor: 1)
    fixture.perform(fixture.routing.takeEffects())
    #expect(try refusal(fixture).body.reason == "not-an-envelope")
  }

  @Test func `one who says what is no envelope again and again is cut off, and nobody else`() throws {
    var fixture = try RoutingFixture.running()
    for number in 1...40 {
      fixture.receive([UInt8(number)], on: 1, key: hostKey)
      if number % 2 == 0 {
        fixture.routing.receivedMultipart(on: 2, key: agentKey, descriptor: 2)
        fixture.perform(fixture.routing.takeEffects())
      }
    }
    let refusals = fixture.recorded.filter { $0.header.kind == Refused.kind }
    #expect(refusals.count == 32, "what comes after the end is not looked at")
    let cut = try fixture.recorded.filter { $0.header.kind == PeerCutOff.kind }
      .map { try BodyCoding.decode(PeerCutOff.self, from: $0.body) }
    #expect(cut.map(\.address) == [host, agent])
    #expect(cut.map(\.refusals) == [16, 16])
    #expect(fixture.ended == [1, 2])
    try fixture.hello(tool, on: 3, key: operatorKey)
    #expect(fixture.lastKinds.contains("peer.hello/ok"))
    fixture.lose(1)
    fixture.routing.received([1], on: 11, key: hostKey, descriptor: 1)
    fixture.perform(fixture.routing.takeEffects())
    #expect(fixture.lastKinds == ["bus.refused"], "a new connection begins anew")
    #expect(fixture.ended == [1, 2])
  }

  @Test func `a notice to the bus whose body has not its shape is recorded as refused`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.hello(tool, on: 3, key: operatorKey)
    let header = EnvelopeHeader(kind: RaiseSignal.kind, source: tool, destination: .messageBus)
    fixture.receive(try Envelope(header: header, body: Array("[]".utf8)).encoded(), on: 3, key: operatorKey)
    #expect(fixture.lastKinds == ["peer.raise-signal", "body.refused"])
    #expect(fixture.last[1].header.cause == header.id)
    #expect(try fixture.lastBody(BodyRefused.self, at: 1).error.code == .malformed)
    #expect(fixture.raised.isEmpty)
  }

  @Test func `bytes of one who may be many are recorded for the journal`() throws {
    var fixture = RoutingFixture()
    fixture.receive([1, 2, 3], on: 3, key: operatorKey)
    #expect(try refusal(fixture).envelope.header.destination == .journal)
    #expect(fixture.forwarded.isEmpty)
  }

  @Test func `a body over the limit has a reason of its own`() throws {
    var fixture = try RoutingFixture.running()
    let header = EnvelopeHeader(kind: ListProcesses.kind, source: host, destination: agent)
    var frame = try Envelope(header: header).encoded()
    frame[110] = 0xff
    fixture.receive(frame, on: 1, key: hostKey)
    #expect(try refusal(fixture).body.reason == "body-too-large")
  }

  @Test func `a key that is known no longer is refused`() throws {
    var fixture = RoutingFixture()
    fixture.receive([1], on: 9, key: lifeKey)
    #expect(try refusal(fixture).body.reason == "not-registered")
    #expect(fixture.forwarded.isEmpty)
  }
}

@Suite struct `letting keys in` {
  @Test func `known keys are admitted, and unknown ones may come again`() throws {
    var fixture = RoutingFixture()
    #expect(fixture.admission(of: hostKey) == .admitted)
    let (admission, effects) = fixture.routing.authenticate(lifeKey, isTap: false, peerAddress: "127.0.0.1")
    #expect(admission == .unknown)
    fixture.perform(effects)
    #expect(fixture.lastKinds == ["peer.turned-away"])
    let body = try fixture.lastBody(TurnedAway.self)
    #expect([body.reason, body.publicKey, body.peerAddress] == ["unknown-key", lifeKey, "127.0.0.1"])
  }

  @Test func `one key that knocks again and again is recorded every ten seconds`() {
    var fixture = RoutingFixture()
    var recorded = 0
    for second in 0..<25 {
      fixture.routing.now = Timestamp(microseconds: Int64(second) * 1_000_000)
      recorded += fixture.routing.authenticate(lifeKey, isTap: false, peerAddress: "").1.count
    }
    #expect(recorded == 3)
    recorded += fixture.routing.authenticate(nextLifeKey, isTap: false, peerAddress: "").1.count
    #expect(recorded == 4)
  }

  @Test func `the tap is for operators`() throws {
    var fixture = RoutingFixture()
    #expect(fixture.admission(of: operatorKey, isTap: true) == .admitted)
    let (admission, effects) = fixture.routing.authenticate(hostKey, isTap: true, peerAddress: "")
    #expect(admission == .refused)
    fixture.perform(effects)
    #expect(try fixture.lastBody(TurnedAway.self).reason == "not-an-operator")
  }

  @Test func `the key of the bus speaks as nobody`() {
    var fixture = RoutingFixture()
    fixture.routing.setStanding(
      RoutingFixture.facts([lifeKey: AddressPattern(.messageBus), hostKey: AddressPattern(host)]))
    #expect(fixture.admission(of: lifeKey) == .unknown)
    #expect(fixture.admission(of: hostKey) == .admitted)
  }
}
