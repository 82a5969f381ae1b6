// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages

/// Starts the whole cluster of an instance, in order, and reports when it is ready.
struct ClusterLifecycle {
  let cluster: ClusterFacts
  /// Finds the executables.
  let search: ExecutableSearch
  let supervisor: Supervisor
  private let reserved = ReservedPorts()
  /// Whether the console is started too.
  var hasConsole = false

  /// What `up` reports once: everything that a program needs to use the cluster.
  struct Ready: Codable, Sendable {
    let instance: String
    let configuration: String
    let endpoint: String
    let tap: String
    let publicKey: String
    /// The provider's URL; `nil` when the configuration has none.
    let provider: String?
    /// The push server's announcement; `nil` when the configuration has none.
    let pushServer: PushServerAnnouncement?
    /// The console's link with its token; `nil` without a console.
    let console: String?
    /// Pids by name; `up` is this process.
    let pids: [String: Int32]
  }

  static let patience = Duration.seconds(60)

  /// Creates the keys, starts all processes, and returns when a download that starts now would be delivered.
  ///
  /// - Throws: a command error with the name of the process that does not start, and its log.
  func start() async throws -> Ready {
    removeAnnouncements()
    do {
      try StandingKey.makeAll(for: cluster.configuration, in: cluster.instance)
      try StartedWith(configuration: cluster.configurationPath).write(in: cluster.folder)
    } catch {
      throw CommandError(Exit.configuration, "\(error)", at: cluster.folder)
    }
    try await supervisor.keep(bus)
    let announcement = try await step("message-bus did not announce itself", "message-bus") {
      try await announced(by: "message-bus") {
        try BusAnnouncement.read(in: cluster.instance)
      } pid: {
        $0.pid
      }
    }
    for number in cluster.configuration.agentNumbers { try await supervisor.keep(agent(number)) }
    try await supervisor.keep(host)
    let pushServer = try await startPushServer()
    var provider: ProviderAnnouncement?
    if let configured = cluster.configuration.provider {
      try await supervisor.keep(server(configured))
      provider = try await step("the provider did not announce itself", "provider") {
        try await announced(by: "provider") {
          try ProviderAnnouncement.read(in: cluster.instance)
        } pid: {
          $0.pid
        }
      }
    }
    try await step("the host did not become ready", "host") { try await hostIsReady() }
    let console = try await startConsole()
    await supervisor.allReady()
    return Ready(
      instance: cluster.folder, configuration: cluster.configurationPath, endpoint: announcement.endpoint,
      tap: announcement.tap, publicKey: announcement.publicKey, provider: provider?.url, pushServer: pushServer,
      console: console?.link, pids: await supervisor.pids.merging(["up": getpid()]) { old, _ in old })
  }

  /// The provider needs the push server's URL, so the push server is started first and chooses a free port.
  func startPushServer() async throws -> PushServerAnnouncement? {
    guard let configured = cluster.configuration.pushServer else { return nil }
    for address in cluster.pushServers {
      let name = ClusterFacts.standingName(of: address)
      let development =
        configured.developmentPort == 0 ? reserved.reserve(try await keptPort(of: "\(name) development")) : nil
      let production =
        configured.productionPort == 0 ? reserved.reserve(try await keptPort(of: "\(name) production")) : nil
      try await supervisor.keep(pushServer(configured, address, development, production))
    }
    let name = cluster.pushServers.first.map(ClusterFacts.standingName) ?? "push-server"
    return try await step("the push server did not announce itself", name) {
      try await announced(by: name) {
        try PushServerAnnouncement.read(in: cluster.instance)
      } pid: {
        $0.pid
      }
    }
  }

  /// The console chooses a free port and a token once, and keeps both.
  private func startConsole() async throws -> ConsoleAnnouncement? {
    guard hasConsole else { return nil }
    let arguments = ["console", "--instance", cluster.folder, "--config", cluster.configurationPath] + bound
    let executable = search.standing("widgetlab") ?? ProcessFacts.own
    try await supervisor.keep(SupervisedProcess(name: "console", executable: executable) { arguments })
    let instance = cluster.instance
    return try await step("the console did not announce itself", "console") {
      try await announced(by: "console") {
        try ConsoleAnnouncement.read(in: instance)
      } pid: {
        $0.pid
      }
    }
  }

  /// Removes the files that mark this instance as running, and keeps the ports that they have.
  func removeAnnouncements() {
    keepPorts()
    let instance = cluster.instance
    let files =
      [
        instance.busAnnouncement, instance.providerAnnouncement, instance.pushServerAnnouncement,
        SupervisedProcessList.file(in: cluster.folder),
      ] + cluster.pushServers.compactMap { $0.replica.map(instance.pushServerAnnouncement) }
    for file in files { unlink(file) }
  }

  // MARK: Processes and their arguments

  var bound: [String] { [ParentDeathSignal.option, "\(getpid())"] }

