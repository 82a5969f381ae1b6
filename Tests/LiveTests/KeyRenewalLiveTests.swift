// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages
import Testing
import WidgetLabTesting
import ZeroMQ

/// Rotation of standing keys while the cluster runs.
@Suite(.live, .timeLimit(.live)) struct `Key renewal` {
  private static let grace = "bus:\n  keyGrace: 0.5\n"
  private static let holders: [StandingKey.Name] = [.host, .agent(1), .provider, .watcher, .operator]

  @Test
  func `rotating all keys during a download loses nothing, and the broker refuses the former keys`() async throws {
    try await LiveFixture.run("rotate all", with: Self.grace) { fixture in
      let cluster = fixture.cluster
      let formerKeys = try Self.holders.map { try StandingKey.load($0, in: cluster.instance) }
      try await fixture.begin()
      let output = try await cluster.run("keys", "rotate")
      #expect(output.split(separator: "\n").count == 5, "\(output)")
      _ = try await fixture.acknowledged(by: LiveFixture.widgetExtension)
      for key in formerKeys {
        try await fixture.journal.waitFor("the former key of \(key.pattern) is revoked") {
          let change = $0.reading(KeyChanged.self)
          return change?.change == .revoked && change?.key.publicKey == key.publicKey
        }
        try await turnedAway(key, fixture)
      }
      // The running processes are still the same process instances.
      for address in [LiveFixture.host, Address.agent(LiveFixture.device, 1)] {
        let hellos = try await fixture.journal.all().compactMap { $0.reading(RegistrationChanged.self) }
          .filter { $0.registration.address == address && $0.change == .connected }
        #expect(Set(hellos.map(\.registration.generation)) == [1], "\(address)")
      }
      for (holder, key) in zip(Self.holders, formerKeys) {
        let present = try StandingKey.load(holder, in: cluster.instance)
        #expect(present.publicKey != key.publicKey && present.pattern == key.pattern)
      }
      try await checkList(fixture)
      // A restarted broker accepts the new keys, although the files of the known keys are the initial ones.
      try await fixture.kill("bus")
      for name in ["bus", "host", "agent/1"] {
        try await cluster.eventually("\(name) replies") { try await cluster.attempt(["ping", name]).status == 0 }
      }
      for key in formerKeys { try await turnedAway(key, fixture) }
      #expect(try await cluster.run("journal", "verify").contains("sound"))
    }
  }

  private func checkList(_ fixture: LiveFixture) async throws {
    struct Report: Decodable {
      struct Row: Decodable {
        let holder: String
        let publicKey: String
        let since: String?
        let state: String
      }
      let keys: [Row]
    }
    let text = try await fixture.cluster.run("keys", "--json")
    let report = try JSONDecoder().decode(Report.self, from: Data(text.utf8))
    #expect(Set(report.keys.map(\.holder)) == Set((Self.holders + [.messageBus]).map(\.rawValue)))
    for row in report.keys {
      let key = try StandingKey.load(StandingKey.Name(rawValue: row.holder), in: fixture.cluster.instance)
      #expect(row.publicKey == key.publicKey && row.state == "in use" && row.since != nil, "\(row)")
      #expect(!text.contains(key.secretKey))
    }
  }

  /// Connects with a revoked key and checks that the broker refuses it permanently.
  private func turnedAway(_ key: StandingKey, _ fixture: LiveFixture) async throws {
    let address = try #require(Address(key.pattern.text.replacing("*", with: "knocking")))
    let knocking = Connection.zeroMQ(
      address: address, endpoint: fixture.cluster.ready.endpoint, serverKey: fixture.cluster.ready.publicKey,
      keys: key.pair,
      heartbeats: false)
    let refused = await #expect(throws: BusError.self, "\(key.pattern)") { try await knocking.start() }
    #expect(refused?.code == .refused)
    await knocking.leave()
    try await fixture.journal.waitFor("the former key of \(key.pattern) is refused") {
      let away = $0.reading(AuthenticationFailed.self)
      return away?.reason == "revoked-key" && away?.publicKey == key.publicKey
    }
  }

  @Test(arguments: ["host", "bus", "operator"], [RenewKey.kind, RegisterKey.kind, KeyChanged.kind])
  func `a repeated key rotation completes after any participant was killed during the first one`(
    victim: String, after kind: Kind
  ) async throws {
    try await LiveFixture.run("rotation \(victim) \(kind)", with: Self.grace) { fixture in
      let cluster = fixture.cluster
      let formerKey = try StandingKey.load(.host, in: cluster.instance)
      let output = cluster.folder + "/rotation"
      let tool = try await LabChild.start(
        cluster.executables + "/widgetlab", ["keys", "rotate", "--process", "host", "--instance", cluster.folder],
        output: output, errors: output)
      async let ending = tool.ending()
      try await fixture.journal.waitFor("the rotation is at \(kind)") { $0.envelope.header.kind == kind }
      if victim != "operator" {
        kill(try #require(cluster.pid(of: victim == "bus" ? "message-bus" : victim)), SIGKILL)
      }
      if victim != "bus" { tool.signal(SIGKILL) }
      _ = await ending
      try await cluster.eventually("the rotation can be repeated") {
        try await cluster.attempt(["keys", "rotate", "--process", "host"]).status == 0
      }
      try await cluster.eventually("the host replies") { try await cluster.attempt(["ping", "host"]).status == 0 }
      try await fixture.journal.waitFor("the former key is revoked", after: 0) {
        if let started = $0.reading(BusStarted.self) { return started.revoked.contains(formerKey.publicKey) }
        let change = $0.reading(KeyChanged.self)
        return change?.change == .revoked && change?.key.publicKey == formerKey.publicKey
      }
      try await turnedAway(formerKey, fixture)
      #expect(!FileManager.default.fileExists(atPath: cluster.instance.keys + "/host/next.json"))
      try await fixture.begin()
      _ = try await fixture.acknowledged(by: LiveFixture.widgetExtension)
    }
  }

  @Test func `the broker's own key is renewed only while the cluster is down`() async throws {
    try await LiveFixture.run("rotate the bus") { fixture in
      let cluster = fixture.cluster
      let refused = try await cluster.attempt(["keys", "rotate", "--process", "bus"])
      #expect(refused.status == 64)
      #expect(refused.errors.contains("widgetlab down"))
      try await cluster.run("down")
      try await cluster.up.ended()
      let before = try StandingKey.load(.messageBus, in: cluster.instance)
      let output = try await cluster.run("keys", "rotate")
      #expect(output.split(separator: "\n").count == 6)
      #expect(try StandingKey.load(.messageBus, in: cluster.instance).publicKey != before.publicKey)
      #expect(try await cluster.run("keys").contains("made"))
    }
  }
}

/// The key of an author's process.
@Suite(.live, .timeLimit(.live)) struct `The key of a process instance` {
  /// The extension is a script that saves its `LaunchContext`, with the key, for the test and exits.
  @Test func `the broker refuses the key of an ended process instance, also after a broker restart`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "certificate-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let script = folder + "/extension"
    try #require(
      FileManager.default.createFile(
        atPath: script,
        contents: Data("#!/bin/sh\ncat >\"\(folder)/$$\"\nmv \"\(folder)/$$\" \"\(folder)/certificate\"\n".utf8),
        attributes: [.posixPermissions: 0o755]))
    let configuration = LiveFixture.configuration.replacing(
      "executable: FixtureExtension", with: "executable: \(script)")
    try await LabCluster.with("instance key", configuration: configuration) { cluster in
      // The command fails, because the extension exits before it is ready.
      _ = try await cluster.attempt(["reload", "--all"])
      let retired = try await cluster.journal.waitFor("a process instance is retired") {
        $0.reading(RegistrationChanged.self)?.change == .retired
      }
      let file = try #require(FileManager.default.contents(atPath: folder + "/certificate"))
      let certificate = try #require(LaunchContext(line: Array(file)))
      #expect(certificate.address == LiveFixture.widgetExtension)
      let life = try #require(retired.reading(RegistrationChanged.self)).registration
      #expect(life.publicKey == certificate.publicKey || certificate.generation > life.generation)
      try await cluster.journal.waitFor("that process instance is retired") {
        let change = $0.reading(RegistrationChanged.self)
        return change?.change == .retired && change?.registration.publicKey == certificate.publicKey
      }
      try await turnedAway(certificate, cluster, after: 0)
      try await cluster.run("kill", "bus")
      let started = try await cluster.journal.waitFor("the restarted broker") {
        $0.reading(BusStarted.self)?.generation == 2
      }
      try await turnedAway(certificate, cluster, after: started.sequence)
    }
  }

  private func turnedAway(_ certificate: LaunchContext, _ cluster: LabCluster, after sequence: UInt64) async throws {
    let ghost = Connection.zeroMQ(
      address: certificate.address, endpoint: cluster.ready.endpoint, serverKey: certificate.serverKey,
      keys: CurveKeyPair(publicKey: certificate.publicKey, secretKey: certificate.secretKey), heartbeats: false)
    let refused = await #expect(throws: BusError.self) { try await ghost.start() }
    #expect(refused?.code == .refused)
    await ghost.leave()
    try await cluster.journal.waitFor("the key of the ended process instance is refused", after: sequence) {
      let away = $0.reading(AuthenticationFailed.self)
      return away?.reason == "revoked-key" && away?.publicKey == certificate.publicKey
    }
  }
}
