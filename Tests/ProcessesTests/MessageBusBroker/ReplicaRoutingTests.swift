// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import Messages
import Testing

@testable import MessageBusBroker

/// What is sent to an address that several replicas share.
@Suite struct `Replicas on the bus` {
  private static let replicaKey = String(repeating: "p", count: 40)
  private static let (first, second) = (Address.pushServer("1"), Address.pushServer("2"))

  private func fixture() throws -> RoutingFixture {
    var fixture = RoutingFixture()
    fixture.routing.setStanding(
      RoutingFixture.facts([
        hostKey: AddressPattern(host), Self.replicaKey: .pushServers, operatorKey: AddressPattern("operator/*"),
      ]))
    try fixture.hello(host, on: 1, key: hostKey)
    return fixture
  }

  private func report(_ fixture: inout RoutingFixture) throws -> Int? {
    let sent = try fixture.send(DeviceReach(isOnline: true, isAwake: true), from: host, to: .pushServer, on: 1)
    return fixture.forwarded.last { $0.envelope.header.id == sent.id }?.line
  }

  private func presences(_ fixture: RoutingFixture, of address: Address, after count: Int) throws -> [Bool] {
    try fixture.sent(to: 1).dropFirst(count).filter { $0.header.kind == Presence.kind }
      .map { try BodyCoding.decode(Presence.self, from: $0.body) }
      .filter { $0.address == address }.map(\.isPresent)
  }

  @Test func `a sender stays with one replica, and other senders get the others`() throws {
    var fixture = try fixture()
    try fixture.hello(Self.first, on: 11, key: Self.replicaKey)
    try fixture.hello(Self.second, on: 12, key: Self.replicaKey)
    try fixture.hello(tool, on: 3, key: operatorKey)
    for _ in 0..<3 { #expect(try report(&fixture) == 11) }
    let asked = try fixture.send(ListPushes(), from: tool, to: .pushServer, on: 3)
    #expect(fixture.forwarded.last { $0.envelope.header.id == asked.id }?.line == 12)
  }

  @Test func `the senders of a replica that disconnects move to another one, and are notified`() throws {
    var fixture = try fixture()
    try fixture.hello(Self.first, on: 11, key: Self.replicaKey)
    try fixture.hello(Self.second, on: 12, key: Self.replicaKey)
    #expect(try report(&fixture) == 11)
    let before = fixture.sent(to: 1).count
    fixture.lose(11)
    #expect(try presences(fixture, of: .pushServer, after: before) == [false, true])
    #expect(try report(&fixture) == 12)
    // Its return changes nothing for them.
    try fixture.hello(Self.first, on: 13, key: Self.replicaKey)
    #expect(try report(&fixture) == 12)
  }

  @Test func `without a replica nothing is delivered, and the first one that connects is announced`() throws {
    var fixture = try fixture()
    #expect(try report(&fixture) == nil)
    #expect(fixture.lastTypes.contains("bus.undelivered"))
    let before = fixture.sent(to: 1).count
    try fixture.hello(Self.second, on: 12, key: Self.replicaKey)
    #expect(try presences(fixture, of: .pushServer, after: before) == [true])
    #expect(try report(&fixture) == 12)
    let later = fixture.sent(to: 1).count
    fixture.lose(12)
    #expect(try presences(fixture, of: .pushServer, after: later) == [false])
  }

  @Test func `a device that has acknowledged something to a replica is notified when that disconnects`() throws {
    var fixture = try fixture()
    try fixture.hello(Self.first, on: 11, key: Self.replicaKey)
    try fixture.hello(Self.second, on: 12, key: Self.replicaKey)
    // This broker is new: it knows the device only by what it sends to its replica.
    try fixture.send(Ping(), from: host, to: Self.second, on: 1)
    let before = fixture.sent(to: 1).count
    fixture.lose(12)
    #expect(try presences(fixture, of: .pushServer, after: before) == [false, true])
    #expect(try report(&fixture) == 11)
  }

  @Test func `the senders of a replica that has lost its database move to one that has it`() throws {
    var fixture = try fixture()
    try fixture.hello(Self.first, on: 11, key: Self.replicaKey)
    try fixture.hello(Self.second, on: 12, key: Self.replicaKey)
    #expect(try report(&fixture) == 11)
    let before = fixture.sent(to: 1).count
    try fixture.send(ReplicaReadiness(isReady: false), from: Self.first, to: .messageBus, on: 11)
    #expect(try presences(fixture, of: .pushServer, after: before) == [false, true])
    #expect(try report(&fixture) == 12)
    // It has no senders, so its next notice changes nothing; nor does that of the last one.
    let later = fixture.sent(to: 1).count
    try fixture.send(ReplicaReadiness(isReady: false), from: Self.first, to: .messageBus, on: 11)
    try fixture.send(ReplicaReadiness(isReady: false), from: Self.second, to: .messageBus, on: 12)
    #expect(try presences(fixture, of: .pushServer, after: later).isEmpty)
    #expect(try report(&fixture) == 12)
    // The first one that has its database again gets them.
    try fixture.send(ReplicaReadiness(isReady: true), from: Self.first, to: .messageBus, on: 11)
    #expect(try presences(fixture, of: .pushServer, after: later) == [false, true])
    #expect(try report(&fixture) == 11)
    try fixture.send(ReplicaReadiness(isReady: true), from: Self.second, to: .messageBus, on: 12)
    #expect(try report(&fixture) == 11)
  }

  @Test func `a process at the address itself gets everything`() throws {
    var fixture = RoutingFixture()
    fixture.routing.setStanding(
      RoutingFixture.facts([hostKey: AddressPattern(host), Self.replicaKey: AddressPattern(.pushServer)]))
    try fixture.hello(host, on: 1, key: hostKey)
    try fixture.hello(.pushServer, on: 10, key: Self.replicaKey)
    #expect(try report(&fixture) == 10)
  }
}
