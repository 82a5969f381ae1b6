// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages
import Synchronization

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

  /// Creates the keys, and starts the bus.
  func startBus() async throws -> BusAnnouncement {
    removeAnnouncements()
    do {
      try StandingKey.makeAll(for: cluster.configuration, in: cluster.instance)
      try StartedWith(configuration: cluster.configurationPath).write(in: cluster.folder)
    } catch {
      throw CommandError(Exit.configuration, "\(error)", at: cluster.folder)
    }
    try await supervisor.keep(bus)
    return try await step("message-bus did not announce itself", name: "message-bus") {
      try await announced(by: "message-bus") {
        try BusAnnouncement.read(in: cluster.instance)
      } pid: {
        $0.pid
      }
    }
  }

  /// Creates the keys, starts all processes, and returns when a download that starts now would be delivered.
  ///
  /// - Throws: a command error with the name of the process that does not start, and its log.
  func start() async throws -> Ready {
    let announcement = try await startBus()
    for number in cluster.configuration.agentNumbers { try await supervisor.keep(agent(number)) }
    try await supervisor.keep(host)
    let pushServer = try await startPushServer()
    var provider: ProviderAnnouncement?
    if let configured = cluster.configuration.provider {
      try await supervisor.keep(server(configured))
      provider = try await step("the provider did not announce itself", name: "provider") {
        try await announced(by: "provider") {
          try ProviderAnnouncement.read(in: cluster.instance)
        } pid: {
          $0.pid
        }
      }
    }
    try await step("the host did not become ready", name: "host") { try await hostIsReady() }
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
      try await supervisor.keep(
        pushServer(configured, address: address, development: development, production: production))
    }
    let name = cluster.pushServers.first.map(ClusterFacts.standingName) ?? "push-server"
    return try await step("the push server did not announce itself", name: name) {
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
    let executable = search.standing("widgetlab") ?? ProcessFacts.ownExecutable
    try await supervisor.keep(SupervisedProcess(name: "console", executable: executable) { arguments })
    let instance = cluster.instance
    return try await step("the console did not announce itself", name: "console") {
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
    _ configured: ClusterConfiguration.PushServer, address: Address, development: UInt16?, production: UInt16?
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
    _ what: String, name: String, work: @escaping @Sendable () async throws -> T
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

/// `up.lock` of an instance. It is held by `flock` while `widgetlab up` runs, and released however it exits. The file
/// contains the holder's pid.
final class InstanceLock: Sendable {
  private let descriptor: CInt
  private let path: String

  static func file(in instance: String) -> String { instance + "/up.lock" }

  /// Takes the lock and writes this process's pid into it.
  ///
  /// - Throws: a command error with the holder, when another `up` holds the lock.
  init(instance: String) throws {
    path = Self.file(in: instance)
    while true {
      let candidate = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard candidate >= 0 else {
        throw CommandError(
          Exit.configuration, "cannot open the lock of the instance: \(String(cString: strerror(errno)))", at: path,
          advice: "choose a writable folder with --instance")
      }
      guard flock(candidate, LOCK_EX | LOCK_NB) == 0 else {
        let holder = Self.holder(in: instance).map { "process \($0)" } ?? "another process"
        close(candidate)
        throw CommandError(
          Exit.held, "this instance is already running: \(holder) holds its lock", at: path,
          advice: "use it, stop it with `widgetlab down`, or start another one with --instance NAME")
      }
      // The former holder may have removed the file between the two calls. Then the next `up` would lock another file.
      if InstanceLease.isStill(candidate, at: path) {
        descriptor = candidate
        break
      }
      close(candidate)
    }
    ftruncate(descriptor, 0)
    let text = "\(getpid())\n"
    _ = pwrite(descriptor, text, text.utf8.count, 0)
  }

  /// Removes the file and releases the lock.
  func release() {
    unlink(path)
    close(descriptor)
  }

  /// The pid of the `up` that holds the instance; `nil` when none does.
  static func holder(in instance: String) -> Int32? {
    let descriptor = open(file(in: instance), O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = max(0, pread(descriptor, &bytes, bytes.count, 0))
    let text = String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    // A lock without a running holder is not tried: another process may be acquiring it.
    guard let pid = Int32(text), ProcessFacts(pid: pid).isAlive, flock(descriptor, LOCK_EX | LOCK_NB) != 0 else {
      return nil
    }
    return pid
  }
}

/// The ports at which the servers of an instance first listened, in `ports.json`. Stored downloads and the configuration of
/// backends contain them, so each later start uses them again.
struct KeptPorts: Codable, Equatable {
  /// By the name of the server, such as `provider`; for a push server by environment, such as `push-server development`.
  var ports: [String: UInt16] = [:]

  static func file(in instance: InstanceFolder) -> String { instance.path + "/ports.json" }

  /// Reads the file. A missing or damaged one has no ports: free ones are chosen.
  static func read(in instance: InstanceFolder) -> KeptPorts {
    ((try? JSONFile.read(KeptPorts.self, at: file(in: instance))) ?? nil) ?? KeptPorts()
  }

  /// Keeps the port of a URL, unless the server has one already: one that was used only because that was in use does not
  /// replace it.
  mutating func keep(_ url: String?, of name: String) {
    guard ports[name] == nil, let port = url.flatMap({ URL(string: $0)?.port }).flatMap(UInt16.init(exactly:)) else {
      return
    }
    ports[name] = port
  }

  /// Whether a server can listen at a port of this machine.
  static func isFree(_ port: UInt16) -> Bool { ReservedPorts().reserve(port) != nil }
}

/// Ports of this machine that no other program gets while their server is killed and started again.
///
/// A socket that is bound and does not listen keeps each of them. A server can listen at it all the same if both set
/// `SO_REUSEADDR` (`man 7 socket`), as ZeroMQ and the push server do. It is no free port for the kernel.
final class ReservedPorts: Sendable {
  private let sockets = Mutex<[Int32]>([])

  deinit {
    for descriptor in sockets.withLock(\.self) { close(descriptor) }
  }

  /// - Parameter port: `nil` for any free one.
  /// - Returns: `nil` when another program listens at it, or there is no socket.
  func reserve(_ port: UInt16? = nil) -> UInt16? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = (port ?? 0).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else {
      close(descriptor)
      return nil
    }
    sockets.withLock { $0.append(descriptor) }
    return UInt16(bigEndian: address.sin_port)
  }
}

extension ClusterLifecycle {
  /// The announcement files of the push servers, by the name of the process.
  private var pushServerFiles: [(name: String, file: String)] {
    cluster.pushServers.map { address in
      let file = address.replica.map(cluster.instance.pushServerAnnouncement) ?? cluster.instance.pushServerAnnouncement
      return (ClusterFacts.standingName(of: address), file)
    }
  }

  /// Keeps the ports in the announcements, before these are removed.
  func keepPorts() {
    let instance = cluster.instance
    let before = KeptPorts.read(in: instance)
    var ports = before
    ports.keep((try? ProviderAnnouncement.read(in: instance))?.url, of: "provider")
    for (name, file) in pushServerFiles {
      let announcement = try? PushServerAnnouncement.read(at: file)
      ports.keep(announcement?.development, of: "\(name) development")
      ports.keep(announcement?.production, of: "\(name) production")
    }
    guard ports != before else { return }
    do {
      try JSONFile.write(ports, to: KeptPorts.file(in: instance))
    } catch {
      Output.printError("widgetlab: the next `widgetlab up` will choose other ports: \(error)")
    }
  }

  /// The port of an earlier start; `nil` before the first one, and when another process has the port, which is printed.
  func keptPort(of server: String) async throws -> UInt16? {
    guard let port = KeptPorts.read(in: cluster.instance).ports[server] else { return nil }
    // The processes of an `up` that was killed end with it, a moment later.
    for _ in 0..<40 {
      if KeptPorts.isFree(port) { return port }
      try await Task.sleep(for: .milliseconds(50))
    }
    Output.printError(
      "! port \(port) of \(server) is in use by another process: a free port is used until the next `widgetlab up`. "
        + "Downloads that were accepted with port \(port) wait; to end them, stop that process and start again")
    return nil
  }
}
