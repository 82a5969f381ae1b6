// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import MessageBusBroker

extension RouteCache {
  fileprivate func route(ofFrame frame: [UInt8], on line: Line) -> Route? {
    frame.withUnsafeBytes { route(of: $0, on: line) }
  }

  fileprivate mutating func insert(_ route: Route, ofFrame frame: [UInt8]) {
    frame.withUnsafeBytes { insert(route, of: $0) }
  }
}

@Suite struct `The cache of routes` {
  private static let route = RouteCache<Int>.Route(
    line: 1, sourceGeneration: 3, destination: 2, destinationGeneration: 4)

  private func frame(_ kind: Kind = ListProcesses.kind, to destination: Address = agent) throws -> [UInt8] {
    try Envelope(header: EnvelopeHeader(kind: kind, source: host, destination: destination)).encoded()
  }

  @Test func `a route is found for the same connection, kind and addresses`() throws {
    var cache = RouteCache<Int>()
    #expect(try cache.route(ofFrame: frame(), on: 1) == nil)
    cache.insert(Self.route, ofFrame: try frame())
    let found = try #require(try cache.route(ofFrame: frame(), on: 1))
    #expect(found == Self.route)
    #expect(try cache.route(ofFrame: frame(), on: 2) == nil)
    #expect(try cache.route(ofFrame: frame(Ping.kind), on: 1) == nil)
    #expect(try cache.route(ofFrame: frame(to: .agent("iphone", 2)), on: 1) == nil)
  }

  @Test func `no route is found after all were forgotten`() throws {
    var cache = RouteCache<Int>()
    cache.insert(Self.route, ofFrame: try frame())
    cache.forgetAll()
    #expect(try cache.route(ofFrame: frame(), on: 1) == nil)
    cache.insert(Self.route, ofFrame: try frame())
    #expect(try cache.route(ofFrame: frame(), on: 1) != nil)
  }

  @Test func `more routes than there are places replace each other`() throws {
    var cache = RouteCache<Int>()
    let count = 3 * RouteCache<Int>.capacity
    for number in 0..<count { cache.insert(Self.route, ofFrame: try frame(to: .agent("iphone", number))) }
    var foundCount = 0
    for number in 0..<count {
      let route = cache.route(ofFrame: try frame(to: .agent("iphone", number)), on: 1)
      foundCount += route == nil ? 0 : 1
    }
    #expect(foundCount <= RouteCache<Int>.capacity)
    #expect(foundCount > RouteCache<Int>.capacity / 2, "the places are used evenly")
    #expect(try cache.route(ofFrame: frame(to: .agent("iphone", count - 1)), on: 1) != nil)
  }
}

/// The second envelope of a kind is not judged again, and must have the same effect. The fixture passes each frame to
/// the routing as the broker does.
@Suite struct `A known route` {
  @Test func `the same envelope is stamped, recorded and forwarded each time`() throws {
    var fixture = try RoutingFixture.running()
    for _ in 0..<3 {
      let before = fixture.routing.sequence
      let sent = try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
      #expect(fixture.last.map(\.header.id) == [sent.id])
      #expect(fixture.last.map(\.header.sequence) == [before + 1])
      #expect(fixture.last.map(\.header.sourceGeneration) == [1])
      #expect(fixture.last.map(\.header.destinationGeneration) == [1])
      #expect(fixture.sent(to: 2, after: before) == fixture.last)
    }
    #expect(fixture.passedCount == 2)
  }

  @Test func `a notice to the journal is recorded each time and never forwarded`() throws {
    var fixture = try RoutingFixture.running()
    let count = fixture.forwarded.count
    let state = ProcessState(address: widget, generation: 1, state: "running", why: "a test")
    for _ in 0..<3 {
      try fixture.send(state, from: host, to: .journal, on: 1)
      #expect(fixture.lastTypes == ["process.state"])
      #expect(fixture.last.map(\.header.sourceGeneration) == [1])
    }
    #expect(fixture.forwarded.count == count)
    #expect(fixture.passedCount == 2)
  }

