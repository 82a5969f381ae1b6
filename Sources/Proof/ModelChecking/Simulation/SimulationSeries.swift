// SPDX-License-Identifier: Apache-2.0

import Archive
package import JournalAnalysis

/// Simulations in order, until a law is broken: what `widgetlab simulate` and `scripts/prove --simulate` do and print.
package struct SimulationSeries {
  private let plan: SimulationPlan
  private let seeds: [UInt64]
  private let shrinks: Bool
  private let isColored: Bool
  private let clock = ContinuousClock()
  private static let command = "widgetlab simulate"

  /// - Parameters:
  ///   - plan: what is simulated with each seed.
  ///   - shrinks: whether fewer kills are looked for that break the same law.
  package init(_ plan: SimulationPlan, seeds: [UInt64], shrinks: Bool = true, isColored: Bool = false) {
    self.plan = plan
    self.seeds = seeds
    self.shrinks = shrinks
    self.isColored = isColored
  }

  /// Runs them.
  ///
  /// - Parameters:
  ///   - show: receives each line of the results.
  ///   - write: receives the bytes of the journals, in pieces.
  ///   - isContinued: called now and then with the progress in a line, and with `nil` when lines follow; `false` ends all.
  package func run(
    show: (String) -> Void, write: @escaping ([UInt8]) -> Void = { _ in },
    isContinued: (String?) -> Bool = { _ in true }
  ) -> SimulationTotal {
    var total = SimulationTotal()
    let start = clock.now
    for seed in seeds {
      let result = simulate(seed, show, write, isContinued)
      total.add(result)
      if result.breach != nil || result.isInterrupted { break }
    }
    if seeds.count > 1 { total.lines(clock.now - start).forEach(show) }
    return total
  }

  private func simulate(
    _ seed: UInt64, _ show: (String) -> Void, _ write: @escaping ([UInt8]) -> Void, _ isContinued: (String?) -> Bool
  ) -> SimulationResult {
    var plan = plan
    plan.seed = seed
    let start = clock.now
    let result = Simulation(plan).run(write: write) { progress in
      isContinued(
        "seed \(seed): \(Amount.text(seconds: progress.seconds)), step \(progress.steps), \(progress.kills) kills")
    }
    _ = isContinued(nil)
    SimulationText.lines(result, clock.now - start, isBrief: seeds.count > 1, isColored: isColored).forEach(show)
    if let next = result.next { show("next: step \(result.steps + 1), \(next)") }
    if let breach = result.breach { report(breach, result, show, isContinued) }
    return result
  }

  private func report(
    _ breach: SimulatedBreach, _ result: SimulationResult, _ show: (String) -> Void, _ isContinued: (String?) -> Bool
  ) {
    SimulationText.lines(breach, of: result, command: Self.command).forEach(show)
    guard shrinks, !breach.kills.isEmpty else { return }
    var tried = "looks for fewer kills"
    let smaller = SimulationShrinking(result).run(isContinued: { isContinued(tried) }) { kills, isBroken in
      tried = "\(kills) kills: \(isBroken ? "broken" : "not broken")"
    }
    _ = isContinued(nil)
    guard let found = smaller.breach, found.kills.count < breach.kills.count else {
      return show("no smaller simulation was found that breaks it")
    }
    show("smaller:")
    SimulationText.lines(found, of: smaller, command: Self.command).forEach(show)
  }
}

/// What simulations have found together.
package struct SimulationTotal {
  private var simulations = 0
  private var hours = 0.0
  private var kills = 0
  private var plannedKills = 0
  private var missedKills = 0
  /// For each law, in list order.
  private var checks = LawTable.descriptions.map { (code: $0.code, count: 0) }
  private var answers: [LawVerdict.Answer] = []
  package private(set) var isInterrupted = false

  mutating func add(_ result: SimulationResult) {
    simulations += 1
    hours += result.seconds / 3600
    kills += result.doneKills
    plannedKills += result.plannedKills
    missedKills += result.missedKills
    isInterrupted = isInterrupted || result.isInterrupted
    for index in checks.indices {
      checks[index].count += result.verdicts.first { $0.law.code == checks[index].code }?.findings.checks ?? 0
    }
    let answer = LawVerdict.answer(result.verdicts)
    // The end of a journal in the middle of work is no doubt about a law.
    answers.append(answer == .unknown && result.plan.until != nil ? .holds : answer)
  }

  /// The answer about all laws in all simulations.
  package var answer: LawVerdict.Answer {
    answers.contains(.broken) ? .broken : answers.contains(.unknown) ? .unknown : .holds
  }

  /// - Parameter duration: the machine's time that they took.
  func lines(_ duration: Duration) -> [String] {
    let count = simulations == 1 ? "1 seed" : "\(simulations) seeds"
    let silent = checks.filter { $0.count == 0 }.map(\.code)
    let head =
      "\(count), \(Int(saturating: hours)) device hours, \(SimulationText.kills(kills, of: plannedKills)): "
      + SimulationText.speed(hours, kills, duration)
    return [head] + SimulationText.others(than: kills, of: plannedKills, missed: missedKills)
      + (silent.isEmpty ? [] : ["judged nothing with any seed: \(silent.joined(separator: ", "))"])
  }
}

extension SimulationResult {
  /// The kills that happened.
  var doneKills: Int { kills.values.reduce(0, +) }
}
