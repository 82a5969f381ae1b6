// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import FaultPoints
import Foundation
import Glibc
import MessageBus
import Messages
import Synchronization

/// A cluster that a campaign disturbs: its own, or one of containers.
protocol ChaosCluster: Sendable {
  var cluster: ClusterFacts { get }
  /// The folder of the journal.
  var journal: String { get }
  /// The URL of the provider; `nil` when it is not known.
  var provider: String? { get async }

  /// Starts it, or joins it.
  func start() async throws
  /// Ends what this campaign started, and each fault.
  func stop() async

  /// The connection of the workload. It is another one when the broker has moved.
  func session() async throws -> OperatorSession

  /// The processes that run.
  func running(_ instances: [ChaosVictim: CampaignObserver.Instance]) async -> [ChaosVictim]
  /// Kills processes at once.
  ///
  /// - Returns: the pids of those that it reached.
  func kill(_ victims: [ChaosVictim], _ instances: [ChaosVictim: CampaignObserver.Instance]) async -> [ChaosVictim:
    Int32]
  /// Stops or continues a process.
  ///
  /// - Returns: whether it was reached.
  func setStopped(
    _ isStopped: Bool, of victim: ChaosVictim, in instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> Bool
  /// Kills the broker, and damages the end of its journal before it is restarted.
  func killBus(_ damage: JournalDamage) async -> Int32?
  /// Removes the container of a process and creates it again.
  func recreate(_ victim: ChaosVictim) async -> Int32?
  /// Whether a standing process with another pid was started since it was killed.
  func isRestarted(_ victim: ChaosVictim, since pid: Int32) async -> Bool
  /// The state that a process was in when it was killed; `nil` when it is not known.
  func state(of victim: ChaosVictim, pid: Int32) -> String?
  /// Kills all processes, and does some work when none is left and before they restart.
  ///
  /// - Returns: the pids of the killed processes; empty when that is not possible.
  func killAll(whileDown work: @escaping @Sendable () -> Void) async -> [ChaosVictim: Int32]
  /// Limits what a process may use.
  func limit(
    _ victim: ChaosVictim, in instances: [ChaosVictim: CampaignObserver.Instance], resource: LimitedResource,
    spare: Int
  ) async -> ProcessLimit?
  /// The small disk of the cluster; `nil` when it has none.
  var disk: BoundedDisk? { get }
  /// The server of the downloads; `nil` when that is the provider.
  var server: MisbehavingServer? { get }
  /// Standing processes that ended by a trap.
  var traps: [ProcessTrap] { get async }
  /// The fault points; `nil` when the processes have none.
  var page: FaultPointPage? { get }
}

extension ChaosCluster {
  func killAll(whileDown work: @escaping @Sendable () -> Void) async -> [ChaosVictim: Int32] { [:] }
  func limit(
    _ victim: ChaosVictim, in instances: [ChaosVictim: CampaignObserver.Instance], resource: LimitedResource,
    spare: Int
  ) async -> ProcessLimit? { nil }
  var disk: BoundedDisk? { nil }
  var server: MisbehavingServer? { nil }
  var traps: [ProcessTrap] { get async { [] } }

  /// Arms a fault inside a process.
  ///
  /// - Returns: `nil` when it is of another kind, names nothing that this version has, or too many are armed.
  func arm(_ fault: ChaosFault) -> FaultPointPage.Fault? {
    page.flatMap { ChaosPoints(page: $0, cluster: cluster).arm(fault) }
  }
}

/// A campaign's own cluster: a cluster that this process supervises. All its processes end with this process, so no fault
/// outlives it.
struct OwnChaosCluster: ChaosCluster {
  let cluster: ClusterFacts
  let supervisor: Supervisor
  private let lifecycle: ClusterLifecycle
  private let lock: InstanceLock
  private let points: FaultPointPage
  private let connection: SharedOperatorSession
  let disk: BoundedDisk?
  let server: MisbehavingServer?
  static let kinds = Set(FaultKind.allCases).subtracting([.recreate])
  var page: FaultPointPage? { points }
  var journal: String { cluster.instance.journal }
  var provider: String? { (try? ProviderAnnouncement.read(in: cluster.instance))?.url }

