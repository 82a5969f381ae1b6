import ArgumentParser
import Cluster

/// The operator's tool. Each command is a file of its own; what they share is how an instance is found, how the bus is
/// reached, how a failure is told, and the exit codes.
struct WidgetLabTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "widgetlab",
    abstract: "Runs an iOS widget as real processes, lets you kill any of them, and shows what survives.",
    discussion: """
      FIRST STEPS
        widgetlab demo                   the whole story in one command
        widgetlab up                     the cluster of ./widgetlab.yaml
        widgetlab tail                   every message, birth and death, as it happens
        widgetlab reload CaffeineTracker the extension starts a background download
        widgetlab kill extension         a real SIGKILL; watch the tail
        widgetlab ps                     what lives, why, how the last life ended
        widgetlab diagnose               what the code gets wrong, and what to do
        widgetlab sessions               each transfer, and what it waits for
        widgetlab screen                 what a person sees
        widgetlab gallery                what can be placed where, with `add`
        widgetlab budget                 what each widget may spend on reloads
        widgetlab network off            the device without a network
        widgetlab push                   a push to the widgets, as from a provider
        widgetlab push log               what became of each push, and why
        widgetlab clock advance 24h      a day later

      Each cluster has a folder, the instance: ./.widgetlab/default, or --instance NAME or PATH, so that several run side by \
      side.

      \(Exit.table)
      """,
    subcommands: [
      UpCommand.self, DownCommand.self, ListCommand.self, PsCommand.self, WaitCommand.self, TailCommand.self,
      TraceCommand.self, DiagnoseCommand.self,
      SessionsCommand.self, JournalCommand.self, KillCommand.self, SuspendCommand.self, ResumeCommand.self,
      GalleryCommand.self, AddCommand.self, EditCommand.self, RemoveCommand.self, TurnCommand.self, ScreenCommand.self,
      LookCommand.self,
      LockCommand.self, UnlockCommand.self, TapCommand.self, SystemCommand.self,
      ReloadCommand.self, SnapshotCommand.self, BudgetCommand.self, WhyCommand.self,
      AppCommand.self, ForceQuitCommand.self, UpdateCommand.self, NetworkCommand.self, DeviceCommand.self,
      ClockCommand.self, PushCommand.self, TokenCommand.self, APNsCommand.self, EnvCommand.self,
      PingCommand.self, KeysCommand.self, DemoCommand.self, ProtocolCommand.self,
    ])
}

/// Runs the tool with the arguments of this process and ends it with the exit code that the command gives.
package func runTool() async {
  Birth.dieWithParentIfAsked(CommandLine.arguments)
  await WidgetLabTool.main()
}