  @Test func `the same bytes on the connection of another key are refused`() throws {
    var fixture = try RoutingFixture.running()
    for _ in 0..<2 { try fixture.send(ListProcesses(), from: host, to: agent, on: 1) }
    try fixture.send(ListProcesses(), from: host, to: agent, on: 2)
    #expect(fixture.lastTypes == ["bus.refused"])
    #expect(try fixture.lastBody(Refused.self).reason == "role-mismatch")
    try fixture.send(ListProcesses(), from: host, to: agent, on: 9, key: instanceKey)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    #expect(fixture.passedCount == 1)
  }

  @Test func `a destination that has left gets nothing, and gets everything after its return`() throws {
    var fixture = try RoutingFixture.running()
    for _ in 0..<2 { try fixture.send(ListProcesses(), from: host, to: agent, on: 1) }
    fixture.lose(2)
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    #expect(fixture.lastTypes == ["process.list", "bus.undelivered"])
    try fixture.hello(agent, on: 7, key: agentKey)
    for _ in 0..<2 {
      try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
      #expect(fixture.forwarded.last?.line == 7)
      #expect(fixture.last.map(\.header.destinationGeneration) == [2])
    }
  }

  @Test func `the envelopes of a process that was replaced are refused`() throws {
    var fixture = try RoutingFixture.running()
    for _ in 0..<2 { try fixture.send(ListProcesses(), from: host, to: agent, on: 1) }
    try fixture.hello(host, on: 5, key: hostKey)
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    #expect(try fixture.lastBody(Refused.self).reason == "not-registered")
    try fixture.send(ListProcesses(), from: host, to: agent, on: 5)
    #expect(fixture.last.map(\.header.sourceGeneration) == [2])
  }

  @Test func `a connection that sent too many malformed frames is not received`() throws {
    var fixture = try RoutingFixture.running()
    for _ in 0..<2 { try fixture.send(ListProcesses(), from: host, to: agent, on: 1) }
    for _ in 0..<Routing<Int>.malformedFrameLimit { fixture.receive([1], on: 1, key: hostKey) }
    try fixture.send(ListProcesses(), from: host, to: agent, on: 1)
    #expect(fixture.last.isEmpty)
  }

  @Test func `an oversize body is refused although its route is known`() throws {
    var fixture = try RoutingFixture.running()
    for _ in 0..<2 { try fixture.send(ListProcesses(), from: host, to: agent, on: 1) }
    let header = EnvelopeHeader(kind: ListProcesses.kind, source: host, destination: agent)
    var frame = try Envelope(header: header).encoded()
    frame[110] = 0xff
    fixture.receive(frame, on: 1, key: hostKey)
    #expect(try fixture.lastBody(Refused.self).reason == "body-too-large")
  }
}

@Suite struct `The interest in presence` {
  private let senders = (0..<20).map { Address.agent("iphone", $0) }

  @Test func `listeners are in the order of their first envelopes, each once`() {
    var interest = Interest()
    let reversed = Array(senders.reversed())
    for sender in reversed + senders { interest.note(sender, in: host) }
    #expect(interest.listeners(of: host) == reversed)
    #expect(interest.listeners(of: agent).isEmpty)
  }

  @Test func `no more than the limit are noted, and a forgotten one makes room`() {
    var interest = Interest()
    for number in 0...Interest.limit { interest.note(.operator("\(number)"), in: host) }
    #expect(interest.listeners(of: host).count == Interest.limit)
    #expect(interest.listeners(of: host).last == Address.operator("\(Interest.limit - 1)"))
    interest.forget(.operator("0"))
    interest.note(.operator("\(Interest.limit)"), in: host)
    #expect(interest.listeners(of: host).first == Address.operator("1"))
    #expect(interest.listeners(of: host).last == Address.operator("\(Interest.limit)"))
  }

  @Test func `an address that is forgotten has no listeners and listens to nothing`() {
    var interest = Interest()
    interest.note(host, in: agent)
    interest.note(tool, in: agent)
    interest.note(agent, in: host)
    interest.forget(host)
    #expect(interest.listeners(of: agent) == [tool])
    #expect(interest.listeners(of: host).isEmpty)
    interest.note(host, in: agent)
    #expect(interest.listeners(of: agent) == [tool, host])
  }
}
