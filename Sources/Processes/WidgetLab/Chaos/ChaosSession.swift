// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import JournalAnalysis

/// What `chaos run` does: campaigns of one or several seeds, and for each that breaks a law a failure file with as few
/// faults as possible.
struct ChaosSession {
  let options: ChaosOptions
  private let interruption = ChaosInterruption()

  init(_ options: ChaosOptions) { self.options = options }

  /// Runs all campaigns, prints the report, and writes the files.
  func run() async throws -> CampaignReport {
    let signals = Signals()
    // Cancelled and awaited at the end of this scope.
    async let _ = interruption.watch(signals)
    let seeds = try options.chosenSeeds
    var all: CampaignReport?
    for seed in seeds {
      if await interruption.isSet { break }
      var report = try await campaign(seed)
      if seeds.count > 1 { Output.print(CampaignText.line(report)) }
      if let earlier = all {
        var merged = earlier
        merged.merge(report)
        merged.command = options.command(seed: nil)
        report = merged
      }
      all = report
      // After each seed, so that a machine that is taken away leaves what it has.
      for file in options.reports { try file.write(report) }
    }
    guard let all else { throw CommandError(Exit.usage, "this shard has no seed") }
    for line in CampaignText.lines(all, isColored: Output.isColored) { Output.print(line) }
    return all
  }

  private func campaign(_ seed: UInt64) async throws -> CampaignReport {
    let source = ChaosRun.Source.drawn(
      seed: seed, kinds: try options.kinds, victims: try options.chosenVictims, kills: options.killLimit,
      duration: options.timeLimit, longestStop: options.longestStop)
    var outcome = try await trial(seed, source).run()
    guard outcome.report.answer == .broken else { return outcome.report }
    let broken = outcome.report.broken
    Output.print("broken: \(broken.joined(separator: ", ")), after \(CampaignText.count(outcome.report.kills, "kill"))")
    let faults = outcome.steps.faultNumbers
    var first = outcome.report
    // The journal of containers stays broken.
    if options.shrinks, options.compose == nil, let smaller = await shrink(outcome, broken) { outcome = smaller }
    let file = options.failure ?? "chaos-\(seed).tar"
    let campaign = FailureFile.Campaign(
      version: WidgetLabTool.version, seed: seed, steps: outcome.steps, faultsBefore: faults.count, broken: broken)
    try write(FailureFile(campaign, report: outcome.report, files: outcome.files), to: file)
    first.setFailure(file)
    return first
  }

  /// Looks for fewer faults that break the same law, for as long as `--shrink-time`.
  private func shrink(_ first: ChaosTrial.Outcome, _ broken: [String]) async -> ChaosTrial.Outcome? {
    var smallest: ChaosTrial.Outcome?
    var search = FaultShrinking(first.steps.faultNumbers)
    let deadline = ContinuousClock.now + .seconds(options.shrinkTime)
    let seed = first.report.runs[0].seed
    while ContinuousClock.now < deadline, await !interruption.isSet, let numbers = search.next() {
      var trial = trial(seed, .given(first.steps.keeping(numbers)))
      trial.isShown = false
      // The named folder has the campaign's own cluster.
      trial.options.instance = nil
      trial.options.keep = false
      let outcome = try? await trial.run()
      let isBroken = outcome.map { !Set($0.report.broken).isDisjoint(with: broken) } ?? false
      search.tried(breaks: isBroken)
      if isBroken { smallest = outcome }
      Output.print("  \(CampaignText.count(numbers.count, "fault")): \(isBroken ? "still broken" : "not broken")")
    }
    return smallest
  }

  private func trial(_ seed: UInt64, _ source: ChaosRun.Source) -> ChaosTrial {
    ChaosTrial(
      seed: seed, source: source, options: options, command: options.command(seed: seed), interruption: interruption)
  }

  private func write(_ file: FailureFile, to path: String) throws {
    do {
      try file.archive.bytes.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw CommandError(
        Exit.broken, "the failure file cannot be written: \(error.localizedDescription)", at: path,
        advice: "give --failure a file in a writable folder")
    }
    Output.print(
      "\(path): \(CampaignText.count(file.campaign.lines.count, "fault")), from \(file.campaign.faultsBefore)")
    for line in file.campaign.lines.prefix(12) { Output.print("  \(line)") }
  }
}
