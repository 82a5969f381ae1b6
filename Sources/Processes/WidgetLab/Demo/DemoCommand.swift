import ArgumentParser
import Cluster
import Conversations
import Foundation

/// `widgetlab demo`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Shows the whole story: a background download, a kill in the middle of it, and what survives.",
    discussion: """
      Starts a cluster of its own in a fresh temporary folder, opens the app, lets the widget extension begin a slow \
      download, kills the victim in the middle with SIGKILL, and prints the story as it stands in the journal of the \
      bus, and nothing else: the download ending, a new generation launched, the handler called in the new process, the file, \
      the finish event, the reload, the new timeline, the completion, and that the app received none of it.

      Exit code 0 only if every step was seen. 1: a step was missing in time. 2: something forbidden was seen, such as an \
      event of the extension's session at the app, or a pid that is not the process's own. Both name it, and the journal.

      EXAMPLES
        widgetlab demo                      kills the extension
        widgetlab demo --kill host          the host system; resumed with Range
        widgetlab demo --kill bus           the broker
        widgetlab demo --kill none          nobody: the plain story
        widgetlab demo --attach             in the cluster that is up already
        widgetlab demo --keep               leaves the folder, with journal and logs
      """)

  @Option(help: "Who is killed: extension, host, bus, agent, app or none.")
  var kill = Victim.widgetExtension

  @Flag(help: "Use the running cluster of --instance instead of starting one.")
  var attach = false

  @Flag(help: "Keep the folder of the demo's own cluster.")
  var keep = false

  @Option(help: ArgumentHelp("The folder of the executables; by default that of this tool.", valueName: "folder"))
  var executables: String?

  @Option(help: "Seconds until a step that was not seen counts as missing.")
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
      let home = try DemoHome(executables: executables)
      let folder = home.instance
      let signals = Signals()
      let impatient = Task { [keep] in
        await signals.next()
        guard !Task.isCancelled else { return }
        Output.complain("widgetlab: asked to stop; the demo's cluster is taken down")
        await home.down()
        if !keep { home.remove() }
        Self.exit(withError: Exit.interrupted)
      }
      defer { impatient.cancel() }
      do {
        let cluster = try await home.up()
        Output.say("demo: a cluster of its own in \(folder)")
        try await play(in: cluster, fileBytes: DemoHome.fileBytes, isLocal: true)
        await home.down()
        if keep { Output.say("kept: \(folder)") } else { home.remove() }
      } catch {
        // The journal is what one looks at now.
        await home.down()
        throw error
      }
    }
  }

  private func play(in cluster: ClusterFacts, fileBytes: Int64?, isLocal: Bool) async throws {
    guard let widgetExtension = cluster.extensions.first, let app = cluster.apps.first,
      let serving = cluster.configuration.extensions.first?.agent
    else {
      throw Complaint(
        Exit.configuration, "the demo needs an app and an extension", at: cluster.configurationPath)
    }
    let cast = Cast(
      device: cluster.device, widgetExtension: widgetExtension, app: app, agent: .agent(cluster.device, serving),
      sharesAgent: cluster.configuration.apps.first?.agent == serving)
    let watch = StoryWatch(
      cast: cast,
      steps: StoryTable.steps(killing: kill, fileBytes: fileBytes, sharesAgent: cast.sharesAgent),
      forbidden: StoryTable.forbidden)
    let play = DemoPlay(
      cluster: cluster, victim: kill, widgetKind: widget, limit: .seconds(timeout), isLocal: isLocal,
      startsWithJournal: !attach, fileBytes: fileBytes, watch: watch)
    try await play.run()
  }
}
