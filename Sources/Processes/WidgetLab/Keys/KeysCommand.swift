import APNs
import ArgumentParser
import Cluster
import Conversations
import Foundation

/// `widgetlab keys`.
struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Lists, makes and renews the standing keys of a cluster; never shows a secret.",
    discussion: """
      Every process of a cluster has a key, and the bus believes the key and not the word. An app's and an extension's is \
      made for its life and dies with it; the others stand until they are renewed.

      EXAMPLES
        widgetlab keys                          whose key it is, and since when
        widgetlab keys --json
        widgetlab keys make                     makes what is missing; `up` does it
        widgetlab keys rotate                   renews all, while the cluster runs
        widgetlab keys rotate --process host    renews one
        widgetlab keys provider                 another key for provider tokens
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
    abstract: "Shows who speaks with which key, and since when.",
    discussion: """
      Asks the bus; where none runs, it says what the next one will let in. The first 8 characters of a key are what \
      `tail` shows of one that was turned away.
      """)

  @OptionGroup var options: InstanceOptions

  @Flag(help: "One JSON object: {\"keys\":[…]}.")
  var json = false

  func run() async throws {
    try await reporting {
      let report = try await KeyReport.gather(try options.cluster())
      if json { return try Output.json(report) }
      for line in report.lines { Output.say(line) }
    }
  }
}

/// `widgetlab keys make`.
struct MakeKeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Makes the standing keys that are missing, mode 0600.",
    discussion: """
      `widgetlab up` does this itself; in compose it is the first step. Keys that are there stay. With a push server, its \
      certificates and the first provider keys are made too.

      EXAMPLE
        widgetlab keys make --instance /instance --config widgetlab.yaml
      """)

  @OptionGroup var options: InstanceOptions

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster()
      do {
        try StandingKey.makeAll(for: cluster.configuration, in: cluster.instance)
        if let pushServer = cluster.configuration.pushServer {
          try PushCredentials.make(
            in: cluster.instance.pushCredentials, serverNames: [pushServer.advertise].compactMap(\.self))
        }
        try StartedWith(configuration: cluster.configurationPath).write(in: cluster.folder)
        for line in try KeyReport.written(cluster).lines { Output.say(line) }
      } catch {
        throw Complaint(Exit.configuration, "\(error)", at: cluster.folder)
      }
    }
  }
}

/// `widgetlab keys rotate`.
struct RotateKeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Renews standing keys while the cluster runs; nothing under way is lost.",
    discussion: """
      Each holder makes its next key itself, so that no secret travels; the bus writes it down and lets it in; the holder \
      speaks with it; then, after a grace (`bus: keyGrace` in widgetlab.yaml, 10 s), the former key is turned away. Whoever \
      dies on the way finds a key that is let in; said again, it is finished. The journal says each step: `key.changed`.

      The broker's own key is renewed only while the cluster is down, since every process knows the broker by it, a spawned \
      one from its birth: `widgetlab down`, `widgetlab keys rotate --process bus`, `widgetlab up`.

      Exit code 1: some could not be renewed; said again, it goes on there.

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
      "Whose: host, agent/1, provider, operator (this tool), watcher (health checks), bus, or all; may be repeated.",
      valueName: "name"))
  var processes: [String] = ["all"]

  @Flag(help: "One JSON object for each key.")
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
          if json { try Output.json(outcome) } else { Output.say(outcome.line) }
        } catch let complaint as Complaint where complaint.exit != Exit.no {
          throw complaint
        } catch {
          failures.append("\(name): \((error as? Complaint)?.what ?? "\(error)")")
        }
      }
      guard failures.isEmpty else {
        throw Complaint(
          Exit.no, failures.joined(separator: "\n           "), at: cluster.folder,
          advice: "what could not be renewed has its former key; `widgetlab ps` shows who is there, then say it again")
      }
    }
  }
}
