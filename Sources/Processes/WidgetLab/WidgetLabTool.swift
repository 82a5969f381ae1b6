// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import JournalAnalysis

/// The operator's tool, one file per command. Shared: finding an instance, connecting to the bus, error reports, and
/// exit codes.
struct WidgetLabTool: AsyncParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "widgetlab",
    abstract: "Runs an iOS widget as real processes, lets you kill any of them, and shows what survives.",
    discussion: """
      FIRST STEPS
        widgetlab demo                   a complete demonstration
        widgetlab run Weather.xcodeproj  your own widgets, from their Xcode project
        widgetlab up                     start the cluster of ./widgetlab.yaml
        widgetlab tail                   show every message and process event, live
        widgetlab reload CaffeineTracker the extension starts a background download
        widgetlab kill extension         a real SIGKILL; watch the tail
        widgetlab console --open         all of it in a browser
        widgetlab ps                     running processes, why they run, last exits
        widgetlab diagnose               mistakes in the code, and what to do
        widgetlab check                  is the journal without a loss or a disorder?
        widgetlab chaos                  kill everything hundreds of times, and judge
        widgetlab simulate               a day with a hundred kills, from a seed
        widgetlab sessions               each transfer, and what it waits for
        widgetlab screen                 what the user sees
        widgetlab gallery                what can be placed where, with `add`
        widgetlab budget                 what each widget may spend on reloads
        widgetlab network off            no network: transfers and pushes wait
        widgetlab push                   a push to the widgets, as from a provider
        widgetlab push log               the result of each push, and why
        widgetlab fleet up --devices 100 light devices for a push backend
        widgetlab clock advance 24h      a day later

      Each cluster has an instance folder: ./.widgetlab/default, or --instance NAME or PATH. Several clusters can run \
      side by side.

      \(Exit.table)
      """,
    version: version,
    groupedSubcommands: [
      CommandGroup(
        name: "Cluster",
        subcommands: [
          DemoCommand.self, RunCommand.self, NewCommand.self, UpCommand.self, DownCommand.self, ListCommand.self,
          PsCommand.self, WaitCommand.self,
          EnvCommand.self, KeysCommand.self, PingCommand.self,
        ]),
      CommandGroup(
        name: "Observe",
        subcommands: [
          ConsoleCommand.self, TailCommand.self, TraceCommand.self, DiagnoseCommand.self, CheckCommand.self,
          SessionsCommand.self,
          BudgetCommand.self,
          WhyCommand.self, JournalCommand.self, ProtocolCommand.self, ConfigurationCommand.self,
        ]),
      CommandGroup(
        name: "Widgets",
        subcommands: [
          GalleryCommand.self, AddCommand.self, EditCommand.self, RemoveCommand.self, TurnCommand.self,
          ScreenCommand.self, LiveActivityCommand.self, TapCommand.self, ReloadCommand.self, SnapshotCommand.self,
        ]),
      CommandGroup(
        name: "Device",
        subcommands: [
          AppCommand.self, LookCommand.self, LockCommand.self, UnlockCommand.self, SettingCommand.self,
          NetworkCommand.self, DeviceCommand.self, ClockCommand.self, UpdateCommand.self,
          DefaultsCommand.self,
        ]),
      CommandGroup(
        name: "Push", subcommands: [PushCommand.self, TokenCommand.self, APNsCommand.self, FleetCommand.self]),
      CommandGroup(
        name: "Faults",
        subcommands: [
          ChaosCommand.self, SimulateCommand.self, KillCommand.self, SuspendCommand.self, ResumeCommand.self,
          ForceQuitCommand.self,
        ]),
    ])
}

/// Runs the tool with the arguments of this process, and exits with the command's exit code.
package func runTool() async {
  ParentDeathSignal.exitWithParentIfRequested(CommandLine.arguments)
  if let unknown = WidgetLabTool.unknown(Array(CommandLine.arguments.dropFirst())) {
    Output.printText(unknown.description, isError: true)
    WidgetLabTool.exit(withError: unknown.exit)
  }
  await WidgetLabTool.main()
}

extension WidgetLabTool {
  /// What other tools call a command.
  private static let synonyms = [
    "start": "up", "stop": "down", "status": "ps", "logs": "tail", "log": "tail", "version": "--version",
    "restart": "kill",
  ]

  /// The error of a line whose first word is no command; `nil` for any other line. The parser names no command then.
  static func unknown(_ arguments: [String]) -> CommandError? {
    let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    guard let word = words.first, !word.hasPrefix("-") else { return nil }
    let commands = Set(configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"])
    guard !commands.contains(word) else { return nil }
    let similar = word.mostSimilar(of: commands.union(synonyms.keys))
    let meant = similar.map { "did you mean `widgetlab \(synonyms[$0] ?? $0)`?" }
    return CommandError(
      Exit.usage, "there is no command '\(word)'", advice: meant ?? "`widgetlab --help` lists the commands")
  }
}
