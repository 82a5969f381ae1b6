import ArgumentParser
import Cluster
import Conversations
import Foundation

/// `widgetlab keys`.
struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Makes the standing keys of an instance, mode 0600, and lists their public halves.",
    discussion: """
      `widgetlab up` does this itself; in compose it is the first step. Keys that are there stay.

      EXAMPLE
        widgetlab keys --instance /instance --config widgetlab.yaml
      """)

  @OptionGroup var options: InstanceOptions

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster()
      do {
        try StandingKey.makeAll(for: cluster.configuration, in: cluster.instance)
        try StartedWith(configuration: cluster.configurationPath).write(in: cluster.folder)
        var table = TextTable(headings: ["KEY", "SPEAKS AS", "PUBLIC KEY"])
        table.rows = try StandingKey.loadAllPublic(in: cluster.instance)
          .map { [$0.name.rawValue, $0.pattern.text, $0.publicKey] }
        for line in table.lines { Output.say(line) }
      } catch {
        throw Complaint(Exit.configuration, "\(error)", at: cluster.folder)
      }
    }
  }
}
