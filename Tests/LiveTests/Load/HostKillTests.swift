// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages
import Testing
import WidgetLabTesting

/// The host is killed repeatedly, a hundred times with `scripts/test --long`, while fifty downloads at a time are
/// created, load and are delivered. `WIDGETLAB_SEED` repeats the kill times of an earlier run.
@Suite(.live, .timeLimit(.live)) struct `Repeated kills of the host` {
  private static let kills = BulkFixture.isLong ? 100 : 6
  private static let path = "/figures?size=98304&bytesPerSecond=65536"

  @Test func `fifty downloads at a time arrive whole, are delivered once and leave no file while the host is killed`()
    async throws
  {
    let seed = HostKillCampaign.seedOfThisRun
    do {
      try await BulkFixture.run("host kills", count: 50, path: Self.path) { try await play($0, seed) }
    } catch {
      throw LabError("seed \(seed): \(error)")
    }
  }

  @inline(never)
  private func play(_ fixture: BulkFixture, _ seed: UInt64) async throws {
    let files = try await Files(fixture)
    let ledger = CampaignLedger(owners: [LiveFixture.session: LiveFixture.widgetExtension]) {
      files.digests[($0.task - 1) % 50]
    }
    let campaign = try await HostKillCampaign.begin(fixture.cluster, ledger)
    let outcome = await Task { try await expectAll(files, campaign: campaign, fixture: fixture, seed: seed) }.result
    await campaign.bus.leave()
    try outcome.get()
  }

  @inline(never)
  private func expectAll(
    _ files: Files, campaign: HostKillCampaign, fixture: BulkFixture, seed: UInt64
  ) async throws {
    let load = Task {
      var batches = 0
      while !Task.isCancelled {
        batches += 1
        // A batch that has begun is not cancelled.
        let batch = batches
        try await Task { try await download(batch: batch, files: files, campaign: campaign, fixture: fixture) }.value
      }
      return batches
    }
    let killing = await Task { try await campaign.kill(rounds: Self.kills, seed: seed) }.result
    load.cancel()
    let recoveries = try killing.get()
    let batches = try await load.value
    try await campaign.settled()

    let foundFigures = try await campaign.watch.look { $0 }
    #expect(foundFigures.faults.isEmpty)
    #expect(foundFigures.acknowledgedTwice.isEmpty)
    #expect(foundFigures.accepted.count == batches * 50)
    #expect(foundFigures.completions.count == batches * 50 && foundFigures.completions.values.allSatisfy { $0 == 1 })
    #expect(fixture.leftFiles() == [])
    let longest = recoveries.max() ?? .zero
    print(
      "host killed \(Self.kills) times with seed \(seed): \(foundFigures.accepted.count) downloads in \(batches) "
        + "batches, \(foundFigures.last) envelopes; back after at most \(Int(longest / .milliseconds(1))) ms")
  }

  /// Makes the extension start fifty downloads, and compares their files when they are acknowledged.
  private func download(
    batch: Int, files: Files, campaign: HostKillCampaign, fixture: BulkFixture
  ) async throws {
    try fixture.letGo()
    try await campaign.bus.deliver(ReloadTimelines(widgetKind: LiveFixture.kind), to: LiveFixture.host)
    try await fixture.cluster.eventually("batch \(batch) is acknowledged") {
      try await campaign.watch.look { $0.accepted.count == batch * 50 && $0.unfinished.isEmpty }
    }
    for seed in 1...50 {
      let file = URL(fileURLWithPath: fixture.result(seed))
      #expect(try Data(contentsOf: file) == files.bytes[seed - 1], "download \(seed) of batch \(batch)")
      try FileManager.default.removeItem(at: file)
    }
  }

  /// The files that the provider serves.
  private struct Files {
    let bytes: [Data]
    let digests: [String]

    init(_ fixture: BulkFixture) async throws {
      var (bytes, digests): ([Data], [String]) = ([], [])
      for seed in 1...50 {
        let path = fixture.path(seed).replacing("&bytesPerSecond=65536", with: "")
        bytes.append(try await fixture.cluster.fetch(path))
        digests.append(try await fixture.cluster.sha256(of: bytes[seed - 1]))
      }
      self.bytes = bytes
      self.digests = digests
    }
  }
}
