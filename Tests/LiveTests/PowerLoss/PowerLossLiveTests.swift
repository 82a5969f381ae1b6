// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A power failure at any write of a running cluster. Its host, push server and broker are traced; `DiskModel` computes
/// what their disk may have at any time; and each such disk is opened and searched for everything that was acknowledged
/// before. `WIDGETLAB_SEED` repeats the choice of an earlier run, over a new trace.
@Suite(.live, .timeLimit(.live)) struct `Power failures` {
  private static let failures = BulkFixture.isLong ? 2000 : 240

  @Test(
    .enabled("this machine does not permit ptrace, so no process can be traced") { try await DiskTracer.isPermitted() })
  func `nothing that was acknowledged is lost in a power failure at any write`() async throws {
    try await rounds(isSynchronized: true)
    try await rounds(isSynchronized: false)
  }

  private func rounds(isSynchronized: Bool) async throws {
    let first = HostKillCampaign.seedOfThisRun
    for round in 1...LiveTrait.rounds {
      let seed = first &+ UInt64(round - 1)
      do {
        try await LabCluster.with(
          "power", configuration: PowerLossFixture.configuration(isSynchronized: isSynchronized)
        ) {
          try await play(PowerLossFixture(cluster: $0), seed: seed, isSynchronized: isSynchronized)
        }
      } catch {
        throw LabError("round \(round), seed \(seed): \(error)")
      }
    }
  }

  @inline(never)
  private func play(_ fixture: PowerLossFixture, seed: UInt64, isSynchronized: Bool) async throws {
    let campaign = try await PowerCampaign.record(fixture, isSynchronized: isSynchronized)
    defer { campaign.remove() }
    try campaign.expectModelIsExact()
    let foundFailures = try campaign.fail(Self.failures, seed: seed)
    print("power failures with seed \(seed): \(foundFailures.count) after \(campaign.trace.steps.count) steps")
    #expect(foundFailures.losses.isEmpty, "seed \(seed)")
    for control in PowerCampaign.controls where control.loses(isSynchronized) {
      let lost = try campaign.fail(60, seed: seed, ignoring: control.ignores) { $0.kinds.contains(control.kind) }
      #expect(lost.kinds.contains(control.kind), "\(control.name), seed \(seed): \(lost.losses)")
    }
    if !isSynchronized {
      let lost = try campaign.fail(60, seed: seed, missing: "/bus/numbers") { $0.kinds.contains(.number) }
      #expect(lost.kinds.contains(.number), "without the file of the numbers, seed \(seed): \(lost.losses)")
    }
    for (number, failure) in foundFailures.last.enumerated() {
      try await campaign.restart(failure, number: number + 1)
    }
  }
}
