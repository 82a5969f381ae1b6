import ArgumentParser
import Cluster
import Dispatch
import Foundation
import Glibc

/// `widgetlab up`.
struct UpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "up",
    abstract: "Starts the cluster of widgetlab.yaml in the foreground and keeps its processes alive.",
    discussion: """
      Starts keys, bus, agents, host, push server and provider, and prints one ready line when a download started at once would be \
      delivered. A standing process that dies is started again. Ctrl-C, SIGTERM and SIGHUP stop everything in reverse order \
      and leave nothing behind; a second Ctrl-C kills at once. When this process itself is killed, all of them die with it.

      What the processes write to standard error is in <instance>/logs.

      EXECUTABLES
      Nothing is started while an executable cannot be started: it is missing, may not be executed, is of another \
      machine, or misses a shared library.

      \(ExecutableSearch.help)

      EXAMPLES
        widgetlab up                             the cluster of ./widgetlab.yaml
        widgetlab up --instance second           another cluster beside it
        widgetlab up --json                      the ready line as a JSON object
        widgetlab up --executables .build/debug
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: ArgumentHelp("The folder in which executables are looked for first.", valueName: "folder"))
  var executables: String?

  @Flag(help: "Print the ready line as one JSON object.")
  var json = false

  @Option(name: .customLong("die-with-parent"), help: .hidden)
  var dieWithParent: Int32?

  func run() async throws {
    let signals = Signals()
    try await reporting {
      // The configuration that an earlier `up` had does not bind this one.
      let path = options.config ?? InstanceOptions.defaultConfiguration
      var own = options
      own.config = path
      let cluster = try own.cluster()
      try check(cluster)
      let search = ExecutableSearch(configuration: cluster.configurationPath, named: executables)
      try await ExecutableCheck(cluster: cluster, search: search).run()
      do {
        try cluster.instance.create()
      } catch {
        throw Complaint(Exit.configuration, "\(error)", at: cluster.folder)
      }
      let lock = try InstanceLock(instance: cluster.folder)
      defer { lock.release() }
      let entry = AddressBook.Entry(instance: cluster.folder, configuration: cluster.configurationPath)
      let file = enter(entry)
      defer { file?.remove() }
      try await live(cluster, search, signals) { ready in
        var entry = entry
        entry.endpoint = ready.endpoint
        entry.tap = ready.tap
        entry.publicKey = ready.publicKey
        entry.provider = ready.provider
        try file?.write(entry)
      }
    }
  }

  /// What a file that the configuration names gets wrong is said before anything is started.
  private func check(_ cluster: ClusterFacts) throws {
    for product in cluster.configuration.extensions {
      do {
        _ = try product.readInfoPlist()
      } catch {
        throw Complaint(
          Exit.configuration, error.message, at: "infoPlist of \(product.bundle) in \(cluster.configurationPath)",
          advice: "name the Info.plist of the widget extension's target, or leave infoPlist out")
      }
    }
    guard let budget = cluster.configuration.settings.budget else { return }
    do {
      _ = try BudgetFile(file: budget)
    } catch {
      throw Complaint(
        Exit.configuration, error.message, at: "settings: budget of \(cluster.configurationPath)",
        advice: "see deploy/budgets for files that hold")
    }
  }

  /// A cluster without a place in the book can be used all the same, by its path.
  private func enter(_ entry: AddressBook.Entry) -> BookFile? {
    do {
      return try BookFile(entry, in: .ofThisUser)
    } catch {
      Output.complain("\(error)\n  (`widgetlab list` will not show this cluster)")
      return nil
    }
  }

  private func live(
    _ cluster: ClusterFacts, _ search: ExecutableSearch, _ signals: Signals,
    whenReady: (ClusterLife.Ready) throws -> Void
  ) async throws {
    let json = json
    let supervisor = Supervisor(instance: cluster.folder) { Self.tell($0, json: json) }
    let life = ClusterLife(cluster: cluster, search: search, supervisor: supervisor)
    defer { life.removeAnnouncements() }
    let starting = Task { try await life.start() }
    let asked = Task {
      await signals.next()
      starting.cancel()
    }
    do {
      let ready = try await starting.value
      try whenReady(ready)
      try say(ready)
      await asked.value
    } catch {
      if !starting.isCancelled {
        await supervisor.stop()
        throw error
      }
    }
    if !json { Output.say("stopping; once more Ctrl-C kills at once") }
    let impatient = Task {
      await signals.next()
      await supervisor.killAll()
    }
    await supervisor.stop()
    impatient.cancel()
  }

  private func say(_ ready: ClusterLife.Ready) throws {
    if json { return try Output.json(ready) }
    let here = FileManager.default.currentDirectoryPath + "/.widgetlab/default"
    let place = ready.instance == InstanceFolder(here).path ? "" : " --instance \(ready.instance)"
    let provider = ready.provider.map { ", provider \($0)" } ?? ""
    let pushServer = ready.pushServer.map { ", push server \($0.development)" } ?? ""
    Output.say(
      "ready: bus \(ready.endpoint)\(provider)\(pushServer); next, in a second terminal: `widgetlab tail\(place)`, then in a"
        + " third `widgetlab reload --all\(place)` and `widgetlab kill extension\(place)`")
  }

  private static func tell(_ news: Supervisor.News, json: Bool) {
    let line: String
    switch news {
    case .born(let name, let pid, let generation):
      line = "^ \(name) pid \(pid)\(generation > 1 ? ", started for the \(generation). time" : "")"
    case .died(let name, let pid, let ending, let pause):
      line = "! \(name) pid \(pid) ended: \(ending); started again\(pause > .zero ? " in \(pause)" : "")"
    }
    if json { Output.complain(line) } else { Output.say(line) }
  }
}

/// SIGINT, SIGTERM and SIGHUP, as they come.
final class Signals: Sendable {
  private let stream: AsyncStream<Int32>
  // Only held, so that they live as long as this: nobody touches them after init.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    self.stream = stream
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
  }

  /// Returns at the next signal; also when the task that waits is cancelled.
  func next() async {
    for await _ in stream { return }
  }
}
