// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import FaultPoints
import Foundation
import MessageBus
import Messages
import Synchronization

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
    _ isStopped: Bool, _ victim: ChaosVictim, _ instances: [ChaosVictim: CampaignObserver.Instance]
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