  /// Checks the executables. Starts nothing.
  init(
    _ home: ChaosHome, executables: String?, server: MisbehavingServer? = nil, disk: BoundedDisk? = nil
  ) async throws {
    self.server = server
    self.disk = disk
    cluster = try ClusterFacts(folder: home.folder, configurationPath: home.configurationPath)
    let search = ExecutableSearch(configuration: cluster.configurationPath, named: executables)
    try await ExecutableCheck(cluster: cluster, search: search).run()
    lock = try InstanceLock(instance: cluster.folder)
    do {
      points = try FaultPointPage.create(at: cluster.instance.faultPoints)
    } catch {
      throw CommandError(Exit.broken, "\(error)", at: cluster.folder)
    }
    supervisor = Supervisor(instance: cluster.folder, restarts: .inCampaign) { _ in }
    connection = SharedOperatorSession(cluster)
    lifecycle = ClusterLifecycle(cluster: cluster, search: search, supervisor: supervisor)
  }

  func start() async throws { _ = try await lifecycle.start() }

  /// Stops all processes, like Ctrl-C.
  func stop() async {
    await connection.leave()
    await supervisor.stop()
    lifecycle.removeAnnouncements()
    lock.release()
    server?.stop()
  }

  func session() async throws -> OperatorSession { try await connection.session(within: .seconds(30)) }

  func running(_ instances: [ChaosVictim: CampaignObserver.Instance]) async -> [ChaosVictim] {
    await supervisor.pids.keys.map(ChaosVictim.init(rawValue:))
      + instances.filter { ProcessFacts(pid: $1.pid).runs($1.executable) }.map(\.key)
  }

