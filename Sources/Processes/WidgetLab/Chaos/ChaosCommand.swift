// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `widgetlab chaos`.
struct ChaosCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chaos",
    abstract: "Kills and disturbs every process under load, and judges by the laws whether anything was lost.",
    discussion: """
      EXAMPLES
        widgetlab chaos                          300 kills in its own cluster, with a drawn seed
        widgetlab chaos --seed 7 --kills 1000    the same seed draws the same campaign
        widgetlab chaos run --help               all options
        widgetlab chaos --list                   the faults
      """,
    subcommands: [ChaosRunCommand.self], defaultSubcommand: ChaosRunCommand.self)
}
