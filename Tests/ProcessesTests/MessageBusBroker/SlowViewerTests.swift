// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Journal
import MessageBus
import Messages
import Testing
import ZeroMQ

@testable import MessageBusBroker

/// Tests that need a quiet machine. `scripts/test` runs the suites of this name in sequence, after all other tests.
@Suite(.serialized) enum QuietTests {}

extension QuietTests {
  /// The bus never waits for a viewer.
  // The test sends 24 MB through a broker that was compiled without optimisation.
  @Suite(.timeLimit(.minutes(5))) struct `A slow viewer` {
    private let fixture: BrokerFixture

    init() throws { fixture = try BrokerFixture() }

    @Test func `a slow viewer loses envelopes, finds the gaps by sequence number, and does not block the broker`()
      async throws
    {
      try await fixture.withBroker { try await stall(on: $0) }
    }

    @inline(never)
    private func stall(on bus: BusAnnouncement) async throws {
      let one = fixture.connection(bus, address: host, pair: fixture.hostPair)
      _ = try await one.start()
      let viewer = try RawPeer()
      let keys = fixture.operatorPair
      try await viewer.connect(
        .sub, endpoint: bus.tap, curve: .client(keys, serverPublicKey: bus.publicKey), receiveHighWaterMark: 16)
      // A subscription takes effect when its message has arrived.
      let talking = Task {
        while !Task.isCancelled { _ = try await one.request(Ping(), to: .messageBus) }
      }
      var seen = [try await viewer.next(Ping.kind).header.sequence]
      talking.cancel()
      _ = await talking.result
      await viewer.listen(false)
      // The viewer reads nothing before this has ended. A broker that waited for the viewer would hang here.
      try await burst(one)

      await viewer.listen(true)
      let ended = Task {
        // Envelopes are lost until the viewer's queue has room again.
        while !Task.isCancelled { _ = try await one.request(Ping(), to: .messageBus) }
      }
      let last = try #require(try fixture.reader.read().last?.header.sequence)
      for await frame in viewer.received {
        seen.append(try Envelope(decoding: frame).header.sequence)
        if seen.last ?? 0 > last { break }
      }
      ended.cancel()
      _ = await ended.result
      expectGap(seen, try fixture.reader.read().map(\.header.sequence))
      await one.leave()
      await viewer.stop()
    }

    /// Checks that the journal has all sequence numbers that the viewer missed.
    private func expectGap(_ seen: [UInt64], _ journal: [UInt64]) {
      #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 }, "in order, and none repeated")
      let lost = zip(seen, seen.dropFirst()).filter { $1 > $0 + 1 }.flatMap { Array($0 + 1..<$1) }
      #expect(!lost.isEmpty)
      #expect(Set(lost).isSubset(of: journal))
      let span = journal.drop { $0 < seen[0] }.prefix { $0 <= seen[seen.count - 1] }
      #expect(lost.count + seen.count == span.count)
    }

    /// Sends 24 MB; returns when they are in the journal.
    private func burst(_ one: Connection) async throws {
      let notice = TransferProgress(
        owner: .widgetExtension("phone", "com.example.Widget"), session: "figures", taskIdentifier: 1, step: .started,
        bytes: 0, detail: String(repeating: "x", count: 8000))
      for _ in 0..<30 {
        for _ in 0..<100 { one.record(notice) }
        _ = try await one.request(Ping(), to: .messageBus)
      }
    }
  }
}
