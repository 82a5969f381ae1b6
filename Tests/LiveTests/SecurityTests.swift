import Cluster
import Conversations
import Foundation
import MessageBus
import Testing
import WidgetLabTesting
import ZeroMQ

/// Who may speak on the bus of real processes.
@Suite(.live, .timeLimit(.live)) struct `the bus believes keys and not words` {
  @Test func `an unknown key is turned away, and that stands in the journal`() async throws {
    try await Trial.run("unknown key") { trial in
      let keys = try CurveKeyPair.generate()
      let stranger = connection(to: trial, as: Trial.host, with: keys)
      let welcome = Task { try await stranger.start() }
      let away = try await trial.journal.waitFor("the stranger was turned away") {
        $0.reading(TurnedAway.self)?.publicKey == keys.publicKey
      }
      #expect(away.reading(TurnedAway.self)?.reason == "unknown-key")
      #expect(await stranger.generation == 0)
      welcome.cancel()
      await #expect(throws: BusError.self) { try await welcome.value }
      await stranger.leave()
      // The real host does not notice.
      #expect(try await trial.cluster.attempt(["ping", "host"]).status == 0)
    }
  }

  /// An app's key exists for a life only, so the test plays an agent: with an agent's standing key it registers a life of
  /// an app, and then speaks with that life's key as the extension.
  @Test func `the app's key speaking as the extension is refused, and that stands in the journal`() async throws {
    try await Trial.run("app as extension") { trial in
      let agent = try await agentOfTheTest(trial)
      let app = Address.app(Trial.device, "com.example.Impostor")
      let keys = try CurveKeyPair.generate()
      _ = try await agent.request(RegisterLife(address: app, publicKey: keys.publicKey), to: .messageBus)

      let honest = connection(to: trial, as: app, with: keys)
      #expect(try await honest.start() == 1)
      await honest.leave()

      let impostor = connection(to: trial, as: Trial.widgetExtension, with: keys)
      let welcome = Task { try await impostor.start() }
      let refusal = try await trial.journal.waitFor("the impostor was refused") {
        $0.reading(Refused.self)?.claimed == Trial.widgetExtension.text
      }
      #expect(refusal.reading(Refused.self)?.reason == "role-mismatch")
      #expect(refusal.reading(Refused.self)?.keyOwner.hasPrefix(app.text) == true)
      #expect(await impostor.generation == 0)
      welcome.cancel()
      _ = await welcome.result
      await impostor.leave()
      await agent.leave()
      let spoken = try await trial.journal.all().filter { $0.envelope.header.source == Trial.widgetExtension }
      #expect(spoken.isEmpty, "the extension was never launched, and nobody else spoke for it")
    }
  }

  /// A second agent, whose key a new broker reads: agent 1 is the cluster's own.
  private func agentOfTheTest(_ trial: Trial) async throws -> Connection {
    let product = "  - bundle: com.example.Elsewhere\n    executable: nothing\n    agent: 2\n"
    let yaml = Trial.configuration.replacing("apps:\n", with: "apps:\n" + product)
    try StandingKey.makeAll(for: try ClusterConfiguration(yaml: yaml), in: trial.cluster.instance)
    try await trial.kill("bus")
    try await trial.journal.waitFor("a broker that knows the new key") { $0.reading(BusStarted.self)?.generation == 2 }
    return try await connect(
      as: .agent(2), address: .agent(Trial.device, 2), instance: trial.cluster.instance, within: LabTimeout.usual)
  }

  private func connection(to trial: Trial, as address: Address, with keys: CurveKeyPair) -> Connection {
    Connection.zeroMQ(
      address: address, endpoint: trial.cluster.ready.endpoint, serverKey: trial.cluster.ready.publicKey, keys: keys,
      heartbeats: false)
  }
}
