// SPDX-License-Identifier: Apache-2.0

import Archive
import ChaosCampaign
import Crypto
import Foundation
import Journal
package import JournalAnalysis
import Messages

/// What is simulated. Equal plans give equal journals.
package struct SimulationPlan: Sendable, Equatable {
  package var seed: UInt64
  /// Virtual hours with new work. Then the work is settled.
  package var hours: Double
  /// Processes that are killed in these hours.
  package var kills: Int
  /// The numbers of the kills that happen, from 1; `nil`: all.
  package var only: [Int]?
  /// A mistake that is made on purpose.
  package var mistake: SimulatedMistake?
  /// Ends before this step.
  package var until: Int?
  /// What is done and what is killed, instead of what the seed draws.
  package var campaign: SimulatedCampaign?

  /// The numbers of kills in a text: from 1 to `kills`, separated by commas, or `none`; each once, in order. `nil` for
  /// another text.
  package static func killNumbers(_ text: String, kills: Int) -> [Int]? {
    if text == "none" { return [] }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.allSatisfy({ $0.map { (1...max(kills, 1)).contains($0) && kills > 0 } ?? false }) else { return nil }
    return Set(numbers.compactMap(\.self)).sorted()
  }

  package init(
    seed: UInt64, hours: Double = 24, kills: Int = 100, only: [Int]? = nil, mistake: SimulatedMistake? = nil,
    until: Int? = nil
  ) {
    self.seed = seed
    self.hours = hours
    self.kills = kills
    self.only = only
    self.mistake = mistake
    self.until = until
  }
}

/// A law that a simulation broke.
package struct SimulatedBreach: Sendable {
  package let law: String
  package let finding: LawFinding
  /// The step that broke it, from 1; `nil`: the law judges the end of the journal, and no step broke it.
  package let step: Int?
  /// The virtual time since the beginning, in seconds.
  package let seconds: Double
  /// The numbers of the kills until then, in order.
  package let kills: [Int]
}

/// The result of a simulation.
package struct SimulationResult: Sendable {
  package internal(set) var plan: SimulationPlan
  /// The steps that were done.
  package let steps: Int
  /// The virtual time, in seconds.
  package let seconds: Double
  /// How often each process was killed.
  package let kills: [SimulatedVictim: Int]
  /// The kills of the plan. Some of them may not be due before the end.
  package let plannedKills: Int
  /// Kills that were due when no process ran that they could have killed.
  package let missedKills: Int
  /// Events that the real state machines decided on.
  package let decisions: Int
  package let checker: LawChecker
  package let verdicts: [LawVerdict]
  /// The law that was broken first.
  package let breach: SimulatedBreach?
  /// What would happen next, when `until` ended it: where, and what.
  package let next: String?
  /// Whether `progress` ended it.
  package let isInterrupted: Bool
  /// SHA-256 of the journal as a segment, in hexadecimal digits.
  package let digest: String
}

/// Runs a whole cluster in this thread, on virtual time: the real state machines of the device and of the push server,
/// with simulated processes around them. The laws judge each envelope.
package struct Simulation {
  /// Where a simulation is, for a progress line.
  package struct Progress: Sendable {
    package let seconds: Double
    package let steps: Int
    package let kills: Int
    package let envelopes: Int
  }

  /// How long the work may take to be settled at the end, in virtual hours.
  private static let patience: Int64 = 6 * Span.hour
  /// Steps between two calls of `progress`.
  private static let often = 50

  private let plan: SimulationPlan
  private let endsAtBreach: Bool
  private let settles: Bool

  /// - Parameters:
  ///   - endsAtBreach: whether it ends when a law is broken.
  ///   - settles: whether the work is settled at the end.
  package init(_ plan: SimulationPlan, endsAtBreach: Bool = true, settles: Bool = true) {
    self.plan = plan
    self.endsAtBreach = endsAtBreach
    self.settles = settles
  }

  /// Runs it.
  ///
  /// - Parameters:
  ///   - write: receives the bytes of the journal, a segment of `SegmentLayout`, in pieces.
  ///   - progress: called now and then; `false` ends the simulation.
  package func run(
    write: @escaping ([UInt8]) -> Void = { _ in }, progress: (Progress) -> Bool = { _ in true }
  ) -> SimulationResult {
    let run = SimulationRun(plan, write)
    defer { run.cluster.end() }
    run.begin()
    while run.isNext, isContinued(run, progress) { run.step() }
    if settles, !run.isInterrupted, !run.isStopped, !isOver(run) { settle(run, progress) }
    return run.result()
  }

  /// A broken law ends it.
  private func isOver(_ run: SimulationRun) -> Bool { endsAtBreach && run.breach != nil }

  private func isContinued(_ run: SimulationRun, _ progress: (Progress) -> Bool) -> Bool {
    if isOver(run) { return false }
    if run.steps.isMultiple(of: Self.often), !progress(run.progress) { run.isInterrupted = true }
    return !run.isInterrupted
  }

  /// No new work, until the laws have nothing to doubt.
  private func settle(_ run: SimulationRun, _ progress: (Progress) -> Bool) {
    let end = run.cluster.time.now + Self.patience
    var next = run.cluster.time.now + 10 * Span.minute
    run.endWork()
    while run.cluster.time.now < end, run.isAllowed, isContinued(run, progress) {
      run.step()
      guard run.cluster.time.now >= next else { continue }
      next += 10 * Span.minute
      if LawVerdict.answer(run.checker.verdicts()) != .unknown { return }
      run.cluster.user.end()
    }
  }
}

