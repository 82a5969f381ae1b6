import ArgumentParser
import Foundation

/// `widgetlab list`.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Shows every cluster of yours that runs on this machine.",
    discussion: """
      Each `widgetlab up` stands in the address book as long as it lives, however it ends. Every command finds a running \
      cluster by its NAME from any folder, when there is one of that name: --instance NAME.

      The book is a folder with one JSON file for each: widgetlab-<uid> in $XDG_RUNTIME_DIR, or in /tmp.

      EXAMPLES
        widgetlab list
        widgetlab list --json              with endpoints and the bus's public key
      """)

  @Flag(help: "One JSON object: {\"book\":…,\"clusters\":[…]}.")
  var json = false

  private struct Report: Encodable {
    let book: String
    let clusters: [AddressBook.Entry]
  }

  func run() async throws {
    try await reporting {
      let book = AddressBook.ofThisUser
      let running = try book.running()
      if json { return try Output.json(Report(book: book.folder, clusters: running)) }
      guard !running.isEmpty else { return Output.say("no cluster of yours runs on this machine") }
      var table = TextTable(headings: ["NAME", "UP", "SINCE", "BUS", "INSTANCE"])
      table.rows = running.map { [$0.name, "\($0.pid)", $0.since, $0.endpoint ?? "starting", $0.instance] }
      for line in table.lines { Output.say(line) }
    }
  }
}
