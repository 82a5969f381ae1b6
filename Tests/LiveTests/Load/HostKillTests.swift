import Conversations
import Foundation
import MessageBus
import Testing
import WidgetLabTesting

/// The host is killed again and again, a hundred times with `scripts/test --long`, while fifty downloads at a time are
/// made, load and are handed over. `WIDGETLAB_SEED` plays the instants of an earlier run again.
@Suite(.live, .timeLimit(.live)) struct `Under a hundred kills of the host` {
  private static let kills = BulkTrial.isLong ? 100 : 6
  private static let path = "/figures?size=98304&bytesPerSecond=65536"

  @Test func `fifty downloads at a time come whole, are told once, and leave no file behind`() async throws {
    let seed = SplitMix64.seedOfThisRun
    do {
      try await BulkTrial.run("host kills", count: 50, path: Self.path) { try await play($0, seed) }
    } catch {
      throw LabError("seed \(seed): \(error)")
    }
  }

  @inline(never)
  private func play(_ trial: BulkTrial, _ seed: UInt64) async throws {
    let files = try await Files(trial)
    let ledger = CampaignLedger(owners: [Trial.session: Trial.widgetExtension]) { files.digests[($0.task - 1) % 50] }
    let campaign = try await KillCampaign.begin(trial.cluster, ledger)
    let outcome = await Task { try await expectAll(files, campaign, trial, seed) }.result
    await campaign.bus.leave()
    try outcome.get()
  }

  @inline(never)
  private func expectAll(
    _ files: Files, _ campaign: KillCampaign, _ trial: BulkTrial, _ seed: UInt64
  ) async throws {
    let load = Task {
      var batches = 0
      while !Task.isCancelled {
        batches += 1
        // A batch that has begun is not cancelled.
        let batch = batches
        try await Task { try await download(batch: batch, files, campaign, trial) }.value
      }
      return batches
    }
    let killing = await Task { try await campaign.kill([.host], rounds: Self.kills, seed: seed) }.result
    load.cancel()
    let recoveries = try killing.get()
    let batches = try await load.value
    try await campaign.settled()

    let found = try await campaign.watch.look { $0 }
    #expect(found.faults.isEmpty)
    #expect(found.acknowledgedTwice.isEmpty)
    #expect(found.accepted.count == batches * 50)
    #expect(found.told.count == batches * 50 && found.told.values.allSatisfy { $0 == 1 })
    #expect(trial.leftFiles() == [])
    let longest = recoveries.values.flatMap(\.self).max() ?? .zero
    print(
      "host killed \(Self.kills) times with seed \(seed): \(found.accepted.count) downloads in \(batches) batches, "
        + "\(found.lines.count) envelopes; back after at most \(Int(longest / .milliseconds(1))) ms")
  }

  /// Has the extension make fifty downloads, and compares their files when they have been acknowledged.
  private func download(
    batch: Int, _ files: Files, _ campaign: KillCampaign, _ trial: BulkTrial
  ) async throws {
    try trial.letGo()
    try await campaign.bus.deliver(ReloadTimelines(widgetKind: Trial.kind), to: Trial.host)
    try await trial.cluster.eventually("batch \(batch) is acknowledged") {
      try await campaign.watch.look { $0.accepted.count == batch * 50 && $0.unfinished.isEmpty }
    }
    for seed in 1...50 {
      let file = URL(fileURLWithPath: trial.result(seed))
      #expect(try Data(contentsOf: file) == files.bytes[seed - 1], "download \(seed) of batch \(batch)")
      try FileManager.default.removeItem(at: file)
    }
  }

  /// What the provider serves.
  private struct Files {
    let bytes: [Data]
    let digests: [String]

    init(_ trial: BulkTrial) async throws {
      var (bytes, digests): ([Data], [String]) = ([], [])
      for seed in 1...50 {
        let path = trial.path(seed).replacing("&bytesPerSecond=65536", with: "")
        bytes.append(try await trial.cluster.fetch(path))
        digests.append(try await trial.cluster.sha256(of: bytes[seed - 1]))
      }
      self.bytes = bytes
      self.digests = digests
    }
  }
}
