// SPDX-License-Identifier: Apache-2.0

/// Finds a small list of faults that still breaks a law. It decides what to try next; the caller runs it.
///
/// It tries, in this order:
/// 1. no fault at all;
/// 2. the last fault, because a campaign ends soon after a law is broken;
/// 3. three faults in sequence, of the last ten sequences the latest first, twice;
/// 4. one crash at each point at which a process was killed, and at the other points of these processes, because a kill needs
///    luck with the moment; where a crash breaks the law sometimes, also one when the point is reached again;
/// 5. the last six faults, twelve and so on;
/// 6. parts of what it has, and what is left without them, with finer and finer parts: delta debugging (Zeller and
///    Hildebrandt, 2002). It begins again when no part broke the law.
package struct FaultShrinking: Sendable {
  /// What to try.
  package enum Candidate: Hashable, Sendable {
    /// The faults of the steps with these numbers.
    case faults([Int])
    /// One crash instead of all faults.
    case crash(PointCrash)

    package var count: Int {
      switch self {
      case .faults(let numbers): numbers.count
      case .crash: 1
      }
    }
  }

  private enum Phase {
    case nothing
    /// The next sequence to try.
    case sequence(Int)
    /// The next crash to try.
    case crash(Int)
    /// The last faults, so many.
    case last(Int)
    case parts
  }

  /// The faults of a sequence.
  private static let together = 3
  /// How many sequences are tried, and how often.
  private static let (sequences, passes) = (10, 2)
  /// How often the parts of a list are tried in vain before the search ends.
  private static let rounds = 3

  /// The smallest candidate that was seen to break the law.
  package private(set) var foundCandidate: Candidate
  /// The smallest list of step numbers that was seen to break it.
  private var smallest: [Int] { didSet { foundCandidate = .faults(smallest) } }
  private var crashes: [PointCrash]
  private var phase = Phase.nothing
  /// How many parts the list is divided into.
  private var parts = 2
  /// The next part to try; the first half are the parts themselves, then what is left without each.
  private var index = 0
  /// How often all parts of the smallest list were tried.
  private var round = 0
  /// What is being tried.
  private var tried: Candidate?

  /// Creates the search from the step numbers of a list of faults that breaks a law.
  ///
  /// - Parameter crashes: what to try instead of the list.
  package init(_ faults: [Int], crashes: [PointCrash] = []) {
    smallest = faults
    foundCandidate = .faults(faults)
    self.crashes = crashes
  }

  /// The next candidate; `nil` when nothing smaller can be found in this way. The first one has no fault: some mistakes
  /// need none.
  package mutating func next() -> Candidate? {
    if case .crash = foundCandidate { return nil }
    if case .sequence = phase {
      if let sequence = candidate() {
        tried = .faults(sequence)
        return tried
      }
      phase = .crash(0)
    }
    if case .crash(let index) = phase {
      if index < crashes.count, smallest.count > 1 {
        tried = .crash(crashes[index])
        return tried
      }
      phase = .last(2 * Self.together)
    }
    tried = candidate().map { .faults($0) }
    return tried
  }

  private mutating func candidate() -> [Int]? {
    switch phase {
    case .nothing: return []
    case .sequence(let index):
      // The whole list is no smaller one.
      let all = smallest.count > Self.together ? min(Self.sequences, smallest.count - Self.together + 1) : 0
      return index < all * Self.passes ? smallest.dropLast(index % all).suffix(Self.together) : nil
    case .crash: return nil
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

  /// The result of the last candidate.
  ///
  /// - Parameters:
  ///   - breaks: whether it breaks the law often enough.
  ///   - sometimes: whether it has broken it.
  package mutating func tried(breaks: Bool, sometimes: Bool = false) {
    guard let tried else { return }
    self.tried = nil
    if case .crash(let crash) = tried, case .crash(let index) = phase, sometimes, !breaks, let later = crash.later {
      crashes.insert(later, at: index + 1)
    }
    switch phase {
    case .nothing: phase = .last(1)
    case .sequence(let index): phase = breaks ? .parts : .sequence(index + 1)
    case .crash(let index): phase = .crash(index + 1)
    case .last(1) where !breaks: phase = .sequence(0)
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
    guard breaks else { return }
    switch tried {
    case .faults(let numbers): smallest = numbers
    case .crash: foundCandidate = tried
    }
  }

  private var slices: [[Int]] {
    (0..<parts).map { part in
      Array(smallest[smallest.count * part / parts..<smallest.count * (part + 1) / parts])
    }
  }
}

extension [CampaignStep] {
  /// These steps with the faults of a candidate only.
  package func keeping(_ candidate: FaultShrinking.Candidate) -> [CampaignStep] {
    switch candidate {
    case .faults(let numbers): return keeping(numbers)
    case .crash(let crash):
      return keeping([crash.step], stepsAfter: Self.stepsAfterCrash).map { step in
        var step = step
        if step.number == crash.step { step.fault = crash.fault }
        return step
      }
    }
  }

  /// How many steps before the first fault are kept, so that there is work when it happens.
  private static let stepsBefore = 8
  /// How many steps after a crash are kept, in which its point may be reached.
  private static let stepsAfterCrash = 8

  /// These steps with only the given faults, with a few before the first one, and so many after the last one; without
  /// faults, all steps.
  package func keeping(_ numbers: [Int], stepsAfter: Int = 0) -> [CampaignStep] {
    let first = numbers.min().map { $0 - Self.stepsBefore } ?? 0
    let last = numbers.max().map { $0 + stepsAfter } ?? .max
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
