import Cluster
import Conversations
import Foundation
import Glibc
import MessageBus

/// Starts the whole cluster of an instance, in order, and says when it is ready.
struct ClusterLife {
  let cluster: ClusterFacts
  /// Where the executables are.
  let search: ExecutableSearch
  let supervisor: Supervisor

  /// What `up` says once: all that a program needs to use the cluster.
  struct Ready: Codable, Sendable {
    let instance: String
    let configuration: String
    let endpoint: String
    let tap: String
    let publicKey: String
    /// Where the provider listens; `nil` when the configuration has none.
    let provider: String?
    /// Where the push server listens; `nil` when the configuration has none.
    let pushServer: PushServerAnnouncement?
    /// By name; `up` is this tool itself.
    let pids: [String: Int32]
  }

  static let patience = Duration.seconds(60)

  /// Makes the keys, starts everything, and returns when a download that is started at once would be delivered.
  ///
  /// - Throws: a complaint that names the process that does not start and its log.
  func start() async throws -> Ready {
    removeAnnouncements()
    do {
      try StandingKey.makeAll(for: cluster.configuration, in: cluster.instance)
      try StartedWith(configuration: cluster.configurationPath).write(in: cluster.folder)
    } catch {
      throw Complaint(Exit.configuration, "\(error)", at: cluster.folder)
    }
    try await supervisor.keep(bus)
    let announcement = try await step("message-bus does not announce itself", "message-bus") {
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
      provider = try await step("the provider does not announce itself", "provider") {
        try await announced(by: "provider") {
          try ProviderAnnouncement.read(in: cluster.instance)
        } pid: {
          $0.pid
        }
      }
    }
    try await step("the host does not get ready", "host") { try await hostIsReady() }
    await supervisor.allReady()
    return Ready(
      instance: cluster.folder, configuration: cluster.configurationPath, endpoint: announcement.endpoint,
      tap: announcement.tap, publicKey: announcement.publicKey, provider: provider?.url, pushServer: pushServer,
      pids: await supervisor.pids.merging(["up": getpid()]) { old, _ in old })
  }

  /// It knows a free port no sooner than the provider has to be told of it.
  private func startPushServer() async throws -> PushServerAnnouncement? {
    guard let configured = cluster.configuration.pushServer else { return nil }
    try await supervisor.keep(pushServer(configured))
    return try await step("the push server does not announce itself", "push-server") {
      try await announced(by: "push-server") {
        try PushServerAnnouncement.read(in: cluster.instance)
      } pid: {
        $0.pid
      }
    }
  }

  /// Takes away what says that this instance is running.
  func removeAnnouncements() {
    let instance = cluster.instance
    let files = [
      instance.busAnnouncement, instance.providerAnnouncement, instance.pushServerAnnouncement,
      StandingProcesses.file(in: cluster.folder),
    ]
    for file in files { unlink(file) }
  }

  // MARK: Who is started, and how

  private var bound: [String] { [Birth.option, "\(getpid())"] }

  /// A broker that comes again listens where the first one did: those who are connected know no other place.
  private var bus: KeptProcess {
    let (instance, bound, configuration) = (cluster.instance, bound, cluster.configurationPath)
    return KeptProcess(name: "message-bus", executable: standing("message-bus")) {
      let earlier = try? BusAnnouncement.read(in: instance)
      let places = earlier.map { ["--listen", $0.endpoint, "--tap", $0.tap] } ?? []
      return ["--instance", instance.path, "--config", configuration] + places + bound
    }
  }

  private func agent(_ number: Int) -> KeptProcess {
    let arguments =
      ["--instance", cluster.folder, "--config", cluster.configurationPath, "--number", "\(number)"]
      + (search.named.map { ["--executables", $0] } ?? []) + bound
    return KeptProcess(name: "agent-\(number)", executable: standing("process-agent")) { arguments }
  }

  private var host: KeptProcess {
    let arguments = ["--instance", cluster.folder, "--config", cluster.configurationPath] + bound
    return KeptProcess(name: "host", executable: standing("host-system")) { arguments }
  }

  /// Providers name its ports, so it keeps them.
  private func pushServer(_ configured: ClusterConfiguration.PushServer) -> KeptProcess {
    let (instance, bound, configuration) = (cluster.instance, bound, cluster.configurationPath)
    let executable =
      ExecutableCheck(cluster: cluster, search: search).path(ofPushServer: configured.executable)
      ?? configured.executable
    return KeptProcess(name: "push-server", executable: executable) {
      let earlier = try? PushServerAnnouncement.read(in: instance)
      let ports = [("--development-port", earlier?.development), ("--production-port", earlier?.production)]
      let kept = ports.flatMap { option, url in
        url.flatMap { URL(string: $0)?.port }.map { [option, "\($0)"] } ?? []
      }
      return ["--instance", instance.path, "--config", configuration] + kept + bound
    }
  }

  /// Stored URLs name the provider's port, so it keeps it.
  private func server(_ provider: ClusterConfiguration.Provider) throws -> KeptProcess {
    let instance = cluster.instance
    let arguments: [String]
    do {
      arguments = try cluster.configuration.arguments(of: provider, in: instance)
    } catch {
      throw Complaint(Exit.configuration, "the provider's arguments: \(error)", at: cluster.configurationPath)
    }
    let executable = search.authored(provider.executable) ?? provider.executable
    return KeptProcess(name: "provider", executable: executable) {
      let earlier = (try? ProviderAnnouncement.read(in: instance)).flatMap { URL(string: $0.url)?.port }
      let port = earlier.map { ["--port", "\($0)"] } ?? []
      return ["--announce", instance.providerAnnouncement, "--die-with-parent"] + arguments + port
    }
  }

  private func standing(_ name: String) -> String { search.standing(name) ?? name }

  // MARK: Waiting

  /// Waits for the announcement that the living process of that name wrote itself.
  private func announced<T: Sendable>(
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

  /// Waits for one thing of the start, until it is there, a process turned out hopeless, or patience ends.
  private func step<T: Sendable>(
    _ what: String, _ name: String, _ work: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let (supervisor, log) = (supervisor, "\(cluster.folder)/logs/\(name).log")
    return try await withThrowingTaskGroup(of: T.self) { group in
      group.addTask { try await work() }
      group.addTask {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
          if let hopeless = await supervisor.hopeless { throw hopeless }
          try await Task.sleep(for: .milliseconds(50))
        }
        throw Complaint(
          Exit.broken, "\(what) within \(Self.patience)", at: log,
          advice: "read that log; `widgetlab ps` says who lives")
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }
}
