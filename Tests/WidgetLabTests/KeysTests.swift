// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing

@testable import WidgetLab

/// `widgetlab keys` without a running cluster.
@Suite(.timeLimit(.minutes(1))) struct `The keys of a cluster` {
  private let yaml = """
    device: {name: iphone}
    extensions:
      - {bundle: com.example.A.One, executable: one, agent: 2}
    """

  private func withCluster(_ body: (ClusterFacts) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-keys-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "widgetlab.yaml")
    try yaml.write(to: file, atomically: true, encoding: .utf8)
    try await body(ClusterFacts(folder: folder.path, configurationPath: file.path))
  }

  @Test(arguments: [
    (["host"], ["host"]), (["host-system", "operator"], ["host", "operator"]), (["agent"], ["agent-2"]),
    (["agent/2"], ["agent-2"]), (["agent-2", "agent/2"], ["agent-2"]), (["watcher"], ["watcher"]),
    (["bus"], ["message-bus"]), (["all"], ["message-bus", "agent-2", "host", "provider", "watcher", "operator"]),
  ])
  func `keys are selected by the names of their holders`(names: [String], holders: [String]) async throws {
    try await withCluster { cluster in
      let found = try KeyRotation(cluster: cluster).holders(names)
      #expect(found.map(\.rawValue) == holders)
    }
  }

  @Test(arguments: ["extension", "absent", "agent/3"])
  func `a process without a standing key is refused with the names that have one`(name: String) async throws {
    try await withCluster { cluster in
      let commandError = #expect(throws: CommandError.self) { try KeyRotation(cluster: cluster).holders([name]) }
      #expect(commandError?.exit == Exit.usage)
      #expect(commandError?.advice?.isEmpty == false)
    }
  }

  @Test func `a key is replaced at once when no bus runs, and the report contains no secret`() async throws {
    try await withCluster { cluster in
      try StandingKey.makeAll(for: cluster.configuration, in: cluster.instance)
      let before = try StandingKey.load(.host, in: cluster.instance)
      let outcome = try await KeyRotation(cluster: cluster).rotate(.host)
      let after = try StandingKey.load(.host, in: cluster.instance)
      #expect(outcome.former == before.publicKey && outcome.current == after.publicKey)
      #expect(outcome.line.contains("from the next start on"))
      #expect(after.publicKey != before.publicKey && after.pattern == before.pattern)
      let report = try await KeyReport.gather(cluster)
      #expect(
        report.keys.map(\.holder).sorted() == ["agent-2", "host", "message-bus", "operator", "provider", "watcher"])
      #expect(report.keys.first { $0.holder == "host" }?.publicKey == after.publicKey)
      #expect(!report.lines.joined().contains(after.secretKey))
    }
  }

  @Test func `the newest used key of a holder ends its older keys`() {
    func key(_ name: String, _ since: Int64, spoke: Bool = false) -> StandingKeyFacts {
      StandingKeyFacts(
        pattern: .watchers, publicKey: name, since: Timestamp(microseconds: since), hasSentHello: spoke)
    }
    let (first, second) = (key("a", 1), key("b", 2))
    #expect(KeyReport.state(of: first, among: [first]) == "in use")
    #expect([first, second].map { KeyReport.state(of: $0, among: [first, second]) } == ["in use", "registered"])
    let spoken = key("b", 2, spoke: true)
    #expect([first, spoken].map { KeyReport.state(of: $0, among: [first, spoken]) } == ["ends", "in use"])
  }
}
