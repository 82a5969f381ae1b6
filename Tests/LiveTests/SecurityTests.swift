// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import MessageBus
import Messages
import Testing
import WidgetLabTesting
import ZeroMQ

/// Authentication on the bus of real processes.
@Suite(.live, .timeLimit(.live)) struct `Authentication on the bus` {
  @Test func `the broker refuses an unknown key and records it in the journal`() async throws {
    try await LiveFixture.run("unknown key") { fixture in
      let keys = try CurveKeyPair.generate()
      let stranger = connection(to: fixture, as: LiveFixture.host, with: keys)
      let welcome = Task { try await stranger.start() }
      let away = try await fixture.journal.waitFor("the unknown key is refused") {
        $0.reading(AuthenticationFailed.self)?.publicKey == keys.publicKey
      }
      #expect(away.reading(AuthenticationFailed.self)?.reason == "unknown-key")
      #expect(await stranger.generation == 0)
      welcome.cancel()
      await #expect(throws: BusError.self) { try await welcome.value }
      await stranger.leave()
      // The real host is not affected.
      #expect(try await fixture.cluster.attempt(["ping", "host"]).status == 0)
    }
  }

  /// An app's key is valid for one process instance, so the test acts as an agent: it registers an app's process with
  /// an agent's standing key, and then connects as the extension with that process's key.
  @Test
  func `the broker refuses an app's key that claims to be the extension, and records it in the journal`() async throws {
    try await LiveFixture.run("app as extension") { fixture in
      let agent = try await agentOfTheTest(fixture)
      let app = Address.app(LiveFixture.device, "com.example.Impostor")
      let keys = try CurveKeyPair.generate()
      _ = try await agent.request(RegisterInstance(address: app, publicKey: keys.publicKey), to: .messageBus)

      let honest = connection(to: fixture, as: app, with: keys)
      #expect(try await honest.start() == 1)
      await honest.leave()

      let impostor = connection(to: fixture, as: LiveFixture.widgetExtension, with: keys)
      let welcome = Task { try await impostor.start() }
      let refusal = try await fixture.journal.waitFor("the impostor is refused") {
        $0.reading(Refused.self)?.claimed == LiveFixture.widgetExtension.text
      }
      #expect(refusal.reading(Refused.self)?.reason == "role-mismatch")
      #expect(refusal.reading(Refused.self)?.keyOwner.hasPrefix(app.text) == true)
      #expect(await impostor.generation == 0)
      welcome.cancel()
      _ = await welcome.result
      await impostor.leave()
      await agent.leave()
      let spoken = try await fixture.journal.all().filter { $0.envelope.header.source == LiveFixture.widgetExtension }
      #expect(spoken.isEmpty, "the extension was never launched, and no other process sent in its name")
    }
  }

  /// Connects as a second agent, whose key the restarted broker reads; agent 1 is the cluster's.
  private func agentOfTheTest(_ fixture: LiveFixture) async throws -> Connection {
    let product = "  - bundle: com.example.Elsewhere\n    executable: nothing\n    agent: 2\n"
    let yaml = LiveFixture.configuration.replacing("apps:\n", with: "apps:\n" + product)
    try StandingKey.makeAll(for: try ClusterConfiguration(yaml: yaml), in: fixture.cluster.instance)
    try await fixture.kill("bus")
    try await fixture.journal.waitFor("a broker that has the new key") { $0.reading(BusStarted.self)?.generation == 2 }
    return try await connect(
      as: .agent(2), address: .agent(LiveFixture.device, 2), instance: fixture.cluster.instance,
      within: LabTimeout.usual)
  }

  private func connection(to fixture: LiveFixture, as address: Address, with keys: CurveKeyPair) -> Connection {
    Connection.zeroMQ(
      address: address, endpoint: fixture.cluster.ready.endpoint, serverKey: fixture.cluster.ready.publicKey,
      keys: keys,
      heartbeats: false)
  }
}
