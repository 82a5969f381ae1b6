import Cluster
import Conversations
import Foundation
import MessageBus

/// What `keys` shows.
struct KeyReport: Encodable, Sendable {
  struct Row: Encodable, Sendable {
    /// Whose it is: the name that `keys rotate` takes, and that of its folder.
    let holder: String
    /// Which addresses it may speak as.
    let speaksAs: String
    let publicKey: String
    /// When it was made or registered, UTC; `nil` where that cannot be known.
    let since: String?
    let state: String
  }

  var keys: [Row] = []

  /// Asks the bus, or reads what the next one will let in.
  ///
  /// - Throws: `unavailable` when the bus does not answer.
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

  /// What stands in the files.
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

  /// What a key of the bus is worth beside the others of its pattern.
  static func state(of key: StandingKeyFacts, among all: [StandingKeyFacts]) -> String {
    let others = all.filter { $0.pattern == key.pattern && $0.publicKey != key.publicKey }
    if others.contains(where: { $0.hasSpoken && $0.since > key.since }) { return "ends" }
    return !key.hasSpoken && others.contains { $0.since < key.since } ? "registered" : "in use"
  }

  private static func text(_ time: Timestamp) -> String {
    time.date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: false))
  }

  /// The table for a terminal.
  var lines: [String] {
    var table = TextTable(headings: ["KEY", "SPEAKS AS", "PUBLIC KEY", "SINCE", "STATE"])
    table.rows = keys.map { [$0.holder, $0.speaksAs, $0.publicKey, $0.since ?? "-", $0.state] }
    return table.lines
  }
}
