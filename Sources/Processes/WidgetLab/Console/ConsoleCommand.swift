// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Console
import Foundation
import Glibc

/// `widgetlab console`.
struct ConsoleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "console",
    abstract: "Serves a page that shows the screen, the processes, the bus, budgets and pushes in a browser.",
    discussion: """
      Prints a link, which contains a secret token: any process that has the link can do what this tool can. The page \
      reads the journal and asks the running processes only when it needs to, so that it also works while they are \
      down. Ctrl-C, SIGTERM and SIGHUP end it.

      A restarted console uses the same port and the same token, so that an open page connects again: both are in the \
      instance folder. --token-file FILE names another file for the token, which is created if it is missing; the \
      environment variable WIDGETLAB_CONSOLE_TOKEN has precedence.

      It listens on 127.0.0.1. With --host ADDRESS, or with ADDRESS:PORT in the environment variable WIDGETLAB_CONSOLE, \
      which `widgetlab up --console` and `widgetlab run --console` use too, other machines can connect, over HTTP \
      without encryption. A browser that uses another name than localhost or an address of this machine needs \
      --allow-host NAME.

      EXAMPLES
        widgetlab console --open
        widgetlab console --read-only
        widgetlab console --journal ~/copied/journal     a copied journal, read-only
        widgetlab console --host 0.0.0.0 --allow-host build.example.com
      """)

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalLocation

  @Flag(help: "Open the link in a browser (xdg-open).")
  var open = false

  @Option(help: "The port (default: that of the last console of the instance, else a free one).")
  var port: UInt16?

  @Option(help: "The address to listen on (default: 127.0.0.1); 0.0.0.0 for all.")
  var host: String?

  @Option(name: .customLong("allow-host"), help: "A name by which a browser may reach it; may be repeated.")
  var allowedHosts: [String] = []

  @Flag(help: "Perform no actions.")
  var readOnly = false

  @Option(help: ArgumentHelp("The file of the token.", valueName: "file"))
  var tokenFile: String?

  @Flag(help: "Print one JSON object: link, url, port, instance, pid.")
  var json = false

  @Option(name: .customLong("die-with-parent"), help: .hidden)
  var dieWithParent: Int32?

  func run() async throws {
    let signals = Signals()
    try await reporting {
      let plan = try ConsolePlan(self)
      try await plan.run(signals)
    }
  }
}