  func kill(
    _ victims: [ChaosVictim], _ instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> [ChaosVictim: Int32] {
    await signal(victims, with: SIGKILL, in: instances)
  }

  func setStopped(
    _ isStopped: Bool, of victim: ChaosVictim, in instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> Bool {
    await signal([victim], with: isStopped ? SIGSTOP : SIGCONT, in: instances)[victim] != nil
  }

  private func signal(
    _ victims: [ChaosVictim], with number: Int32, in instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> [ChaosVictim: Int32] {
    let standing = await supervisor.signal(victims.filter { !$0.isLaunched }.map(\.rawValue), number)
    var reached = Dictionary(uniqueKeysWithValues: standing.map { (ChaosVictim(rawValue: $0), $1) })
    for victim in victims where victim.isLaunched {
      guard let instance = instances[victim], ProcessFacts(pid: instance.pid).runs(instance.executable),
        Glibc.kill(instance.pid, number) == 0
      else { continue }
      reached[victim] = instance.pid
    }
    return reached
  }

  func killBus(_ damage: JournalDamage) async -> Int32? {
    let folder = cluster.instance.journal
    return await supervisor.kill(ChaosVictim.messageBus.rawValue) { JournalEnd(folder: folder).damage(damage) }
  }

  func killAll(whileDown work: @escaping @Sendable () -> Void) async -> [ChaosVictim: Int32] {
    let killed = await supervisor.killAll(whileDown: work)
    return Dictionary(uniqueKeysWithValues: killed.map { (ChaosVictim(rawValue: $0), $1) })
  }

  func limit(
    _ victim: ChaosVictim, in instances: [ChaosVictim: CampaignObserver.Instance], resource: LimitedResource,
    spare: Int
  ) async -> ProcessLimit? {
    let pid = victim.isLaunched ? instances[victim]?.pid : await supervisor.pid(of: victim.rawValue)
    return pid.flatMap { ProcessLimit($0, resource, spare: spare) }
  }

  var traps: [ProcessTrap] { get async { await supervisor.traps } }

  /// It has no containers.
  func recreate(_ victim: ChaosVictim) async -> Int32? { nil }

  func state(of victim: ChaosVictim, pid: Int32) -> String? {
    guard let address = cluster.address(of: victim), let state = points.state(of: address, pid: pid) else { return nil }
    guard let point = state.point else { return "starting" }
    return point.isBefore || state.age < CampaignObserver.idle ? point.name : "idle"
  }

  func isRestarted(_ victim: ChaosVictim, since pid: Int32) async -> Bool {
    await supervisor.pid(of: victim.rawValue).map { $0 != pid } ?? false
  }
}

/// A cluster of containers that runs already, on this machine. It is disturbed from outside: `docker kill` and start,
/// `pause` and `unpause`, removal and creation of a container.
///
/// It uses the key of the operators and the journal, which are in volumes of the project, and the addresses of the
/// containers. A guard, which outlives this process, continues all containers when this process ends in whichever way.
final class ComposeChaosCluster: ChaosCluster {
  static let kinds: Set<FaultKind> = [.kill, .several, .stop, .network, .clock, .recreate]
  /// The service of each standing process in docker-compose.yml.
  static let services: [ChaosVictim: String] = [
    .messageBus: "message-bus", .host: "host-system", .agent(1): "containing-app", .agent(2): "widget-extension",
    .pushServer: "push-server", .provider: "provider-server",
  ]
  static let victims: [ChaosVictim] = (Array(services.keys) + [.widgetExtension, .app]).sorted()

  let cluster: ClusterFacts
  let journal: String
  private let docker: DockerProject
  private let connection: SharedOperatorSession
  private let guardian: DockerGuard
  /// Processes whose containers are being started.
  private let restarting = Mutex<Set<ChaosVictim>>([])
  private let endpoint = Mutex<String?>(nil)

  init(_ project: String, _ home: ChaosHome) async throws {
    docker = try await DockerProject(project, services: Array(Self.services.values))
    journal = try await docker.folder(ofVolume: "journal")
    try await docker.prepare(home)
    cluster = try ClusterFacts(folder: home.folder, configurationPath: home.configurationPath)
    connection = SharedOperatorSession(cluster)
    guardian = try await DockerGuard(docker)
  }

  var page: FaultPointPage? { nil }

  var provider: String? {
    get async { await docker.address(of: "provider-server").map { "http://\($0):8080" } }
  }

  func start() async throws { _ = try await session() }

  /// Continues and starts all containers.
  func stop() async {
    await connection.leave()
    await guardian.end()
  }

  /// A container that was created again may have another address.
  func session() async throws -> OperatorSession {
    if let address = await docker.address(of: "message-bus") {
      let isOther = endpoint.withLock { endpoint in
        defer { endpoint = address }
        return endpoint != address
      }
      if isOther {
        await connection.leave()
        try await docker.announce(address, in: cluster.instance)
      }
    }
    return try await connection.session(within: .seconds(30))
  }

  func running(_ instances: [ChaosVictim: CampaignObserver.Instance]) async -> [ChaosVictim] {
    let down = restarting.withLock { $0 }
    return Self.services.keys.filter { !down.contains($0) } + Array(instances.keys)
  }

  func kill(
    _ victims: [ChaosVictim], _ instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> [ChaosVictim: Int32] {
    let standing = victims.filter { !$0.isLaunched && isFree($0) }
    var killed: [ChaosVictim: Int32] = [:]
    for victim in victims where victim.isLaunched {
      if let pid = await signal(victim, SIGKILL) { killed[victim] = pid }
    }
    let services = standing.compactMap { Self.services[$0] }
    guard !services.isEmpty else { return killed }
    if await docker.run(["kill"] + docker.containers(of: services)) { for victim in standing { killed[victim] = 0 } }
    _ = await docker.run(["start"] + docker.containers(of: services))
    restarting.withLock { $0.subtract(standing) }
    return killed
  }

  func setStopped(
    _ isStopped: Bool, of victim: ChaosVictim, in instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> Bool {
    if victim.isLaunched { return await signal(victim, isStopped ? SIGSTOP : SIGCONT) != nil }
    guard let service = Self.services[victim] else { return false }
    return await docker.run([isStopped ? "pause" : "unpause"] + docker.containers(of: [service]))
  }

  func recreate(_ victim: ChaosVictim) async -> Int32? {
    guard let service = Self.services[victim], isFree(victim) else { return nil }
    let isDone = await docker.recreate(service)
    restarting.withLock { _ = $0.remove(victim) }
    return isDone ? 0 : nil
  }

  /// A volume is not this process's to damage.
  func killBus(_ damage: JournalDamage) async -> Int32? { nil }

  func isRestarted(_ victim: ChaosVictim, since pid: Int32) async -> Bool {
    restarting.withLock { !$0.contains(victim) }
  }

  func state(of victim: ChaosVictim, pid: Int32) -> String? { nil }

  /// Whether nothing else is being done with the container; then it is marked.
  private func isFree(_ victim: ChaosVictim) -> Bool { restarting.withLock { $0.insert(victim).inserted } }

  /// Sends a signal to an app or an extension through its agent.
  private func signal(_ victim: ChaosVictim, _ number: Int32) async -> Int32? {
    guard let address = cluster.address(of: victim), let connection = try? await session().connection else {
      return nil
    }
    for agent in cluster.agents {
      let reply = try? await connection.request(
        SignalProcess(address: address, generation: nil, signal: number), to: agent, within: .seconds(2))
      if let reply { return reply.pid }
    }
    return nil
  }
}
