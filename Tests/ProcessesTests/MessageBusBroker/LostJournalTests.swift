// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Journal
import MessageBus
import Messages
import Testing
import ZeroMQ

@testable import MessageBusBroker

@Suite(.timeLimit(.minutes(1))) struct `A broker whose journal was lost` {
  @Test func `rejects instances that it does not know, and gives higher generations`() async throws {
    let fixture = try BrokerFixture()
    let instance = try CurveKeyPair.generate()
    let (rejections, rejected) = AsyncStream.makeStream(of: BusError.self)
    let (agentConnection, child) = try await fixture.withBroker { bus in
      let one = fixture.connection(bus, address: agent, pair: fixture.agentPair)
      #expect(try await one.start() == 1)
      _ = try await one.request(RegisterInstance(address: widget, publicKey: instance.publicKey), to: .messageBus)
      let connection = fixture.connection(bus, address: widget, pair: instance)
      connection.onTurnedAway { rejected.yield($0) }
      #expect(try await connection.start() == 1)
      return (one, connection)
    }
    try FileManager.default.removeItem(atPath: fixture.instance.journal)
    try await fixture.withBroker { bus in
      for await error in rejections {
        #expect(error.code == .refused, "the process learns that it must end: \(error)")
        break
      }
      let again = try await agentConnection.request(
        RegisterInstance(address: widget, publicKey: try CurveKeyPair.generate().publicKey), to: .messageBus,
        whenUnreachable: .wait)
      #expect(again.generation > 1)
      await agentConnection.leave()
      await child.leave()
    }
    let all = try fixture.reader.read()
    let started = try #require(all.first.flatMap { try? BodyCoding.decode(BusStarted.self, from: $0.body) })
    #expect(started.lostFrom == 1 && started.generation > 1)
    #expect(all.allSatisfy { $0.header.sourceGeneration > 1 })
  }
}
