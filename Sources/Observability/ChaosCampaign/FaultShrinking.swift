// SPDX-License-Identifier: Apache-2.0

/// Finds a small list of faults that still breaks a law, by delta debugging (Zeller and Hildebrandt, 2002): it tries
/// parts of the list and what is left without them, with finer and finer parts. It decides what to try next; the caller
/// runs it.
package struct FaultShrinking: Sendable {
  /// The step numbers of the faults in the smallest list that was seen to break the law.
  package private(set) var smallest: [Int]
  /// How many parts the list is divided into.
  private var parts = 2
  /// The next part to try; the first half are the parts themselves, then what is left without each.
  private var index = 0
  private var hasTriedNone = false
  /// What is being tried.
  private var tried: [Int]?

  /// Creates the search from a list that breaks a law.
  package init(_ faults: [Int]) { smallest = faults }

  /// The next list to try; `nil` when no smaller list can be found in this way. The first one is empty: some mistakes need
  /// no fault.
  package mutating func next() -> [Int]? {
    guard hasTriedNone else {
      hasTriedNone = true
      tried = []
      return []
    }
    guard smallest.count > 1 else { return nil }
    parts = min(parts, smallest.count)
    // With two parts, what is left without one is the other.
    if index < (parts == 2 ? 2 : 2 * parts) {
      let slices = self.slices
      let part = slices[index % parts]
      let candidate = index < parts ? part : smallest.filter { !part.contains($0) }
      tried = candidate
      return candidate
    }
    guard parts < smallest.count else { return nil }
    parts = min(parts * 2, smallest.count)
    index = 0
    return next()
  }

  /// The result of the last list.
  package mutating func tried(breaks: Bool) {
    guard let tried else { return }
    self.tried = nil
    guard breaks, !tried.isEmpty else {
      if breaks { smallest = [] } else if !tried.isEmpty { index += 1 }
      return
    }
    // A part: begin again with two parts. The rest: keep the size of the parts.
    parts = index < parts ? 2 : max(parts - 1, 2)
    smallest = tried
    index = 0
  }

  private var slices: [[Int]] {
    (0..<parts).map { part in
      Array(smallest[smallest.count * part / parts..<smallest.count * (part + 1) / parts])
    }
  }
}

extension [CampaignStep] {
  /// These steps with only the given faults, and without the steps after the last one; without faults, all steps.
  package func keeping(_ numbers: [Int]) -> [CampaignStep] {
    let last = numbers.max() ?? .max
    let kept = Set(numbers)
    return filter { $0.number <= last }.map { step in
      var step = step
      if !kept.contains(step.number) { step.fault = nil }
      return step
    }
  }

  /// The numbers of the steps with a fault.
  package var faultNumbers: [Int] { filter { $0.fault != nil }.map(\.number) }
}
