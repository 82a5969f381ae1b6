// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Testing
import WidgetLabTesting

/// Every process is killed in turn, a hundred times with `scripts/test --long`, under load and with three tails
/// running. `WIDGETLAB_SEED` repeats the kill times of an earlier run.
@Suite(.live, .timeLimit(.live)) struct `Repeated kills of every process` {
  private static let rounds = ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1" ? 100 : 3

  @Test func `the journal has no gap and no repetition and no download is lost while every process is killed in turn`()
    async throws
  {
    let seed = SplitMix64.seedOfThisRun
    do {
      try await LabCluster.with("chaos", configuration: KillCampaign.configuration) { try await play($0, seed) }
    } catch {
      throw LabError("seed \(seed): \(error)")
    }
  }

  @inline(never)
  private func play(_ cluster: LabCluster, _ seed: UInt64) async throws {
    let campaign = try await KillCampaign.begin(cluster)
    let middle = UInt64(try await campaign.watch.look(\.lines.count))
    let tails = [
      try await FollowedTail.start(cluster, .json, from: 1),
      try await FollowedTail.start(cluster, .json, from: middle),
      try await FollowedTail.start(cluster, .pretty, from: 1),
    ]
    let outcome = await Task { try await expectNothingLost(campaign, tails, seed) }.result
    for tail in tails { await tail.stop() }
    await campaign.bus.leave()
    try outcome.get()
  }

  @inline(never)
  private func expectNothingLost(_ campaign: KillCampaign, _ tails: [FollowedTail], _ seed: UInt64) async throws {
    let load = Task { try await campaign.load() }
    let killing = await Task { try await campaign.kill(rounds: Self.rounds, seed: seed) }.result
    load.cancel()
    let recoveries = try killing.get()
    try await load.value
    try await campaign.settled()

    let ledger = try await campaign.watch.look { $0 }
    print(Self.report(recoveries, ledger, seed))
    #expect(ledger.faults.isEmpty)
    #expect(ledger.acknowledgedTwice.isEmpty)
    #expect(ledger.accepted.count >= Self.rounds)
    #expect(ledger.busRuns == Array(1...UInt32(Self.rounds + 1)))
    for tail in tails { try await expect(tail, toShow: ledger, of: campaign.cluster) }
    let verdict = try await campaign.cluster.attempt(["journal", "verify"])
    #expect(verdict.status == 0, "\(verdict.output)\(verdict.errors)")
  }

  /// Checks that the tail's sequence numbers are consecutive and that each line matches the journal's envelope.
  private func expect(_ tail: FollowedTail, toShow ledger: CampaignLedger, of cluster: LabCluster) async throws {
    let last = UInt64(ledger.lines.count)
    try await cluster.eventually("the \(tail.name) has printed #\(last)", within: LabTimeout.usual) {
      try tail.last() >= last
    }
    let lines = try tail.lines().prefix { $0.sequence <= last }
    #expect(lines.map(\.sequence) == Array(tail.first...last), "\(tail.name)")
    let strange = lines.filter { line in
      let entry = ledger.lines[Int(line.sequence) - 1]
      return entry.kind != line.kind || line.id.map { $0 != entry.id } ?? false
    }
    #expect(strange.isEmpty, "\(tail.name)")
  }

  /// The recovery times of each victim: from its kill until it was ready again.
  private static func report(
    _ recoveries: [KillCampaign.Victim: [Duration]], _ ledger: CampaignLedger, _ seed: UInt64
  ) -> String {
    let rows = KillCampaign.Victim.allCases.compactMap { victim -> String? in
      guard let times = recoveries[victim]?.sorted(), let longest = times.last else { return nil }
      // The percentile by the nearest rank.
      let share = { (share: Double) in times[max(0, Int((Double(times.count) * share).rounded(.up)) - 1)] }
      let figures = [share(0.5), share(0.99), longest].map { "\(Int($0 / .milliseconds(1))) ms" }
      let name = victim.rawValue.padding(toLength: 12, withPad: " ", startingAt: 0)
      return "  \(name) killed \(times.count) times, back after \(figures.joined(separator: ", "))"
    }
    let load = "\(ledger.lines.count) envelopes, \(ledger.accepted.count) downloads"
    return (["chaos with seed \(seed): \(load); p50, p99 and the longest recovery"] + rows).joined(separator: "\n")
  }
}
