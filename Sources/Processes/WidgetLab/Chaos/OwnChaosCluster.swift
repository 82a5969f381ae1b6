// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import FaultPoints
import Foundation
import Glibc
import Messages

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
    await signal(victims, SIGKILL, instances)
  }

  func setStopped(
    _ isStopped: Bool, _ victim: ChaosVictim, _ instances: [ChaosVictim: CampaignObserver.Instance]
  ) async -> Bool {
    await signal([victim], isStopped ? SIGSTOP : SIGCONT, instances)[victim] != nil
  }

  private func signal(
    _ victims: [ChaosVictim], _ number: Int32, _ instances: [ChaosVictim: CampaignObserver.Instance]
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
    _ victim: ChaosVictim, _ instances: [ChaosVictim: CampaignObserver.Instance], _ resource: LimitedResource,
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
