// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `widgetlab chaos`.
struct ChaosCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chaos",
    abstract: "Kills and disturbs every process under load, and judges by the laws whether anything was lost.",
    discussion: """
      EXAMPLES
        widgetlab chaos                       300 kills; the seed is drawn
        widgetlab chaos --seed 7 --kills 1000 the campaign of seed 7
        widgetlab chaos --report chaos.html   also a page with plots
        widgetlab chaos --list                the faults
        widgetlab chaos replay chaos-7.tar    runs a failure again
        widgetlab chaos merge shard-*.json    one report of several
        widgetlab chaos run --help            all options
      """,
    subcommands: [ChaosRunCommand.self, ChaosReplayCommand.self, ChaosMergeCommand.self],
    defaultSubcommand: ChaosRunCommand.self)
}
