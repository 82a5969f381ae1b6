// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import Foundation
import Glibc
import MessageBus
import Messages
import WidgetLabTesting

/// A cluster whose host is killed repeatedly, at times that are drawn from a seed.
struct HostKillCampaign: Sendable {
  /// `up` restarts a process at once if it ran this long; after a shorter run it waits.
  private static let shortRun = Duration.seconds(2)

  let cluster: LabCluster
  let watch: CampaignWatch
  let bus: Connection

  /// The seed of this run: `WIDGETLAB_SEED` to repeat an earlier run, or a random one.
  static var seedOfThisRun: UInt64 {
    ProcessInfo.processInfo.environment["WIDGETLAB_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
  }

  /// Connects as an operator.
  static func begin(_ cluster: LabCluster, _ ledger: CampaignLedger) async throws -> HostKillCampaign {
    let bus = try await connect(
      as: .operator, address: .operator("campaign"), instance: cluster.instance, within: LabTimeout.usual)
    return HostKillCampaign(cluster: cluster, watch: CampaignWatch(cluster.instance.journal, ledger), bus: bus)
  }

  /// Kills the host once in every round, and waits until it is back.
  ///
  /// - Returns: the recovery times, from the kill until the host is ready again.
  func kill(rounds: Int, seed: UInt64) async throws -> [Duration] {
    var random = SplitMix64(seed: seed)
    var readySince = ContinuousClock.now
    var recoveries: [Duration] = []
    for round in 1...rounds {
      let chance = Duration.microseconds(Int.random(in: 0...300_000, using: &random))
      // The random time of the kill.
      try await Task.sleep(until: max(readySince + Self.shortRun, .now) + chance)
      do {
        recoveries.append(try await kill())
      } catch {
        throw LabError("the host, killed in round \(round) of seed \(seed): \(error)")
      }
      readySince = .now
    }
    return recoveries
  }

  private func kill() async throws -> Duration {
    guard let pid = cluster.pid(of: "host") else { throw LabError("it has no pid") }
    let death = ContinuousClock.now
    try LabProcess(pid: pid).signal(SIGKILL)
    let deadline = death + LabTimeout.usual
    while true {
      let reply = try await bus.request(
        Ping(), to: LiveFixture.host, within: LabTimeout.usual, whenUnreachable: .wait)
      if reply.pid != pid, reply.isReady { return ContinuousClock.now - death }
      guard ContinuousClock.now < deadline else { throw LabError("it is not ready again within 60 s") }
      // The precision of a recovery time: the host sends no notification.
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// Returns when every accepted download is acknowledged and the host has no undelivered one.
  func settled() async throws {
    try await cluster.eventually("every download is acknowledged") {
      let status = try await bus.request(
        DeviceStatus(), to: LiveFixture.host, within: LabTimeout.usual, whenUnreachable: .wait)
      guard status.sessions.allSatisfy({ $0.running == 0 && $0.undelivered == 0 }) else { return false }
      return try await watch.look(\.unfinished.isEmpty)
    }
  }
}
