// SPDX-License-Identifier: Apache-2.0

/// Finds a small list of faults that still breaks a law. It decides what to try next; the caller runs it.
///
/// It tries no fault at all, then the last faults, because a campaign ends soon after a law is broken: one, two, four
/// and so on. Then it divides what it found by delta debugging (Zeller and Hildebrandt, 2002): it tries parts of the list
/// and what is left without them, with finer and finer parts. A fault may need luck with the moment, so it begins again
/// when no part broke the law.
package struct FaultShrinking: Sendable {
  private enum Phase {
    case nothing
    /// The last faults, so many.
    case last(Int)
    case parts
  }

  /// How often the parts of a list are tried in vain before the search ends.
  private static let rounds = 3

  /// The step numbers of the faults in the smallest list that was seen to break the law.
  package private(set) var smallest: [Int]
  private var phase = Phase.nothing
  /// How many parts the list is divided into.
  private var parts = 2
  /// The next part to try; the first half are the parts themselves, then what is left without each.
  private var index = 0
  /// How often all parts of the smallest list were tried.
  private var round = 0
  /// What is being tried.
  private var tried: [Int]?

  /// Creates the search from a list that breaks a law.
  package init(_ faults: [Int]) { smallest = faults }

  /// The next list to try; `nil` when no smaller list can be found in this way. The first one is empty: some mistakes need
  /// no fault.
  package mutating func next() -> [Int]? {
    tried = candidate()
    return tried
  }

  private mutating func candidate() -> [Int]? {
    switch phase {
    case .nothing: return []
    case .last(let count) where count < smallest.count: return smallest.suffix(count)
    case .last:
      phase = .parts
      return candidate()
    case .parts: return part()
    }
  }

  private mutating func part() -> [Int]? {
    guard smallest.count > 1 else { return nil }
    parts = min(parts, smallest.count)
    // With two parts, what is left without one is the other.
    if index < (parts == 2 ? 2 : 2 * parts) {
      let part = slices[index % parts]
      return index < parts ? part : smallest.filter { !part.contains($0) }
    }
    index = 0
    if parts < smallest.count {
      parts = min(parts * 2, smallest.count)
    } else {
      round += 1
      parts = 2
    }
    return round < Self.rounds ? part() : nil
  }

  /// The result of the last list.
  package mutating func tried(breaks: Bool) {
    guard let tried else { return }
    self.tried = nil
    switch phase {
    case .nothing: phase = .last(1)
    case .last(let count): phase = breaks ? .parts : .last(2 * count)
    case .parts:
      guard breaks else {
        index += 1
        return
      }
      // A part: begin again with two parts. The rest: keep the size of the parts.
      parts = index < parts ? 2 : max(parts - 1, 2)
      index = 0
      round = 0
    }
    if breaks { smallest = tried }
  }

  private var slices: [[Int]] {
    (0..<parts).map { part in
      Array(smallest[smallest.count * part / parts..<smallest.count * (part + 1) / parts])
    }
  }
}

extension [CampaignStep] {
  /// How many steps before the first fault are kept, so that there is work when it happens.
  private static let stepsBefore = 8

  /// These steps with only the given faults, without the steps after the last one, and with a few before the first one;
  /// without faults, all steps.
  package func keeping(_ numbers: [Int]) -> [CampaignStep] {
    let first = numbers.min().map { $0 - Self.stepsBefore } ?? 0
    let last = numbers.max() ?? .max
    let kept = Set(numbers)
    return filter { $0.number >= first && $0.number <= last }.map { step in
      var step = step
      if !kept.contains(step.number) { step.fault = nil }
      return step
    }
  }

  /// The numbers of the steps with a fault.
  package var faultNumbers: [Int] { filter { $0.fault != nil }.map(\.number) }
}
