// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import JournalAnalysis

/// `widgetlab list`.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Shows all of your clusters that run on this machine.",
    discussion: """
      Each `widgetlab up` is in the instance registry while it runs. Every command finds a running cluster by its NAME \
      from any folder, if the name is unique: --instance NAME.

      The registry is a folder with one JSON file per cluster: widgetlab-<uid> in $XDG_RUNTIME_DIR, or in /tmp.

      EXAMPLES
        widgetlab list
        widgetlab list --json              with endpoints and the bus's public key
      """)

  @Flag(help: "Print one JSON object: {\"registry\":…,\"clusters\":[…]}.")
  var json = false

  private struct Report: Encodable {
    let registry: String
    let clusters: [InstanceRegistry.Entry]
  }

  func run() async throws {
    try await reporting {
      let registry = InstanceRegistry.ofThisUser
      let running = try registry.running()
      if json { return try Output.json(Report(registry: registry.folder, clusters: running)) }
      guard !running.isEmpty else { return Output.print("none of your clusters is running on this machine") }
      var table = TextTable(headings: ["NAME", "UP", "SINCE", "BUS", "INSTANCE"])
      table.rows = running.map { [$0.name, "\($0.pid)", $0.since, $0.endpoint ?? "starting", $0.instance] }
      for line in table.lines { Output.print(line) }
    }
  }
}
