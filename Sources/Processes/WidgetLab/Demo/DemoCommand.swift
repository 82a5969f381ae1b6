// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import JournalAnalysis
import Messages

/// `widgetlab demo`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Demonstrates a background download, a kill in the middle of it, and the recovery.",
    discussion: """
      Starts a separate cluster in a temporary folder, opens the app, lets the widget extension begin a slow download, \
      kills one process in the middle with SIGKILL, and prints each step as it is recorded in the journal of the bus: \
      the end of the download, the launch of a new generation, the handler called in the new process, the file, the \
      finish event, the reload, the new timeline, the completion, and that the app received none of it.

      Exit code 0 only if every step was seen. 1: a step was missing in time. 2: a violation was seen, such as an \
      event of the extension's session at the app, or a pid that belongs to another process. Both are reported, with \
      the journal.

      EXAMPLES
        widgetlab demo                      kills the extension
        widgetlab demo --kill host          the host system; resumes with Range
        widgetlab demo --kill bus           the broker
        widgetlab demo --kill none          no kill
        widgetlab demo --attach             in the running cluster
        widgetlab demo --keep               keeps the folder, with journal and logs
      """)

  @Option(help: "The process to kill: extension, host, bus, agent, app or none.")
  var kill = Victim.widgetExtension

  @Flag(help: "Use the running cluster of --instance instead of starting one.")
  var attach = false

  @Flag(help: "Keep the folder of the demo's cluster.")
  var keep = false

  @Option(help: ArgumentHelp("The folder of the executables (default: that of this tool).", valueName: "folder"))
  var executables: String?

  @Option(help: "Seconds after which an unseen step counts as missing.")
  var timeout = 90.0

  @Option(help: "The widget kind to reload.")
  var widget = "CaffeineTracker"

  @OptionGroup var options: InstanceOptions

  func run() async throws {
    try await reporting {
      guard !attach else {
        let cluster = try options.cluster()
        try await play(in: cluster, fileBytes: nil, isLocal: InstanceLock.holder(in: cluster.folder) != nil)
        return
      }
      let signals = Signals()
      let home = try DemoHome(executables: executables)
      let folder = home.instance
      // Cancelled and awaited at the end of this scope.
      async let _ = Self.stop(home, keep: keep, at: signals)
      do {
        let cluster = try await home.up()
        Output.print("demo: starting a cluster in \(folder)")
        try await play(in: cluster, fileBytes: DemoHome.fileBytes, isLocal: true)
        await home.down()
        if keep { Output.print("kept: \(folder)") } else { home.remove() }
      } catch {
        // The journal is now available for inspection.
        await home.down()
        throw error
      }
    }
  }

  /// Stops the cluster at the next signal, and exits. Returns when it is cancelled before a signal arrives.
  private static func stop(_ home: DemoHome, keep: Bool, at signals: Signals) async {
    await signals.next()
    guard !Task.isCancelled else { return }
    Output.printError("widgetlab: interrupted; stopping the demo's cluster")
    await home.down()
    if !keep { home.remove() }
    Self.exit(withError: Exit.interrupted)
  }

  private func play(in cluster: ClusterFacts, fileBytes: Int64?, isLocal: Bool) async throws {
    guard let widgetExtension = cluster.extensions.first, let app = cluster.apps.first,
      let serving = cluster.configuration.extensions.first?.agent
    else {
      throw CommandError(
        Exit.configuration, "the demo requires an app and an extension", at: cluster.configurationPath)
    }
    let cast = Cast(
      device: cluster.device, widgetExtension: widgetExtension, app: app, agent: .agent(cluster.device, serving),
      sharesAgent: cluster.configuration.apps.first?.agent == serving)
    let watch = ScenarioWatch(
      cast: cast,
      steps: ScenarioTable.steps(killing: kill, fileBytes: fileBytes, sharesAgent: cast.sharesAgent),
      forbidden: ScenarioTable.forbidden)
    let play = DemoPlay(
      cluster: cluster, victim: kill, widgetKind: widget, limit: .saturating(seconds: timeout), isLocal: isLocal,
      startsWithJournal: !attach, fileBytes: fileBytes, watch: watch)
    try await play.run()
  }
}

extension Victim: ExpressibleByArgument {}
