// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import FaultPoints

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
    _ isStopped: Bool, _ victim: ChaosVictim, _ instances: [ChaosVictim: CampaignObserver.Instance]
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
    _ victim: ChaosVictim, _ instances: [ChaosVictim: CampaignObserver.Instance], _ resource: LimitedResource,
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
    _ victim: ChaosVictim, _ instances: [ChaosVictim: CampaignObserver.Instance], _ resource: LimitedResource,
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