  /// A restarted broker listens on the same endpoints, since connected peers know no others.
  var bus: SupervisedProcess {
    let (instance, bound, configuration) = (cluster.instance, bound, cluster.configurationPath)
    let places = ["--listen", "--tap"].flatMap { option in
      reserved.reserve().map { [option, "tcp://127.0.0.1:\($0)"] } ?? []
    }
    return SupervisedProcess(name: "message-bus", executable: standing("message-bus")) {
      ["--instance", instance.path, "--config", configuration] + places + bound
    }
  }

  private func agent(_ number: Int) -> SupervisedProcess {
    let arguments =
      ["--instance", cluster.folder, "--config", cluster.configurationPath, "--number", "\(number)"]
      + (search.named.map { ["--executables", $0] } ?? []) + bound
    return SupervisedProcess(name: "agent-\(number)", executable: standing("process-agent")) { arguments }
  }

  private var host: SupervisedProcess {
    let arguments = ["--instance", cluster.folder, "--config", cluster.configurationPath] + bound
    return SupervisedProcess(name: "host", executable: standing("host-system")) { arguments }
  }

  /// A restarted push server keeps its ports, since providers use them.
  private func pushServer(
    _ configured: ClusterConfiguration.PushServer, _ address: Address, _ development: UInt16?, _ production: UInt16?
  ) -> SupervisedProcess {
    let (instance, bound, configuration) = (cluster.instance, bound, cluster.configurationPath)
    let executable =
      ExecutableCheck(cluster: cluster, search: search).path(ofPushServer: configured.executable)
      ?? configured.executable
    let replica = address.replica
    return SupervisedProcess(name: ClusterFacts.standingName(of: address), executable: executable) {
      let earlier =
        if let replica {
          try? PushServerAnnouncement.read(at: instance.pushServerAnnouncement(of: replica))
        } else {
          try? PushServerAnnouncement.read(in: instance)
        }
      let ports = [
        ("--development-port", earlier?.development, development),
        ("--production-port", earlier?.production, production),
      ]
      let kept = ports.flatMap { option, url, port in
        (url.flatMap { URL(string: $0)?.port } ?? port.map(Int.init)).map { [option, "\($0)"] } ?? []
      }
      let name = replica.map { ["--replica", $0] } ?? []
      return ["--instance", instance.path, "--config", configuration] + name + kept + bound
    }
  }

  /// A restarted provider keeps its port, since stored URLs contain it.
  private func server(_ provider: ClusterConfiguration.Provider) async throws -> SupervisedProcess {
    let instance = cluster.instance
    let arguments: [String]
    do {
      arguments = try cluster.configuration.arguments(of: provider, in: instance)
    } catch {
      throw CommandError(Exit.configuration, "the provider's arguments: \(error)", at: cluster.configurationPath)
    }
    let executable = search.authored(provider.executable) ?? provider.executable
    let isConfigured = arguments.contains { $0 == "--port" || $0.hasPrefix("--port=") }
    let kept = isConfigured ? nil : try await keptPort(of: "provider")
    return SupervisedProcess(name: "provider", executable: executable) {
      let earlier = (try? ProviderAnnouncement.read(in: instance)).flatMap { URL(string: $0.url)?.port }
      let port = (earlier ?? kept.map(Int.init)).map { ["--port", "\($0)"] } ?? []
      return ["--announce", instance.providerAnnouncement, "--die-with-parent"] + arguments + port
    }
  }

  func standing(_ name: String) -> String { search.standing(name) ?? name }

  // MARK: Waiting

  /// Waits for the announcement that the current process of that name has written itself.
  func announced<T: Sendable>(
    by name: String, read: @Sendable () throws -> T?, pid: @Sendable (T) -> Int32
  ) async throws -> T {
    while true {
      if let announcement = try read(), await supervisor.pid(of: name) == pid(announcement) { return announcement }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private func hostIsReady() async throws {
    let session = try await OperatorSession.open(cluster, within: Self.patience)
    do {
      while true {
        let reply = try? await session.connection.request(
          Ping(), to: cluster.host, within: .seconds(2), whenUnreachable: .wait)
        if reply?.isReady == true { break }
        try await Task.sleep(for: .milliseconds(20))
      }
      await session.connection.leave()
    } catch {
      await session.connection.leave()
      throw error
    }
  }

  /// Waits for one step of the start, until it is done, a process has failed permanently, or the time limit is reached.
  func step<T: Sendable>(
    _ what: String, _ name: String, _ work: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let (supervisor, log) = (supervisor, "\(cluster.folder)/logs/\(name).log")
    return try await withThrowingTaskGroup(of: T.self) { group in
      group.addTask { try await work() }
      group.addTask {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
          if let startFailure = await supervisor.startFailure { throw startFailure }
          try await Task.sleep(for: .milliseconds(50))
        }
        if let error = CommandError.noSpace(in: cluster.folder, Exit.broken) { throw error }
        throw CommandError(
          Exit.broken, "\(what) within \(Self.patience)", at: log,
          advice: "read that log; `widgetlab ps` shows what is running")
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }
}
