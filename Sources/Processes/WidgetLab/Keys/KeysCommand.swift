// SPDX-License-Identifier: Apache-2.0

import APNs
import ArgumentParser
import Cluster
import Foundation
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
