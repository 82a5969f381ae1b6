// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Dispatch
import Foundation
import Glibc
import JournalAnalysis
import Synchronization

/// `widgetlab up`.
struct UpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "up",
    abstract: "Starts the cluster of widgetlab.yaml in the foreground and supervises its processes.",
    discussion: """
      Creates the keys, starts bus, agents, host, push server and provider, and prints one ready line when a download \
      started now would be delivered. A standing process that exits is restarted. Ctrl-C, SIGTERM and SIGHUP stop \
      everything in reverse order and leave nothing behind; a second Ctrl-C kills at once. When this process itself is \
      killed, all of them are killed with it.

      The output of the processes is in <instance>/logs: at 10 MiB, NAME.log becomes NAME.log.1.

      EXECUTABLES
      Nothing is started when an executable cannot be started: it does not exist, is not executable, is built for \
      another machine, or needs a shared library that is missing.

      \(ExecutableSearch.help)

      EXAMPLES
        widgetlab up                             the cluster of ./widgetlab.yaml
        widgetlab up --instance second           a second cluster
        widgetlab up --json                      the ready line as a JSON object
        widgetlab up --check                     reports when a law breaks
        widgetlab up --console                   and a page in a browser
        widgetlab up --executables .build/debug
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: ArgumentHelp("The folder in which executables are searched for first.", valueName: "folder"))
  var executables: String?

  @Flag(help: "Print the ready line as one JSON object.")
  var json = false

  @Flag(
    help: """
      Check the laws of `widgetlab check` while the cluster runs: prints a line when one breaks, and the verdicts at the \
      end. The exit code is then that of `check`.
      """)
  var check = false

  @Flag(help: "Also start the console (see `widgetlab console`); the ready line has its link.")
  var console = false

  @Option(name: .customLong("die-with-parent"), help: .hidden)
  var dieWithParent: Int32?

  func run() async throws {
    let signals = Signals()
    try await reporting { try await run(until: signals) }
  }

  /// Starts the cluster, and runs until a signal.
  ///
  /// - Parameter afterReady: what to do when the cluster is ready, instead of printing the ready line.
  func run(until signals: Signals, afterReady: (@Sendable (ClusterFacts) async -> Void)? = nil) async throws {
    // The configuration of an earlier `up` is not used.
    let path = options.config ?? InstanceOptions.defaultConfiguration
    var ownOptions = options
    ownOptions.config = path
    let cluster = try ownOptions.cluster()
    try Self.checkLimits()
    try validate(cluster)
    let search = ExecutableSearch(configuration: cluster.configurationPath, named: executables)
    try await ExecutableCheck(cluster: cluster, search: search).run()
    if let error = CommandError.noSpace(in: cluster.folder, Exit.broken) { throw error }
    do {
      try cluster.instance.create()
    } catch {
      throw CommandError(Exit.configuration, "\(error)", at: cluster.folder)
    }
    let lock = try InstanceLock(instance: cluster.folder)
    defer { lock.release() }
    let entry = InstanceRegistry.Entry(instance: cluster.folder, configuration: cluster.configurationPath)
    let file = enter(entry)
    defer { file?.remove() }
    try await live(cluster, search: search, signals: signals, afterReady: afterReady) { ready in
      var entry = entry
      entry.endpoint = ready.endpoint
      entry.tap = ready.tap
      entry.publicKey = ready.publicKey
      entry.provider = ready.provider
      try file?.write(entry)
    }
  }

  /// The processes of the cluster inherit the limits of this one.
  static func checkLimits() throws {
    do {
      try ProcessLimits.check()
    } catch {
      throw CommandError(Exit.configuration, error.message, at: "the shell that runs `widgetlab`")
    }
  }

  /// Reports mistakes in files that the configuration names, before anything is started.
  private func validate(_ cluster: ClusterFacts) throws {
    for product in cluster.configuration.products {
      do {
        _ = try product.readInfoPlist()
        _ = try product.bundleInformation()
      } catch {
        throw CommandError(
          Exit.configuration, error.message, at: "infoPlist of \(product.bundle) in \(cluster.configurationPath)",
          advice: "name the Info.plist of the target and the values that it needs, or remove infoPlist")
      }
    }
    for product in cluster.configuration.products {
      do {
        _ = try product.bundleResources()
      } catch {
        throw CommandError(
          Exit.configuration, error.message, at: cluster.configurationPath,
          advice: "paths are relative to the folder of this file")
      }
    }
    guard let budget = cluster.configuration.settings.budget else { return }
    do {
      _ = try BudgetFile(file: budget)
    } catch {
      throw CommandError(
        Exit.configuration, error.message, at: "settings: budget of \(cluster.configurationPath)",
        advice: "see deploy/budgets for valid examples")
    }
  }

  /// A cluster that cannot be registered is still usable by its path.
  private func enter(_ entry: InstanceRegistry.Entry) -> InstanceLease? {
    do {
      return try InstanceLease(entry, in: .ofThisUser)
    } catch {
      Output.printText("\(error)\n  (`widgetlab list` will not show this cluster)", isError: true)
      return nil
    }
  }

  /// What happens while a cluster runs.
  private enum Moment: Sendable {
    case ready(ClusterLifecycle.Ready)
    /// What was to be done after that is done.
    case done
    case signal
  }

  private func live(
    _ cluster: ClusterFacts, search: ExecutableSearch, signals: Signals,
    afterReady: (@Sendable (ClusterFacts) async -> Void)?, whenReady: (ClusterLifecycle.Ready) throws -> Void
  ) async throws {
    let json = json
    let supervisor = Supervisor(instance: cluster.folder) { Self.printEvent($0, json: json) }
    let lifecycle = ClusterLifecycle(cluster: cluster, search: search, supervisor: supervisor, hasConsole: console)
    defer { lifecycle.removeAnnouncements() }
    let following = check ? LawFollowing(journal: cluster.instance.journal) { Self.printBreach($0, json: json) } : nil
    await following?.begin()
    do {
      try await withThrowingTaskGroup(of: Moment.self) { group in
        group.addTask { .ready(try await lifecycle.start()) }
        group.addTask {
          await signals.next()
          return .signal
        }
        while let moment = try await group.next() {
          switch moment {
          case .ready(let ready):
            try whenReady(ready)
            for line in Self.removedProducts(cluster) { Output.printError(line) }
            if let afterReady {
              if let console = ready.console { Output.print("console: \(console)") }
              group.addTask {
                await afterReady(cluster)
                return .done
              }
            } else {
              try printReady(ready)
            }
          case .done: continue
          case .signal: return group.cancelAll()
          }
        }
      }
    } catch {
      await supervisor.stop()
      _ = await following?.end()
      throw error
    }
    if !json { Output.print("stopping; press Ctrl-C again to kill at once") }
    // Cancelled and awaited at the end of this scope.
    async let _ = Self.kill(supervisor, at: signals)
    await supervisor.stop()
    if let following { try CheckCommand.exit(with: try await Self.printVerdicts(following, json: json)) }
  }

  /// Prints the verdicts about what this cluster wrote, when nothing more is written.
  private static func printVerdicts(_ following: LawFollowing, json: Bool) async throws -> LawVerdict.Answer {
    let checker = await following.end()
    let verdicts = checker.verdicts()
    for line in LawText.lines(verdicts, of: checker, isColored: !json && Output.isColored) {
      if json { Output.printError(line) } else { Output.print(line) }
    }
    return LawVerdict.answer(verdicts)
  }

  private static func printBreach(_ news: LawChecker.News, json: Bool) {
    if json {
      Output.printError(LawText.line(news, isColored: false))
    } else {
      Output.print(LawText.line(news, isColored: Output.isColored))
    }
  }

  /// Kills all processes at the next signal.
  private static func kill(_ supervisor: Supervisor, at signals: Signals) async {
    await signals.next()
    guard !Task.isCancelled else { return }
    await supervisor.killAll()
  }

  /// A line for each app and extension that the device had, and that the configuration does not have any more.
  private static func removedProducts(_ cluster: ClusterFacts) -> [String] {
    let device = cluster.instance.device(cluster.device)
    let found = (try? FileManager.default.contentsOfDirectory(atPath: device.containers)) ?? []
    return found.sorted().filter { cluster.configuration.product($0) == nil }.map { bundle in
      "! \(bundle) is not in \(cluster.configurationPath) any more: the device has removed its process, widgets and "
        + "tasks; its files stay in \(device.containers(of: bundle)), which you may delete"
    }
  }

  private func printReady(_ ready: ClusterLifecycle.Ready) throws {
    if json { return try Output.json(ready) }
    let here = FileManager.default.currentDirectoryPath + "/.widgetlab/default"
    let place = ready.instance == InstanceFolder(here).path ? "" : " --instance \(ready.instance)"
    let provider = ready.provider.map { ", provider \($0)" } ?? ""
    let pushServer = ready.pushServer.map { ", push server \($0.development)" } ?? ""
    let console = ready.console.map { ", console \($0)" } ?? ""
    Output.print(
      "ready: bus \(ready.endpoint)\(provider)\(pushServer)\(console); next: `widgetlab tail\(place)` in a second terminal, then"
        + " `widgetlab reload --all\(place)` and `widgetlab kill extension\(place)` in a third")
  }

  private static func printEvent(_ event: Supervisor.Event, json: Bool) {
    let line: String
    switch event {
    case .launched(let name, let pid, let generation):
      line = "^ \(name) pid \(pid)\(generation > 1 ? ", restarted (generation \(generation))" : "")"
    case .exited(let name, let pid, let ending, let pause):
      line = "! \(name) pid \(pid) exited: \(ending); restarting\(pause > .zero ? " in \(pause)" : "")"
    case .notStarted(let name, let why, let pause):
      line = "! \(name) was not restarted: \(why); the next attempt is in \(pause)"
    }
    if json { Output.printError(line) } else { Output.print(line) }
  }
}

/// Receives SIGINT, SIGTERM and SIGHUP. A process has one: each new one sets how the process treats these signals, while
/// the dispatch sources of another may be setting that too. Any thread.
final class Signals: Sendable {
  private let signalWaiters = SignalWaiters()
  // Only retained for the lifetime of this object, and not accessed after init.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  /// Returns when signals are received: until then each ends this process, which has started nothing yet. They are never
  /// ignored, because an ignored signal is lost.
  init() {
    let (signalWaiters, registered) = (signalWaiters, DispatchGroup())
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_DFL)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { signalWaiters.received() }
      registered.enter()
      source.setRegistrationHandler { registered.leave() }
      source.resume()
      return source
    }
    registered.wait()
  }

  /// Returns at the next signal, or when the waiting task is cancelled. A signal that comes while no task waits is kept
  /// for the next call.
  func next() async { await signalWaiters.next() }

  /// Whether a signal was received that no task has waited for.
  var isReceived: Bool { signalWaiters.isKept }
}

/// Tasks that wait for a signal. Each signal ends the wait of the one that has waited longest. Any thread.
final class SignalWaiters: Sendable {
  private struct State {
    var keptCount = 0
    var last = 0
    var waiters: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []

    mutating func remove(_ number: Int) -> CheckedContinuation<Void, Never>? {
      guard let index = waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return waiters.remove(at: index).continuation
    }
  }

  private let state = Mutex(State())

  var isKept: Bool { state.withLock { $0.keptCount > 0 } }

  func received() {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
      state.keptCount += 1
      return nil
    }
    continuation?.resume()
  }

  func next() async {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          // A task that is cancelled later finds the waiter.
          if Task.isCancelled { return true }
          guard state.keptCount == 0 else {
            state.keptCount -= 1
            return true
          }
          state.waiters.append((number, continuation))
          return false
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.remove(number) }?.resume()
    }
  }
}

/// `widgetlab down`.
struct DownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "down",
    abstract: "Stops the `widgetlab up` of an instance, like Ctrl-C in its terminal, and waits until it has exited.",
    discussion: """
      Exit code 0 when it has exited, or when none was running. The device's data stays in the instance folder.

      EXAMPLES
        widgetlab down
        widgetlab down --instance other
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: "Seconds to wait before it and all its processes are killed.")
  var timeout = 20.0

  func run() async throws {
    try await reporting {
      let folder = try options.folder()
      guard let pid = InstanceLock.holder(in: folder) else {
        Output.print("no cluster is running in \(folder)\(InstanceOptions.adviceToName)")
        return
      }
      kill(pid, SIGTERM)
      let clock = ContinuousClock()
      let deadline = clock.now + .saturating(seconds: timeout)
      while InstanceLock.holder(in: folder) == pid {
        if clock.now > deadline {
          kill(pid, SIGKILL)
          throw CommandError(
            Exit.broken, "`widgetlab up` (pid \(pid)) did not exit within \(timeout) s and was killed", at: folder,
            advice: "its processes were killed too; read \(folder)/logs")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
      Output.print("stopped \(folder)")
    }
  }
}
