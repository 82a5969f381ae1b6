import Conversations
import Foundation
import Testing

@testable import MessageBusBroker

/// Every role that has a key says every kind and every answer to every role, through the routing as the broker uses it.
@Suite struct `the whole table of conversations in the routing` {
  private static let provider = (address: Address.provider, key: String(repeating: "p", count: 40))
  private static let pushServer = (address: Address.pushServer, key: String(repeating: "s", count: 40))
  private static let watcher = (address: Address.watcher("5"), key: String(repeating: "w", count: 40))
  /// Who speaks on which connection: its place here plus one.
  private static let speakers: [(address: Address, key: String)] = [
    (host, hostKey), (agent, agentKey), (tool, operatorKey), (widget, lifeKey), (app, nextLifeKey), provider,
    pushServer, watcher,
  ]

  /// All eight are connected.
  private func everybody() throws -> RoutingFixture {
    var fixture = RoutingFixture()
    let patterns = Self.speakers.filter { $0.address != widget && $0.address != app }.map {
      ($0.key, $0.address.role.isPassing ? AddressPattern("\($0.address.role.rawValue)/*") : AddressPattern($0.address))
    }
    fixture.routing.setStanding(RoutingFixture.facts(Dictionary(uniqueKeysWithValues: patterns)))
    for (index, speaker) in Self.speakers.enumerated() {
      if speaker.address == widget {
        try fixture.register(lifeKey, widget)
        try fixture.register(nextLifeKey, app)
      }
      try fixture.hello(speaker.address, on: index + 1, key: speaker.key)
    }
    return fixture
  }

  @Test
  func `what the table allows is recorded and reaches its destination, and the rest only its sender as a refusal`()
    throws
  {
    let everybody = try everybody()
    let destinations = Self.speakers.map(\.address) + [.messageBus, .journal]
    var (allowed, refused) = (0, 0)
    for entry in ConversationTable.all {
      for kind in [entry.kind] + Kind.Answer.allCases.map({ entry.kind.answered($0) }) {
        for (index, speaker) in Self.speakers.enumerated() {
          for destination in destinations {
            let header = EnvelopeHeader(kind: kind, source: speaker.address, destination: destination)
            var fixture = everybody
            fixture.receive(try Envelope(header: header).encoded(), on: index + 1, key: speaker.key)
            let heard = fixture.forwarded.dropFirst(everybody.forwarded.count)
            if ConversationTable.refusal(of: header) == nil {
              allowed += 1
              checkAllowed(header, fixture, Array(heard))
            } else {
              refused += 1
              #expect(fixture.lastKinds == ["bus.refused"], "\(kind) from \(speaker.address) to \(destination)")
              #expect(heard.map(\.line) == [index + 1], "only the sender hears: \(kind) to \(destination)")
              #expect(heard.first?.envelope.header.cause == header.id)
              #expect(try fixture.lastBody(Refused.self).reason == "not-in-table")
            }
          }
        }
      }
    }
    #expect(allowed > 100 && allowed + refused == ConversationTable.all.count * 4 * 8 * 10)
  }

  private func checkAllowed(
    _ header: EnvelopeHeader, _ fixture: RoutingFixture, _ heard: [(line: Int, envelope: Envelope)]
  ) {
    let what = "\(header.kind) from \(header.source) to \(header.destination)"
    #expect(fixture.last.first?.header.id == header.id, "\(what) is recorded")
    #expect(!fixture.lastKinds.contains("bus.refused"), "\(what)")
    let itself = heard.filter { $0.envelope.header.id == header.id }.map(\.line)
    switch header.destination {
    case .messageBus, .journal: #expect(itself.isEmpty, "\(what)")
    default:
      let line = Self.speakers.firstIndex { $0.address == header.destination }.map { $0 + 1 }
      #expect(itself == [line], "\(what)")
    }
  }
}
