// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Journal
import MessageBus
import Messages
import Testing
import WidgetLabTesting

@testable import MessageBusBroker

extension QuietTests {
  @Suite(.timeLimit(.minutes(1))) struct `Limits of the broker` {
    private let fixture: BrokerFixture

    init() throws { fixture = try BrokerFixture() }

    @Test func `half-open handshakes are closed while other peers are served`() async throws {
      try await fixture.withBroker { bus in
        let lines = try (0..<100).map { _ in try RawLine(bus.endpoint) }
        for line in lines.dropFirst(50) { line.greetHalfWay() }
        let one = fixture.connection(bus, address: host, pair: fixture.hostPair)
        #expect(try await one.start() == 1)
        _ = try await one.request(Ping(), to: .messageBus)
        for line in lines { await line.untilEnded() }
        _ = try await fixture.recorded(AuthenticationFailed.self) { $0.reason == "no-key" }
        _ = try await one.request(Ping(), to: .messageBus)
        await one.leave()
      }
      let times = try fixture.reader.read().filter { $0.header.kind == AuthenticationFailed.kind }.map(\.header.sentAt)
      let pauses = zip(times, times.dropFirst()).map { $1.microseconds - $0.microseconds }
      #expect(!times.isEmpty && pauses.allSatisfy { $0 >= 10_000_000 }, "at most one record in ten seconds: \(times)")
    }

    @Test(arguments: ["nothing", "half a greeting", "a greeting"])
    func `a half-open handshake is closed after half a second`(sent: String) async throws {
      try await fixture.withBroker { bus in
        let one = fixture.connection(bus, address: host, pair: fixture.hostPair)
        _ = try await one.start()
        let begun = ContinuousClock.now
        let line = try RawLine(bus.endpoint)
        if sent == "half a greeting" { line.greetHalfWay() }
        if sent == "a greeting" { line.greet() }
        await line.untilEnded()
        let open = ContinuousClock.now - begun
        #expect(open > .milliseconds(400), "closed too early: \(open)")
        _ = try await one.request(Ping(), to: .messageBus)
        await one.leave()
      }
    }

    @Test func `connections above the limit are closed and recorded while existing peers are served`() async throws {
      try await fixture.withBroker({ $0.connectionLimit = 20 }) { bus in
        let one = fixture.connection(bus, address: host, pair: fixture.hostPair)
        _ = try await one.start()
        let pings = Task {
          var count = 0
          while true {
            do {
              _ = try await one.request(Ping(), to: .messageBus)
            } catch {
              guard Task.isCancelled else { throw error }
              return count
            }
            count += 1
          }
        }
        for _ in 0..<5 {
          let lines = try (0..<100).map { _ in try RawLine(bus.endpoint) }
          for line in lines { await line.untilEnded() }
        }
        let (_, begun) = try await fixture.recorded(BusStrained.self) { !$0.isOver }
        #expect(begun.reason == "descriptors")
        #expect(begun.limit == 20)
        let (_, over) = try await fixture.recorded(BusStrained.self) { $0.isOver }
        // Connections that the broker did not accept are not counted.
        #expect(over.turnedAway > 0)
        #expect(over.connections <= 18)
        pings.cancel()
        #expect(try await pings.value > 0)
        let other = fixture.connection(bus, address: agent, pair: fixture.agentPair)
        #expect(try await other.start() == 1)
        await one.leave()
        await other.leave()
      }
    }

    @Test func `a peer above the peer limit is refused, and admitted when another peer has left`() async throws {
      try await fixture.withBroker({ $0.peerLimit = 2 }) { bus in
        let one = fixture.connection(bus, address: host, pair: fixture.hostPair)
        let other = fixture.connection(bus, address: agent, pair: fixture.agentPair)
        _ = try await one.start()
        _ = try await other.start()
        let third = fixture.connection(bus, address: tool, pair: fixture.operatorPair)
        async let welcome = third.start()
        let (_, refused) = try await fixture.recorded(Refused.self)
        #expect(refused.reason == "too-many-peers")
        #expect(refused.claimed == tool.text)
        _ = try await one.request(Ping(), to: .messageBus)
        await other.leave()
        #expect(try await welcome == 1)
        await third.leave()
        await one.leave()
      }
    }
  }
}

@Suite struct `Limits of the routing` {
  @Test func `a registered peer that sends hello again does not exceed the peer limit`() throws {
    var fixture = try RoutingFixture.running()
    fixture.routing.peerLimit = 2
    try fixture.hello(tool, on: 3, key: operatorKey)
    #expect(fixture.lastTypes == ["bus.refused"])
    #expect(fixture.routing.registrations[tool] == nil)
    try fixture.hello(agent, on: 4, key: agentKey)
    #expect(fixture.lastTypes.contains("peer.hello/ok"))
    fixture.lose(4)
    try fixture.hello(tool, on: 3, key: operatorKey)
    #expect(fixture.lastTypes.contains("peer.hello/ok"))
  }

