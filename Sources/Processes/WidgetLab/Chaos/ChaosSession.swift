// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import JournalAnalysis

/// What `chaos run` does: campaigns of one or several seeds, and for each that breaks a law a failure file with as few
/// faults as possible.
struct ChaosSession {
  let options: ChaosOptions
  private let interruption = ChaosInterruption()
  /// Kinds that this machine does not permit.
  private let unavailable: Set<FaultKind>

  init(_ options: ChaosOptions, unavailable: Set<FaultKind> = []) {
    self.options = options
    self.unavailable = unavailable
  }

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
      seed: seed, kinds: try options.kinds.subtracting(unavailable), steps: options.stepLimit,
      victims: try options.chosenVictims, kills: options.killLimit,
      duration: options.timeLimit, longestStop: options.longestStop,
      behaviours: try options.chosenBehaviours)
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

  /// Looks for fewer faults that break the same law, for as long as `--shrink-time`. A candidate counts when it breaks the
  /// law often enough, so that a replay of the file will break it too.
  private func shrink(_ first: ChaosTrial.Outcome, _ broken: [String]) async -> ChaosTrial.Outcome? {
    var smallest: ChaosTrial.Outcome?
    var search = FaultShrinking(first.steps.faultNumbers, crashes: PointCrash.all(in: first.report.events))
    let deadline = ContinuousClock.now + .seconds(options.shrinkTime)
    while ContinuousClock.now < deadline, await !interruption.isSet, let candidate = search.next() {
      let goal = Self.goal(of: candidate)
      var breaking: ChaosTrial.Outcome?
      var count = 0
      var runs = 0
      while count < goal.count, runs - count <= (count == 0 ? 0 : goal.runs - goal.count), await !interruption.isSet {
        runs += 1
        if let outcome = await replay(first, candidate), !Set(outcome.report.broken).isDisjoint(with: broken) {
          breaking = outcome
          count += 1
        }
      }
      search.tried(breaks: count == goal.count, sometimes: count > 0)
      if count == goal.count { smallest = breaking }
      let result = count == 0 ? "not broken" : "broken in \(count) of \(CampaignText.count(runs, "run"))"
      var what = CampaignText.count(candidate.count, "fault")
      if case .crash(let crash) = candidate { what += ": \(crash.fault.text)" }
      Output.print("  \(what): \(result)")
    }
    return smallest
  }

  /// How often a candidate must break the law, in how many runs. So many crashes are tried that some break it by chance.
  private static func goal(of candidate: FaultShrinking.Candidate) -> (count: Int, runs: Int) {
    if case .crash = candidate { (4, 5) } else { (2, 3) }
  }

  /// Runs the steps again with only the faults of a candidate; `nil` when the cluster does not start.
  private func replay(
    _ first: ChaosTrial.Outcome, _ candidate: FaultShrinking.Candidate
  ) async -> ChaosTrial.Outcome? {
    var trial = trial(first.report.runs[0].seed, .given(first.steps.keeping(candidate)))
    trial.isShown = false
    // The named folder has the campaign's own cluster.
    trial.options.instance = nil
    trial.options.keep = false
    return try? await trial.run()
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
