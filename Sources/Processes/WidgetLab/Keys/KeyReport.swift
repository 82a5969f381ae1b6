// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import JournalAnalysis
import MessageBus
import Messages

/// The output of `keys`.
struct KeyReport: Encodable, Sendable {
  struct Row: Encodable, Sendable {
    /// The holder: the name that `keys rotate` accepts, and that of the key's folder.
    let holder: String
    /// The addresses that it may use.
    let speaksAs: String
    let publicKey: String
    /// The time of its creation or registration, UTC; `nil` if unknown.
    let since: String?
    let state: String
  }

  var keys: [Row] = []

  /// Queries the bus, or reads the keys that the next bus will accept.
  ///
  /// - Throws: `unavailable` when the bus does not reply.
  static func gather(_ cluster: ClusterFacts) async throws -> KeyReport {
    guard FileManager.default.fileExists(atPath: cluster.instance.busAnnouncement) else { return try written(cluster) }
    return try await OperatorSession.with(cluster) { session in
      let known = try await session.connection.request(ListKeys(), to: .messageBus).keys
      var report = KeyReport(cluster, known) { key in state(of: key, among: known) }
      if let bus = try BusAnnouncement.read(in: cluster.instance) {
        let own = try? StandingKey.load(.messageBus, in: cluster.instance)
        report.keys.insert(row(.messageBus, bus.publicKey, since: own?.since, "in use"), at: 0)
      }
      return report
    }
  }

  /// Reads the keys from their files.
  static func written(_ cluster: ClusterFacts) throws -> KeyReport {
    let known = try StandingKey.loadAllPublic(in: cluster.instance).map(\.facts)
    var report = KeyReport(cluster, known) { _ in "made" }
    if let own = try? StandingKey.load(.messageBus, in: cluster.instance) {
      report.keys.insert(row(.messageBus, own.publicKey, since: own.since, "made"), at: 0)
    }
    return report
  }

  private init(
    _ cluster: ClusterFacts, _ keys: [StandingKeyFacts], state: (StandingKeyFacts) -> String
  ) {
    let holders = StandingKey.holders(of: cluster.configuration)
    self.keys = keys.map { key in
      Row(
        holder: holders.first { $0.pattern == key.pattern }?.name.rawValue ?? "-", speaksAs: key.pattern.text,
        publicKey: key.publicKey, since: Self.text(key.since), state: state(key))
    }
  }

  private static func row(_ name: StandingKey.Name, _ key: String, since: Timestamp?, _ state: String) -> Row {
    Row(
      holder: name.rawValue, speaksAs: Address.messageBus.text, publicKey: key, since: since.map(text), state: state)
  }

  /// The state of a key on the bus, relative to the other keys of its pattern.
  static func state(of key: StandingKeyFacts, among all: [StandingKeyFacts]) -> String {
    let others = all.filter { $0.pattern == key.pattern && $0.publicKey != key.publicKey }
    if others.contains(where: { $0.hasSentHello && $0.since > key.since }) { return "ends" }
    return !key.hasSentHello && others.contains { $0.since < key.since } ? "registered" : "in use"
  }

  private static func text(_ time: Timestamp) -> String {
    time.date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: false))
  }

  /// The table for the terminal.
  var lines: [String] {
    var table = TextTable(headings: ["KEY", "ADDRESSES", "PUBLIC KEY", "SINCE", "STATE"])
    table.rows = keys.map { [$0.holder, $0.speaksAs, $0.publicKey, $0.since ?? "-", $0.state] }
    return table.lines
  }
}