  @Test func `the first record of a segment has room for the maximum number of addresses and keys`() throws {
    var fixture = try RoutingFixture.running()
    let name = String(repeating: "w", count: 255 - Address.widgetExtension("iphone", "").text.utf8.count - 4)
    var refusal: BusError?
    for number in 1000..<1000 + Routing<Int>.addressLimit where refusal == nil {
      let key = String(repeating: "k", count: 36) + "\(number)"
      try fixture.register(key, .widgetExtension("iphone", "\(name)\(number)"))
      if fixture.lastTypes.last == "instance.register/failed" { refusal = try fixture.lastBody(BusError.self, at: 1) }
    }
    #expect(refusal?.code.rawValue == "too-many-addresses")
    for number in 1000..<1000 + KeyTable.revokedLimit {
      fixture.routing.keys.revoke(String(repeating: "r", count: 36) + "\(number)")
    }
    for number in 1000..<1000 + KeyTable.registeredLimit.ofAll {
      fixture.routing.keys.register(
        StandingKeyFacts(
          pattern: AddressPattern("device/\(String(repeating: "d", count: 240))/agent/1"),
          publicKey: String(repeating: "s", count: 36) + "\(number)", since: .now, hasSentHello: false))
    }
    fixture.perform([.record(fixture.routing.started())])
    let started = try fixture.lastBody(BusStarted.self)
    #expect(started.registrations.count == Routing<Int>.addressLimit)
    #expect(started.revoked.count == KeyTable.revokedLimit && started.keys.count == KeyTable.registeredLimit.ofAll)
  }
  /// The address and the key of an extension by number.
  private func numbered(_ number: Int) -> (address: Address, key: String) {
    (.widgetExtension("iphone", "com.example.W\(number)"), String(repeating: "k", count: 36) + "\(number)")
  }

  /// Registers a process instance of each address, and retires it.
  ///
  /// - Returns: the generations.
  private func runOnce(_ numbers: Range<Int>, _ fixture: inout RoutingFixture) throws -> [UInt32] {
    try numbers.map { number in
      let (address, key) = numbered(number)
      try fixture.register(key, address)
      let reply = try #require(fixture.last.last)
      let generation = try BodyCoding.decode(RegisterInstance.Reply.self, from: reply.body).generation
      try retire(address, generation: generation, fixture: &fixture)
      return generation
    }
  }

  private func retire(_ address: Address, generation: UInt32, fixture: inout RoutingFixture) throws {
    try fixture.send(
      RetireInstance(address: address, generation: generation), from: agent, to: .messageBus, on: 2)
    #expect(fixture.lastTypes.last == "instance.retire/ok")
  }

  @Test func `a new address takes the place of the process instance that ended first`() throws {
    var fixture = try RoutingFixture.running()
    try fixture.register()
    let limit = Routing<Int>.addressLimit
    _ = try runOnce(1000..<1100 + limit, &fixture)
    let knownRegistrations = fixture.routing.registrations
    #expect(knownRegistrations.count == limit)
    #expect(
      knownRegistrations[widget]?.isRetired == false && knownRegistrations[host] != nil
        && knownRegistrations[agent] != nil)
    #expect(
      knownRegistrations[numbered(1000).address] == nil
        && knownRegistrations[numbered(1099 + limit).address]?.isRetired == true)
    // The agent repeats a request whose reply was lost.
    try retire(numbered(1000).address, generation: 1, fixture: &fixture)
    fixture.perform([.record(fixture.routing.started())])
    #expect(try fixture.lastBody(BusStarted.self).registrations.count == limit)
  }

  @Test(arguments: [false, true])
  func `a later process instance of a dropped address has a higher generation, also at the next broker`(
    isRecorded: Bool
  ) throws {
    var fixture = try RoutingFixture.running()
    let limit = Routing<Int>.addressLimit
    #expect(try runOnce(1000..<1001, &fixture) == [1])
    try fixture.register(String(repeating: "z", count: 40), numbered(1000).address)
    try retire(numbered(1000).address, generation: 2, fixture: &fixture)
    _ = try runOnce(1001..<1100 + limit, &fixture)
    #expect(fixture.routing.registrations[numbered(1000).address] == nil)
    // Without this record, the next broker reads all registrations, which are more than the limit.
    if isRecorded { fixture.perform([.record(fixture.routing.started())]) }
    var recovery = JournalRecovery()
    for envelope in isRecorded ? fixture.last : fixture.recorded { recovery.apply(envelope) }
    var next = RoutingFixture(recovered: recovery)
    #expect(next.routing.registrations.count <= limit)
    for line in [(1, host, hostKey), (2, agent, agentKey)] { try next.hello(line.1, on: line.0, key: line.2) }
    for var routing in [fixture, next] {
      try routing.register(String(repeating: "y", count: 40), numbered(1000).address)
      let reply = try #require(routing.last.last)
      #expect(try BodyCoding.decode(RegisterInstance.Reply.self, from: reply.body).generation == 3)
    }
  }

  @Test func `after the loss of the journal's end every address gets a higher generation than it may have had`() throws
  {
    var recovered = JournalRecovery()
    for address in [host, widget] {
      recovered.registrations[address] = Registration(address: address, generation: 2, incarnation: UUID())
    }
    (recovered.busGeneration, recovered.droppedGeneration) = (100, 100)
    (recovered.lastSequence, recovered.lostFrom) = (5000, 41)
    var fixture = RoutingFixture(recovered: recovered)
    fixture.perform([.record(fixture.routing.started())])
    let started = try fixture.lastBody(BusStarted.self)
    #expect(started.generation == 101 && started.lostFrom == 41 && started.droppedGeneration == 100)
    #expect(fixture.last.first?.header.sequence == 5001)
    for (line, address, key) in [(1, host, hostKey), (2, agent, agentKey)] {
      try fixture.hello(address, on: line, key: key)
      #expect(fixture.routing.registrations[address]?.generation == 101)
    }
    // The instance was lost with the journal, and ends now.
    try retire(widget, generation: 7, fixture: &fixture)
    try fixture.register()
    #expect(fixture.routing.registrations[widget]?.generation == 101)
    #expect(fixture.routing.highestGeneration == 101)
    fixture.perform([.record(fixture.routing.started())])
    #expect(try fixture.lastBody(BusStarted.self).lostFrom == nil, "the loss is recorded once")
  }
}
