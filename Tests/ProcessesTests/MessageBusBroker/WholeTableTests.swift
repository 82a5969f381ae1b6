// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@testable import MessageBusBroker

/// Each role that has a key sends each message type and each reply to each role, through the broker's routing.
@Suite struct `The message table in the routing` {
  private static let provider = (address: Address.provider, key: String(repeating: "p", count: 40))
  private static let pushServer = (address: Address.pushServer, key: String(repeating: "s", count: 40))
  private static let watcher = (address: Address.watcher("5"), key: String(repeating: "w", count: 40))
  /// The senders. The number of a connection is the index of its sender plus 1.
  private static let speakers: [(address: Address, key: String)] = [
    (host, hostKey), (agent, agentKey), (tool, operatorKey), (widget, instanceKey), (app, nextInstanceKey), provider,
    pushServer, watcher,
  ]

  /// Returns a fixture in which all eight senders are connected.
  private func everyPeer() throws -> RoutingFixture {
    var fixture = RoutingFixture()
    let patterns = Self.speakers.filter { $0.address != widget && $0.address != app }.map {
      ($0.key, $0.address.role.isPassing ? AddressPattern("\($0.address.role.rawValue)/*") : AddressPattern($0.address))
    }
    fixture.routing.setStanding(RoutingFixture.facts(Dictionary(uniqueKeysWithValues: patterns)))
    for (index, speaker) in Self.speakers.enumerated() {
      if speaker.address == widget {
        try fixture.register(instanceKey, widget)
        try fixture.register(nextInstanceKey, app)
      }
      try fixture.hello(speaker.address, on: index + 1, key: speaker.key)
    }
    return fixture
  }

  @Test
  func `a message that the table allows is recorded and forwarded, and any other is refused to its sender`() throws {
    let everyPeer = try everyPeer()
    let destinations = Self.speakers.map(\.address) + [.messageBus, .journal]
    var (allowed, refused) = (0, 0)
    for entry in MessageTable.all {
      for kind in [entry.kind] + Kind.Answer.allCases.map({ entry.kind.answered($0) }) {
        for (index, speaker) in Self.speakers.enumerated() {
          for destination in destinations {
            let header = EnvelopeHeader(kind: kind, source: speaker.address, destination: destination)
            var fixture = everyPeer
            fixture.receive(try Envelope(header: header).encoded(), on: index + 1, key: speaker.key)
            let received = fixture.forwarded.dropFirst(everyPeer.forwarded.count)
            if MessageTable.refusal(of: header) == nil {
              allowed += 1
              checkAllowed(header, fixture: fixture, received: Array(received))
            } else {
              refused += 1
              #expect(fixture.lastTypes == ["bus.refused"], "\(kind) from \(speaker.address) to \(destination)")
              #expect(received.map(\.line) == [index + 1], "refusal to the sender only: \(kind) to \(destination)")
              #expect(received.first?.envelope.header.cause == header.id)
              #expect(try fixture.lastBody(Refused.self).reason == "not-in-table")
            }
          }
        }
      }
    }
    #expect(allowed > 100 && allowed + refused == MessageTable.all.count * 4 * 8 * 10)
  }

  private func checkAllowed(
    _ header: EnvelopeHeader, fixture: RoutingFixture, received: [(line: Int, envelope: Envelope)]
  ) {
    let what = "\(header.kind) from \(header.source) to \(header.destination)"
    #expect(fixture.last.first?.header.id == header.id, "\(what) is recorded")
    #expect(!fixture.lastTypes.contains("bus.refused"), "\(what)")
    let itself = received.filter { $0.envelope.header.id == header.id }.map(\.line)
    switch header.destination {
    case .messageBus, .journal: #expect(itself.isEmpty, "\(what)")
    default:
      let line = Self.speakers.firstIndex { $0.address == header.destination }.map { $0 + 1 }
      #expect(itself == [line], "\(what)")
    }
  }
}
