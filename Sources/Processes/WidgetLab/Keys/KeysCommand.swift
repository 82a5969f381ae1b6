// SPDX-License-Identifier: Apache-2.0

import APNs
import ArgumentParser
import Cluster
import Foundation
import JournalAnalysis
import MessageBus
import Messages

/// `widgetlab keys`.
struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Lists, creates and renews the standing keys of a cluster. Never shows a secret key.",
    discussion: """
      Every process of a cluster has a key, which the bus uses to authenticate it. An app's or extension's key is \
      created at its launch and discarded when it exits; standing keys are used until they are renewed.

      EXAMPLES
        widgetlab keys                          the keys, holders and dates
        widgetlab keys --json
        widgetlab keys make                     creates missing keys, as `up` does
        widgetlab keys rotate                   renews all, while the cluster runs
        widgetlab keys rotate --process host    renews one
        widgetlab keys provider                 a new key for provider tokens
        widgetlab keys certificate BUNDLE       a client certificate for pushes
      """,
    subcommands: [
      ListKeysCommand.self, MakeKeysCommand.self, RotateKeysCommand.self, ProviderKeyCommand.self,
      ClientCertificateCommand.self,
    ],
    defaultSubcommand: ListKeysCommand.self)
}

/// `widgetlab keys list`.
struct ListKeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Shows the holders of keys, and since when.",
    discussion: """
      Queries the bus; when none is running, it shows what the next one will accept. `tail` shows the first 8 \
      characters of a rejected key.
      """)

  @OptionGroup var options: InstanceOptions

  @Flag(help: "Print one JSON object: {\"keys\":[…]}.")
  var json = false

  func run() async throws {
    try await reporting {
      let report = try await KeyReport.gather(try options.cluster(reading: true))
      if json { return try Output.json(report) }
      for line in report.lines { Output.print(line) }
    }
  }
}

/// `widgetlab keys make`.
struct MakeKeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Creates the missing standing keys, mode 0600.",
    discussion: """
      `widgetlab up` does this itself; in compose it is the first step. Existing keys are kept. With a push server, \
      its certificates and the first provider keys are created too.

      Processes on several machines share no folder. For them this is run once, and each gets its files as secrets of \
      the container engine; --bus then writes where they find the broker.

      EXAMPLES
        widgetlab keys make --instance /instance --config widgetlab.yaml
        widgetlab keys make --instance keys --bus tcp://message-bus:7701 --tap tcp://message-bus:7702 --database-password
      """)

  @OptionGroup var options: InstanceOptions

  @Option(
    help: ArgumentHelp(
      "Where processes will find the broker, such as tcp://message-bus:7701: writes bus/bus.json.",
      valueName: "endpoint"))
  var bus: String?

  @Option(help: ArgumentHelp("The same for the tap; required with --bus.", valueName: "endpoint"))
  var tap: String?

  @Flag(help: "Also create a password for the user `widgetlab` of PostgreSQL: database/password and database/pgpass.")
  var databasePassword = false

  func validate() throws {
    guard (bus == nil) == (tap == nil) else { throw ValidationError("--bus and --tap need each other.") }
    for endpoint in [bus, tap].compactMap(\.self) where endpoint.wholeMatch(of: /tcp:\/\/[^:\/]+:[0-9]+/) == nil {
      throw ValidationError("'\(endpoint)' is not an endpoint such as tcp://message-bus:7701.")
    }
  }

  /// Writes what the cluster's processes need beside keys.
  private func makeOthers(_ cluster: ClusterFacts) throws {
    if let bus, let tap {
      let key = try StandingKey.load(.messageBus, in: cluster.instance).publicKey
      try BusAnnouncement(endpoint: bus, tap: tap, publicKey: key, pid: 0).write(in: cluster.instance)
    }
    if databasePassword { try cluster.instance.makeDatabasePassword(user: "widgetlab") }
  }

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster()
      do {
        try StandingKey.makeAll(for: cluster.configuration, in: cluster.instance)
        if let pushServer = cluster.configuration.pushServer {
          try PushCredentials.make(
            in: cluster.instance.pushCredentials, serverNames: [pushServer.advertise].compactMap(\.self))
        }
        try makeOthers(cluster)
        try StartedWith(configuration: cluster.configurationPath).write(in: cluster.folder)
        for line in try KeyReport.written(cluster).lines { Output.print(line) }
      } catch {
        throw CommandError(Exit.configuration, "\(error)", at: cluster.folder)
      }
    }
  }
}

/// `widgetlab keys rotate`.
struct RotateKeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Renews standing keys while the cluster runs. No message is lost.",
    discussion: """
      Each holder creates its next key itself, so that no secret is transmitted; the bus journals and accepts it; the \
      holder switches to it; then, after a grace period (`bus: keyGrace` in widgetlab.yaml, 10 s), the former key is \
      rejected. A process that is killed during the renewal restarts with a valid key; repeating the command completes \
      the renewal. The journal records each step: `key.changed`.

      The broker's own key can only be renewed while the cluster is down, since every process identifies the broker by \
      it from its launch: `widgetlab down`, `widgetlab keys rotate --process bus`, `widgetlab up`.

      Exit code 1: some keys could not be renewed; repeat the command to continue.

      EXAMPLES
        widgetlab keys rotate
        widgetlab keys rotate --process host --process agent/2
        widgetlab keys rotate --process operator
        widgetlab tail --where 'kind == key.*'
      """)

  @OptionGroup var options: InstanceOptions

  @Option(
    name: .customLong("process"),
    help: ArgumentHelp(
      "Holder: host, agent/1, provider, operator (this tool), watcher (health checks), bus, or all; may be repeated.",
      valueName: "name"))
  var processes: [String] = ["all"]

  @Flag(help: "Print one JSON object per key.")
  var json = false

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster()
      let rotation = KeyRotation(cluster: cluster)
      let names = try rotation.holders(processes)
      var failures: [String] = []
      for name in names {
        do {
          let outcome = try await rotation.rotate(name)
          if json { try Output.json(outcome) } else { Output.print(outcome.line) }
        } catch let commandError as CommandError where commandError.exit != Exit.no {
          throw commandError
        } catch {
          failures.append("\(name): \((error as? CommandError)?.what ?? "\(error)")")
        }
      }
      guard failures.isEmpty else {
        throw CommandError(
          Exit.no, failures.joined(separator: "\n           "), at: cluster.folder,
          advice: "these keys are unchanged; check `widgetlab ps`, then repeat the command")
      }
    }
  }
}

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
      let knownKeys = try await session.connection.request(ListKeys(), to: .messageBus).keys
      var report = KeyReport(cluster, knownKeys) { key in state(of: key, among: knownKeys) }
      if let bus = try BusAnnouncement.read(in: cluster.instance) {
        let own = try? StandingKey.load(.messageBus, in: cluster.instance)
        report.keys.insert(row(.messageBus, key: bus.publicKey, since: own?.since, state: "in use"), at: 0)
      }
      return report
    }
  }

  /// Reads the keys from their files.
  static func written(_ cluster: ClusterFacts) throws -> KeyReport {
    let known = try StandingKey.loadAllPublic(in: cluster.instance).map(\.facts)
    var report = KeyReport(cluster, known) { _ in "made" }
    if let own = try? StandingKey.load(.messageBus, in: cluster.instance) {
      report.keys.insert(row(.messageBus, key: own.publicKey, since: own.since, state: "made"), at: 0)
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

  private static func row(_ name: StandingKey.Name, key: String, since: Timestamp?, state: String) -> Row {
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
