// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Cluster
import Foundation
import Glibc
import MessageBus
import Messages
import PrometheusMetrics

/// `widgetlab fleet up`.
struct FleetUpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "up",
    abstract:
      "Starts a fleet in the foreground, and prints one ready line when all its tokens are issued and registered.",
    discussion: """
      When the instance runs (`widgetlab up`), the fleet joins its push server. Otherwise bus and push server are started \
      with it, without a device, and restarted when they exit. Ctrl-C stops what this command has started. A fleet that is \
      started again continues from its database, with the same name, seed, number of devices and profile.

      EXAMPLES
        widgetlab fleet up --devices 100
        widgetlab fleet up --devices 100000 --profile day.yaml --report fleet.html
        widgetlab env                            URL, key and CA for your backend
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: "The number of devices.")
  var devices: Int

  @Option(
    help: ArgumentHelp("The profile: tokens, day and registration. Without it: the default day.", valueName: "file"))
  var profile: String?

  @Option(help: "The name of the fleet.")
  var name = "load"

  @Option(help: "The seed of the devices' days.")
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("The folder in which executables are searched for first.", valueName: "folder"))
  var executables: String?

  @Option(
    help: ArgumentHelp("A file for the report at the end: .json, .md or .html; may be repeated.", valueName: "file"))
  var report: [ReportFile] = []

  @Option(
    help: ArgumentHelp(
      "Expose metrics of the fleet for Prometheus at http://HOST:PORT/metrics.", valueName: "host:port"))
  var metrics: String?

  @Flag(help: "Print the ready line as one JSON object, and all else on standard error.")
  var json = false

  @Option(name: .customLong("die-with-parent"), help: .hidden)
  var dieWithParent: Int32?

  func validate() throws {
    guard FleetDevice.isName(name) else {
      throw ValidationError("'\(name)' is not the name of a fleet: use letters, digits, `-`, `_`, `.`, at most 40")
    }
    guard (1...Int(DeviceSet.limit)).contains(devices) else {
      throw ValidationError("--devices must be 1 to \(DeviceSet.limit), not \(devices)")
    }
    if let metrics, MetricsEndpoint(metrics) == nil {
      throw ValidationError("--metrics must be HOST:PORT, such as 127.0.0.1:9466, not '\(metrics)'")
    }
  }

  /// What is reported once.
  private struct Ready: Codable {
    let instance: String
    let fleet: String
    let devices: Int
    let tokens: Int
    /// From the start of the fleet's process.
    let seconds: Double
    let pushServer: PushServerAnnouncement?
    let pids: [String: Int32]
  }

  func run() async throws {
    let signals = Signals()
    try await reporting {
      if let profile {
        do throws(ClusterError) {
          _ = try FleetProfile(file: profile)
        } catch {
          throw CommandError(
            Exit.configuration, error.message, at: profile, advice: "Documentation/fleet.md lists the keys of a profile"
          )
        }
      }
      let folder = try options.folder()
      if let holder = InstanceLock.holder(in: folder) {
        let cluster = try options.cluster()
        note("the fleet joins the cluster of process \(holder)")
        return try await join(cluster, signals)
      }
      try await alone(InstanceFolder(folder), signals)
    }
  }

  // MARK: With its own bus and push server

  private func alone(_ instance: InstanceFolder, _ signals: Signals) async throws {
    do {
      try instance.create()
      try instance.createFleet(name)
    } catch {
      throw CommandError(Exit.configuration, "\(error)", at: instance.path)
    }
    let lock = try InstanceLock(instance: instance.path)
    defer { lock.release() }
    let cluster = try configured(instance)
    try UpCommand.checkLimits()
    let search = ExecutableSearch(configuration: cluster.configurationPath, named: executables)
    for executable in ["message-bus", "push-server", "device-fleet"] where search.standing(executable) == nil {
      throw CommandError(
        Exit.configuration, "the executable \(executable) was not found",
        at: search.places(ofStanding: executable).first,
        advice: "run `scripts/build` and `scripts/build device-fleet`, or give its folder with --executables")
    }
    let supervisor = Supervisor(instance: cluster.folder) { event in note(event) }
    let lifecycle = ClusterLifecycle(cluster: cluster, search: search, supervisor: supervisor)
    defer { lifecycle.removeAnnouncements() }
    do {
      try await untilSignal(signals) {
        let pushServer = try await lifecycle.startForFleet()
        try await supervisor.keep(process(cluster, search))
        try await follow(cluster, pushServer, pids: { await supervisor.pids }) {
          await supervisor.startFailure
        } ready: {
          await supervisor.allReady()
        }
      }
      try await writeReports(cluster)
    } catch {
      await supervisor.stop()
      throw error
    }
    note("stopping; press Ctrl-C again to kill at once")
    async let _ = Self.kill(supervisor, at: signals)
    await supervisor.stop()
  }

  private static func kill(_ supervisor: Supervisor, at signals: Signals) async {
    await signals.next()
    guard !Task.isCancelled else { return }
    await supervisor.killAll()
  }

  /// The configuration of the options, or one with a push server and nothing else.
  private func configured(_ instance: InstanceFolder) throws -> ClusterFacts {
    if options.config != nil { return try options.cluster() }
    let path = instance.path + "/fleet.yaml"
    let text = """
      # Made by `widgetlab fleet up`: a push server without a simulated device.
      device:
        name: none
      pushServer:
        logLimit: 1000000

      """
    do {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    } catch {
      throw CommandError(Exit.configuration, "cannot write \(path): \(error.localizedDescription)", at: path)
    }
    return try ClusterFacts(folder: instance.path, configurationPath: path)
  }

  private var arguments: [String] {
    ["--name", name, "--devices", "\(devices)", "--seed", "\(seed)"]
      + (profile.map { ["--profile", URL(fileURLWithPath: $0).standardizedFileURL.path] } ?? [])
      + (metrics.map { ["--metrics", $0] } ?? []) + [ParentDeathSignal.option, "\(getpid())"]
  }

  private func process(_ cluster: ClusterFacts, _ search: ExecutableSearch) -> SupervisedProcess {
    let arguments = ["--instance", cluster.folder] + arguments
    return SupervisedProcess(
      name: "fleet-\(name)", executable: search.standing("device-fleet") ?? "device-fleet"
    ) { arguments }
  }

  // MARK: In a running cluster

  private func join(_ cluster: ClusterFacts, _ signals: Signals) async throws {
    guard cluster.configuration.pushServer != nil else {
      throw CommandError(
        Exit.configuration, "this cluster has no push server", at: cluster.configurationPath,
        advice: "add `pushServer: {}`, or use another --instance: then bus and push server are started for the fleet")
    }
    do { try StandingKey.makeAll(for: cluster.configuration, in: cluster.instance) } catch {
      throw CommandError(Exit.configuration, "\(error)", at: cluster.folder)
    }
    let search = ExecutableSearch(configuration: cluster.configurationPath, named: executables)
    let log = ProcessLog("\(cluster.folder)/logs/fleet-\(name).log")
    let child = try await SpawnedProcess.start(
      search.standing("device-fleet") ?? "device-fleet", ["--instance", cluster.folder] + arguments, log: log)
    // Waiting for the value of a task cannot be cancelled; waiting for a stream can.
    let (endings, continuation) = AsyncStream.makeStream(of: ChildEnding.self)
    let ending = Task {
      let ending = await child.ending()
      await log.drain()
      continuation.yield(ending)
      continuation.finish()
    }
    do {
      try await untilSignal(signals) {
        let pushServer = try PushServerAnnouncement.read(in: cluster.instance)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            try await follow(cluster, pushServer, pids: { ["fleet-\(name)": child.pid] }) {
              nil
            } ready: {
            }
          }
          group.addTask {
            for await ending in endings { throw Self.ended(ending, log) }
          }
          defer { group.cancelAll() }
          try await group.next()
        }
      }
      try await writeReports(cluster)
    } catch {
      child.signal(SIGTERM)
      _ = await ending.value
      throw error
    }
    child.signal(SIGTERM)
    async let _ = child.kill(after: .seconds(3))
    _ = await ending.value
  }

  private static func ended(_ ending: ChildEnding, _ log: ProcessLog) -> CommandError {
    let last = log.lastLines.suffix(3).map { "         \($0)" }.joined(separator: "\n")
    return CommandError(
      ending == .exited(code: 78) ? Exit.configuration : Exit.broken, "the fleet has exited (\(ending.text))",
      at: log.path,
      advice: "the last lines of its log:\n\(last)")
  }

  // MARK: Progress

  /// Runs the work until it fails or a signal arrives.
  private func untilSignal(_ signals: Signals, _ work: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await work() }
      group.addTask { await signals.next() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Prints the progress until the fleet is ready, the ready line, and then rates while something is delivered.
  private func follow(
    _ cluster: ClusterFacts, _ pushServer: PushServerAnnouncement?, pids: @Sendable () async -> [String: Int32],
    failure: @Sendable () async -> CommandError?, ready: @Sendable () async -> Void
  ) async throws {
    let session = try await OperatorSession.open(cluster, within: ClusterLifecycle.patience)
    var isReady = false
    var last = ""
    var lastDelivered = 0
    var pause = Duration.milliseconds(200)
    do {
      while true {
        if let failure = await failure() { throw failure }
        if let state = try? await session.ask(FleetStatus(), ofFleet: name, within: .seconds(2)) {
          if !isReady, state.readyAfter != nil {
            isReady = true
            await ready()
            pause = .seconds(5)
            try await printReady(state, cluster: cluster, pushServer: pushServer, pids: pids())
          } else if !isReady {
            let line = progress(state)
            if line != last { note(line) }
            last = line
            pause = .seconds(1)
          } else if state.total.delivered != lastDelivered {
            note(
              "delivered \(FleetText.number(state.total.delivered)), \(FleetText.rate(state)), "
                + FleetText.latency(state.total.latency))
          }
          lastDelivered = state.total.delivered
        }
        try await Task.sleep(for: pause)
      }
    } catch {
      await session.connection.leave()
      throw error
    }
  }

  private func progress(_ state: FleetState) -> String {
    let tokens = state.tokens
    let error = state.registration.lastError.map { "; last error: \($0)" } ?? ""
    return "tokens: \(FleetText.number(tokens.issued + tokens.registered)) of \(FleetText.number(tokens.all)) issued, "
      + "\(FleetText.number(tokens.registered)) registered\(error)"
  }

  private func printReady(
    _ state: FleetState, cluster: ClusterFacts, pushServer: PushServerAnnouncement?, pids: [String: Int32]
  ) throws {
    let ready = Ready(
      instance: cluster.folder, fleet: name, devices: state.devices, tokens: state.tokens.all,
      seconds: state.readyAfter ?? 0, pushServer: pushServer, pids: pids.merging(["up": getpid()]) { old, _ in old })
    if json { return try Output.json(ready) }
    let place = options.instance == InstanceOptions.defaultInstance ? "" : " --instance \(options.instance)"
    Output.print(
      "ready: \(FleetText.number(ready.devices)) devices with \(FleetText.number(ready.tokens)) tokens after "
        + "\((ready.seconds * 10).rounded() / 10) s, push server \(pushServer?.development ?? "of the cluster"); next: "
        + "`widgetlab fleet status\(place)`, `widgetlab env\(place)`")
  }

  private func writeReports(_ cluster: ClusterFacts) async throws {
    guard !report.isEmpty else { return }
    let written = try await OperatorSession.with(cluster) { try await FleetReport.read($0, name) }
    for file in report { try file.write(written) }
  }

  private func note(_ line: String) {
    if json { Output.printError(line) } else { Output.print(line) }
  }

  private func note(_ event: Supervisor.Event) {
    switch event {
    case .launched(let name, let pid, let generation):
      note("^ \(name) pid \(pid)\(generation > 1 ? ", restarted (generation \(generation))" : "")")
    case .exited(let name, let pid, let ending, let pause):
      note("! \(name) pid \(pid) exited: \(ending); restarting\(pause > .zero ? " in \(pause)" : "")")
    case .notStarted(let name, let why, let pause):
      note("! \(name) was not restarted: \(why); the next attempt is in \(pause)")
    }
  }
}

extension ClusterLifecycle {
  /// Creates the keys, and starts bus and push server.
  ///
  /// - Returns: the push server's announcement.
  func startForFleet() async throws -> PushServerAnnouncement? {
    _ = try await startBus()
    return try await startPushServer()
  }
}
