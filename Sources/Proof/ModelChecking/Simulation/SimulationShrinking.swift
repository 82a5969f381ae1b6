// SPDX-License-Identifier: Apache-2.0

/// Finds a simulation with fewer kills that breaks the same law: none, the last ones, then parts of what is left, with
/// finer and finer parts (delta debugging, Zeller and Hildebrandt, 2002). A simulation is not repeated: it has one result.
/// A law that was broken by the end of the journal is looked for at the end, when the work is settled.
package struct SimulationShrinking {
  private let found: SimulationResult
  private let limit: Duration
  private let attempts: Int
  private let clock = ContinuousClock()

  /// - Parameters:
  ///   - found: a simulation that broke a law.
  ///   - limit: how long it may take, of the machine's time.
  ///   - attempts: the number of simulations that it may run.
  package init(_ found: SimulationResult, limit: Duration = .seconds(60), attempts: Int = .max) {
    self.found = found
    self.limit = limit
    self.attempts = attempts
  }

  /// - Parameters:
  ///   - isContinued: called now and then; `false` ends the attempts.
  ///   - tried: called after each attempt, with the kills that it had and whether it broke the law.
  /// - Returns: the smallest simulation that was found. Its plan has the kills that happened before the law was broken.
  package func run(
    isContinued: () -> Bool = { true }, _ tried: (Int, Bool) -> Void = { _, _ in }
  ) -> SimulationResult {
    guard let breach = found.breach else { return found }
    let start = clock.now
    var smallest = found
    var kills = breach.kills
    var left = attempts
    func mayContinue() -> Bool { clock.now - start < limit && isContinued() }
    func attempt(_ candidate: [Int]) -> Bool {
      guard left > 0, mayContinue() else { return false }
      left -= 1
      var plan = found.plan
      plan.only = candidate
      let isAtEnd = breach.step == nil
      var result = Simulation(plan, settles: isAtEnd).run(progress: { progress in
        // A law that is broken much later is another finding.
        (isAtEnd || progress.seconds < breach.seconds + 1_800) && mayContinue()
      })
      // The end of a simulation that was not settled breaks no law.
      let found = result.breach.flatMap { $0.law == breach.law && (isAtEnd || $0.step != nil) ? $0 : nil }
      tried(candidate.count, found != nil)
      guard let found else { return false }
      kills = found.kills
      result.plan.only = kills
      smallest = result
      return true
    }
    var last = 0
    while last < kills.count {
      if attempt(Array(kills.suffix(last))) { break }
      last = max(1, last * 2)
    }
    var parts = 2
    while kills.count > 1, parts <= kills.count, left > 0, mayContinue() {
      let length = (kills.count + parts - 1) / parts
      let pieces = stride(from: 0, to: kills.count, by: length).map { Array(kills[$0..<min($0 + length, kills.count)]) }
      let rests = pieces.indices.map { index in pieces.indices.filter { $0 != index }.flatMap { pieces[$0] } }
      if pieces.contains(where: attempt) {
        parts = 2
      } else if rests.contains(where: attempt) {
        parts = max(parts - 1, 2)
      } else if parts < kills.count {
        parts = min(parts * 2, kills.count)
      } else {
        break
      }
    }
    return smallest
  }
}
