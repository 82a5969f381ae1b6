// SPDX-License-Identifier: Apache-2.0

/// Finds a simulation with fewer kills that breaks the same law: none, the last ones, then parts of what is left, with
/// finer and finer parts (delta debugging, Zeller and Hildebrandt, 2002). A simulation is not repeated: it has one result.
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

  /// - Parameter tried: called after each attempt, with the kills that it had and whether it broke the law.
  /// - Returns: the smallest simulation that was found.
  package func run(_ tried: (Int, Bool) -> Void = { _, _ in }) -> SimulationResult {
    guard let breach = found.breach else { return found }
    let start = clock.now
    var smallest = found
    var kills = breach.kills
    var left = attempts
    func attempt(_ candidate: [Int]) -> Bool {
      guard clock.now - start < limit, left > 0 else { return false }
      left -= 1
      var plan = found.plan
      plan.only = candidate
      let result = Simulation(plan, settles: false).run(progress: { progress in
        // A law that is broken much later is another finding.
        progress.seconds < breach.seconds + 1_800 && clock.now - start < limit
      })
      let isBroken = result.breach?.law == breach.law
      tried(candidate.count, isBroken)
      guard isBroken, let shorter = result.breach else { return false }
      smallest = result
      kills = shorter.kills
      return true
    }
    var last = 0
    while last < kills.count {
      if attempt(Array(kills.suffix(last))) { break }
      last = max(1, last * 2)
    }
    var parts = 2
    while kills.count > 1, parts <= kills.count, clock.now - start < limit, left > 0 {
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
