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
        let one = fixture.connection(bus, host, fixture.hostPair)
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
        let one = fixture.connection(bus, host, fixture.hostPair)
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
        let one = fixture.connection(bus, host, fixture.hostPair)
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
        let other = fixture.connection(bus, agent, fixture.agentPair)
        #expect(try await other.start() == 1)
        await one.leave()
        await other.leave()
      }
    }

    @Test func `a peer above the peer limit is refused, and admitted when another peer has left`() async throws {
      try await fixture.withBroker({ $0.peerLimit = 2 }) { bus in
        let one = fixture.connection(bus, host, fixture.hostPair)
        let other = fixture.connection(bus, agent, fixture.agentPair)
        _ = try await one.start()
        _ = try await other.start()
        let third = fixture.connection(bus, tool, fixture.operatorPair)
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
}
