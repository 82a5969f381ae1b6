// SPDX-License-Identifier: Apache-2.0

/// A search of all states of a model: breadth first, so that a counterexample is the shortest one, with all cores, and
/// with the same result in each run.
///
/// A state is remembered by a fingerprint of 128 bits of its representative. States themselves are kept for two depths.
package struct Search<M: Model>: Sendable {
  package let model: M
  package let bounds: Bounds
  private let workers: Int

  package init(_ model: M, _ bounds: Bounds = Bounds(), workers: Int = 2) {
    self.model = model
    self.bounds = bounds
    self.workers = max(1, workers)
  }

  /// The fingerprint of a state, which is equal in one process only.
  private struct Fingerprint: Hashable, Sendable {
    let high: Int
    let low: Int

    init(_ state: some Hashable) {
      var first = Hasher()
      first.combine(state)
      high = first.finalize()
      var second = Hasher()
      second.combine(0x57)
      second.combine(state)
      low = second.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(low) }
  }

  private struct Successor: Sendable {
    let key: Fingerprint
    let parent: UInt32
    let action: UInt16
    let isProgress: Bool
    /// `nil` if it was visited before this depth.
    let state: M.State?
    /// One bit for each property that holds.
    let holds: UInt32
  }

  /// All states that were visited, by number.
  private struct Visited: Sendable {
    var numbers: [Fingerprint: UInt32] = [:]
    var parents: [UInt32] = []
    var actions: [UInt16] = []
    var holds: [UInt32] = []
    /// The transitions by progress: from, to.
    var sources: [UInt32] = []
    var targets: [UInt32] = []
  }

  package func run() async -> SearchReport {
    let clock = ContinuousClock()
    let began = clock.now
    let properties = model.properties
    var report = SearchReport(name: model.name, about: model.about)
    var visited = Visited()
    let first = model.initialState
    visited.numbers[Fingerprint(model.representative(of: first))] = 0
    visited.parents.append(.max)
    visited.actions.append(0)
    visited.holds.append(Self.evaluate(properties, first))
    var frontier: [(number: UInt32, state: M.State)] = [(0, first)]
    var beyond: [UInt32] = []
    var always: UInt32 = 0
    for (index, property) in properties.enumerated() where property.kind == .always { always |= 1 << UInt32(index) }
    var open = Unreached(properties)
    open.reached(visited.holds.reduce(0, |), depth: 0)
    var isViolated = visited.holds.contains { $0 & always != always }
    while !frontier.isEmpty, !isViolated, report.depth < bounds.depth, visited.parents.count < bounds.states {
      report.depth += 1
      var next: [(number: UInt32, state: M.State)] = []
      beyond += frontier.filter { !model.isWithinBoundary($0.state) }.map(\.number)
      frontier.removeAll { !model.isWithinBoundary($0.state) }
      let batch = workers * 2048
      var start = 0
      while start < frontier.count {
        let part = Array(frontier[start..<min(start + batch, frontier.count)])
        start += batch
        for found in await successors(of: part, visited, properties, unreached: open.bits) {
          report.transitions += 1
          open.reached(found.holds, depth: report.depth)
          let number: UInt32
          if let known = visited.numbers[found.key] {
            number = known
          } else if let state = found.state {
            number = UInt32(visited.parents.count)
            visited.numbers[found.key] = number
            visited.parents.append(found.parent)
            visited.actions.append(found.action)
            visited.holds.append(found.holds)
            if found.holds & always != always { isViolated = true }
            next.append((number, state))
          } else {
            continue
          }
          if found.isProgress, number != found.parent {
            visited.sources.append(found.parent)
            visited.targets.append(number)
          }
        }
      }
      frontier = next
    }
    report.states = visited.parents.count
    report.isComplete = frontier.isEmpty && !isViolated
    if report.isComplete { report.depth -= 1 }
    let ends = frontier.map(\.number) + beyond
    report.properties = properties.enumerated().map { index, property in
      let verdict =
        property.kind == .sometimes
        ? open.depths[index].map { .reached(depth: $0) } ?? .unknown
        : verdict(property, index, visited, open: ends, isComplete: report.isComplete)
      return (property.kind.rawValue, property.name, verdict)
    }
    report.duration = clock.now - began
    return report
  }

  /// The properties of which no state has been met yet.
  private struct Unreached {
    private(set) var bits: UInt32 = 0
    private(set) var depths: [Int: Int] = [:]

    init(_ properties: [Property<M.State>]) {
      for (index, property) in properties.enumerated() where property.kind == .sometimes { bits |= 1 << UInt32(index) }
    }

    mutating func reached(_ holds: UInt32, depth: Int) {
      var new = holds & bits
      bits &= ~new
      while new != 0 {
        depths[new.trailingZeroBitCount] = depth
        new &= new - 1
      }
    }
  }

  private static func evaluate(_ properties: [Property<M.State>], _ state: M.State) -> UInt32 {
    var holds: UInt32 = 0
    for (index, property) in properties.enumerated() where property.holds(state) { holds |= 1 << UInt32(index) }
    return holds
  }

  /// The successors of some states, in order.
  private func successors(
    of states: [(number: UInt32, state: M.State)], _ visited: Visited, _ properties: [Property<M.State>],
    unreached: UInt32
  ) async -> [Successor] {
    let numbers = visited.numbers
    let model = model
    let size = max(64, (states.count + 4 * workers - 1) / (4 * workers))
    let pieces = stride(from: 0, to: states.count, by: size).map { $0..<min($0 + size, states.count) }
    var results = Array(repeating: [Successor](), count: pieces.count)
    await withTaskGroup(of: (Int, [Successor]).self) { group in
      var waiting = pieces.indices.makeIterator()
      func start() {
        guard let index = waiting.next() else { return }
        let piece = pieces[index]
        group.addTask {
          var found: [Successor] = []
          for (number, state) in states[piece] {
            for (position, action) in model.actions(in: state).enumerated() {
              var log = Log()
              let next = model.next(state, action, &log)
              let key = Fingerprint(model.representative(of: next))
              let isNew = numbers[key] == nil
              found.append(
                Successor(
                  key: key, parent: number, action: UInt16(position), isProgress: model.isProgress(action),
                  state: isNew ? next : nil,
                  holds: isNew
                    ? Self.evaluate(properties, next) : unreached == 0 ? 0 : Self.evaluate(properties, next) & unreached
                ))
            }
          }
          return (index, found)
        }
      }
      for _ in 0..<workers { start() }
      for await (index, found) in group {
        results[index] = found
        start()
      }
    }
    return results.flatMap(\.self)
  }

  // MARK: Verdicts

  private func verdict(
    _ property: Property<M.State>, _ index: Int, _ visited: Visited, open: [UInt32], isComplete: Bool
  ) -> Verdict {
    let bit: UInt32 = 1 << UInt32(index)
    switch property.kind {
    case .always:
      guard let number = visited.holds.firstIndex(where: { $0 & bit == 0 }) else {
        return isComplete ? .holds : .bounded
      }
      return .violated(counterexample(property, UInt32(number), visited))
    case .sometimes: return .unknown
    case .eventually:
      // A state that was not followed may lead there.
      guard let number = firstWithoutGoal(bit, visited, open) else { return isComplete ? .holds : .bounded }
      return .violated(counterexample(property, number, visited))
    }
  }

  /// The first state from which no state with the property can be reached by progress: backwards from all that have it.
  private func firstWithoutGoal(_ bit: UInt32, _ visited: Visited, _ open: [UInt32]) -> UInt32? {
    let count = visited.parents.count
    var starts = Array(repeating: UInt32(0), count: count + 1)
    for target in visited.targets { starts[Int(target) + 1] += 1 }
    for index in 1...count { starts[index] += starts[index - 1] }
    var places = starts
    var sources = Array(repeating: UInt32(0), count: visited.sources.count)
    for (source, target) in zip(visited.sources, visited.targets) {
      sources[Int(places[Int(target)])] = source
      places[Int(target)] += 1
    }
    var leads = visited.holds.map { $0 & bit != 0 }
    for number in open { leads[Int(number)] = true }
    var queue = leads.indices.filter { leads[$0] }.map { UInt32($0) }
    while let target = queue.popLast() {
      for position in starts[Int(target)]..<starts[Int(target) + 1] {
        let source = sources[Int(position)]
        guard !leads[Int(source)] else { continue }
        leads[Int(source)] = true
        queue.append(source)
      }
    }
    return leads.firstIndex(of: false).map { UInt32($0) }
  }

  /// The descriptions of actions. Equal ones have numbers.
  static func names(_ actions: [M.Action]) -> [String] {
    var counts: [String: Int] = [:]
    return actions.map { action in
      let name = action.description
      counts[name, default: 0] += 1
      return counts[name] == 1 ? name : "\(name) (\(counts[name] ?? 0))"
    }
  }

  private func counterexample(
    _ property: Property<M.State>, _ number: UInt32, _ visited: Visited
  ) -> Counterexample {
    var path: [UInt32] = []
    var at = number
    while at != .max {
      path.append(at)
      at = visited.parents[Int(at)]
    }
    path.reverse()
    var state = model.initialState
    var steps: [Counterexample.Step] = []
    for number in path.dropFirst() {
      let actions = model.actions(in: state)
      let index = Int(visited.actions[Int(number)])
      var log = Log(isKept: true)
      state = model.next(state, actions[index], &log)
      steps.append(Counterexample.Step(action: Self.names(actions)[index], lines: log.lines))
    }
    return Counterexample(property: "\(property.kind.rawValue) \(property.name)", steps: steps)
  }
}

/// The result of a search.
package struct SearchReport: Sendable {
  package let name: String
  package let about: String
  package fileprivate(set) var states = 0
  package fileprivate(set) var transitions = 0
  package fileprivate(set) var depth = 0
  /// Whether every state of the model was visited.
  package fileprivate(set) var isComplete = false
  package fileprivate(set) var duration: Duration = .zero
  package fileprivate(set) var properties: [(kind: String, name: String, verdict: Verdict)] = []

  package var counterexamples: [Counterexample] {
    properties.compactMap { if case .violated(let example) = $0.verdict { example } else { nil } }
  }

  /// `violated` before `unknown` before `bounded` before `complete`.
  package var verdict: String {
    if !counterexamples.isEmpty { return "violated" }
    if properties.contains(where: { $0.verdict == .unknown }) { return "unknown" }
    return isComplete ? "complete" : "bounded"
  }
}