/// A simulation that runs.
private final class SimulationRun {
  private struct Kill {
    /// From 1, in the order of the dates.
    var number = 0
    let at: Int64
    /// How many steps later it happens: most steps are close together, when there is something to disturb.
    let delay: Int
    let choice: Int
    /// `nil`: the choice decides.
    let victim: SimulatedVictim?
  }

  private(set) var cluster: SimulatedCluster
  private(set) var steps = 0
  private(set) var checker = LawChecker()
  private(set) var breach: SimulatedBreach?
  var isInterrupted = false
  private let plan: SimulationPlan
  private let end: Int64
  private var kills: [Kill] = []
  private var nextKill = 0
  private var armed: [(step: Int, kill: Kill)] = []
  private var done: [Int] = []
  private var missed = 0
  private var hash = SHA256()
  private let sink: Sink

  /// Receives the envelopes before the cluster exists that sends them.
  private final class Sink {
    var take: (Envelope) -> Void = { _ in }
  }

  private let write: ([UInt8]) -> Void
  private var buffer: [UInt8] = []

  init(_ plan: SimulationPlan, _ write: @escaping ([UInt8]) -> Void) {
    self.plan = plan
    self.write = write
    let sink = Sink()
    self.sink = sink
    var seeds = SplitMix64(seed: plan.seed)
    let dice = Dice(seed: seeds.next())
    var killDice = Dice(seed: seeds.next())
    cluster = SimulatedCluster(dice, plan.mistake, campaign: plan.campaign) { sink.take($0) }
    let span = Int64(saturating: plan.hours * Double(Span.hour))
    end = VirtualTime.start + span
    var planned: [Kill]
    if let campaign = plan.campaign {
      let begin = VirtualTime.start + SimulatedCampaign.begin
      planned = campaign.kills.map { kill in
        Kill(at: begin + kill.at, delay: killDice.below(60), choice: 0, victim: kill.victim)
      }
    } else {
      let room = Int(max(span - 10 * Span.second, 1))
      planned = (0..<plan.kills).map { _ in
        let at = VirtualTime.start + 5 * Span.second + Int64(killDice.below(room))
        return Kill(at: at, delay: killDice.below(60), choice: killDice.below(1 << 30), victim: nil)
      }
      planned.sort { $0.at < $1.at }
    }
    let kept = plan.only.map { Set($0) }
    for index in planned.indices where kept?.contains(index + 1) ?? true {
      planned[index].number = index + 1
      kills.append(planned[index])
    }
  }

  func begin() {
    sink.take = { [unowned self] in take($0) }
    put(SegmentLayout.head(firstSequence: 1))
    cluster.start()
  }

  private func take(_ envelope: Envelope) {
    if let frame = try? envelope.encoded() {
      var record: [UInt8] = []
      SegmentLayout.appendRecord(frame, to: &record)
      put(record)
    }
    for news in checker.handle(envelope) where breach == nil {
      breach = SimulatedBreach(
        law: news.law.code, finding: news.finding, step: steps, seconds: seconds, kills: done.sorted())
    }
  }

  private func put(_ bytes: [UInt8]) {
    buffer += bytes
    if buffer.count > 1 << 20 { flush() }
  }

  private func flush() {
    hash.update(data: buffer)
    write(buffer)
    buffer.removeAll(keepingCapacity: true)
  }

  var seconds: Double { Double(cluster.time.now - VirtualTime.start) / 1e6 }

  /// `until` ended it.
  var isStopped: Bool { plan.until.map { steps + 1 >= $0 } ?? false }

  var isAllowed: Bool { !isStopped && cluster.time.next != nil }

  var isNext: Bool { isAllowed && cluster.time.next.map { $0.at < end } ?? false }

  func step() {
    steps += 1
    killWhatIsDue()
    _ = cluster.time.step()
  }

  private func killWhatIsDue() {
    while nextKill < kills.count, kills[nextKill].at <= cluster.time.now {
      armed.append((steps + kills[nextKill].delay, kills[nextKill]))
      nextKill += 1
    }
    guard !armed.isEmpty else { return }
    let due = armed.filter { $0.step <= steps }
    armed.removeAll { $0.step <= steps }
    for (_, kill) in due {
      let victims = cluster.victims.filter { kill.victim == nil || $0 == kill.victim }
      guard !victims.isEmpty else {
        missed += 1
        continue
      }
      done.append(kill.number)
      cluster.kill(victims[kill.choice % victims.count])
    }
  }

  /// A kill whose steps are not over is not due any more.
  func endWork() {
    armed = []
    nextKill = kills.count
    cluster.user.end()
  }

  var progress: Simulation.Progress {
    Simulation.Progress(seconds: seconds, steps: steps, kills: done.count, envelopes: checker.envelopes)
  }

  func result() -> SimulationResult {
    flush()
    let verdicts = checker.verdicts()
    if breach == nil, !isInterrupted, let broken = verdicts.first(where: { $0.answer == .broken }),
      let finding = broken.findings.breaches.first
    {
      // Some laws judge only the end.
      breach = SimulatedBreach(
        law: broken.law.code, finding: finding, step: nil, seconds: seconds, kills: done.sorted())
    }
    let next = isStopped ? cluster.time.next.map { "\($0.place): \($0.what)" } : nil
    return SimulationResult(
      plan: plan, steps: steps, seconds: seconds, kills: cluster.kills, plannedKills: kills.count, missedKills: missed,
      decisions: cluster.decisions, checker: checker, verdicts: verdicts, breach: breach, next: next,
      isInterrupted: isInterrupted,
      digest: hash.finalize().map { byte in
        let text = String(byte, radix: 16)
        return text.count == 1 ? "0" + text : text
      }.joined())
  }
}
